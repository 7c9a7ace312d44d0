#include "project.h"

__global__ void scaleKernel(float *Data, int N, float Factor) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < N)
    Data[I] *= Factor;
}

void scale(std::vector<float> &Data, float Factor) {
  float *Device = nullptr;
  size_t Size = Data.size() * sizeof(float);
  cudaMalloc(&Device, Size);
  cudaMemcpy(Device, Data.data(), Size, cudaMemcpyDefault);
  scaleKernel<<<(Data.size() + 127) / 128, 128>>>(Device, Data.size(), Factor);
  cudaMemcpy(Data.data(), Device, Size, cudaMemcpyDefault);
  cudaFree(Device);
}
