// A host file: it calls CUDA's run-time library and knows no kernels.
#include "project.h"

#include <cstdio>
#include <cuda_runtime_api.h>
#include <vector>

int main() {
  int Count = 0;
  if (cudaGetDeviceCount(&Count) != cudaSuccess || Count == 0) {
    std::puts("no GPU");
    return 0;
  }
  std::vector<float> Data(256, 1.0f);
  scale(Data, 3.0f);
  runTwice(Data);
  std::printf("%g\n", Data[0]);
  return Data[0] == 6.0f ? 0 : 1;
}
