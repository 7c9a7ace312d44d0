#include "histogram.h"

#include <cstdio>
#include <cuda_runtime_api.h>

int main() {
  int Counted = countedValues(256);
  std::puts(Counted > 0 ? "counted" : "failed");
  return Counted > 0 && cudaGetLastError() == cudaSuccess ? 0 : 1;
}
