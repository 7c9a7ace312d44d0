// Intent: kernels can be launched with as much dynamic shared memory as without
// instrumentation, up to all that a block may have.
// CLEAN-ONLY
#include "launch.h"

__device__ void reverseAll(unsigned *Cells, unsigned N, unsigned *Out) {
  for (unsigned I = threadIdx.x; I < N; I += blockDim.x)
    Cells[I] = I * 3 + blockIdx.x;
  __syncthreads();
  unsigned Sum = 0;
  for (unsigned I = threadIdx.x; I < N; I += blockDim.x)
    Sum += Cells[N - 1 - I] * (I % 5);
  atomicAdd(&Out[blockIdx.x], Sum);
}

__global__ void onlyDynamic(unsigned N, unsigned *Out) {
  extern __shared__ unsigned Cells[];
  reverseAll(Cells, N, Out);
}

__global__ void bothKinds(unsigned N, unsigned *Out) {
  extern __shared__ unsigned Cells[];
  __shared__ unsigned Fixed[1024];
  for (unsigned I = threadIdx.x; I < 1024; I += blockDim.x)
    Fixed[I] = I;
  __syncthreads();
  if (Fixed[1023 - threadIdx.x] == 1023 - threadIdx.x)
    reverseAll(Cells, N, Out);
}

bool tryBytes(const char *Name, void (*Kernel)(unsigned, unsigned *),
              unsigned Bytes, unsigned Block) {
  const unsigned N = Bytes / 4;
  unsigned *Out = zeroed<unsigned>(Grid);
  cudaError_t Error = cudaFuncSetAttribute(
      (const void *)Kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Bytes);
  if (Error != cudaSuccess)
    std::printf("%s, %u bytes: %s\n", Name, Bytes, cudaGetErrorString(Error));
  Kernel<<<Grid, Block, Bytes>>>(N, Out);
  const bool Right = Error == cudaSuccess && isLaunched(Name, Block) &&
                     matches(Out, Grid, [=](size_t B) {
                       unsigned Sum = 0;
                       for (unsigned I = 0; I < N; ++I)
                         Sum += ((N - 1 - I) * 3 + unsigned(B)) * (I % 5);
                       return Sum;
                     });
  std::printf("%-16s %5u %6u bytes %s\n", Name, Block, Bytes,
              Right ? "ok" : "WRONG");
  return Right;
}

int main() {
  int Most;
  CHECK(cudaDeviceGetAttribute(&Most, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                               0));
  bool Right = true;
  for (unsigned Block : {64u, 1024u}) {
    for (unsigned Bytes : {1024u, 48u << 10, 96u << 10, unsigned(Most)})
      Right &= tryBytes("onlyDynamic", onlyDynamic, Bytes, Block);
    for (unsigned Bytes : {1024u, 44u << 10, unsigned(Most) - 4096})
      Right &= tryBytes("bothKinds", bothKinds, Bytes, Block);
  }
  return finish(Right);
}
