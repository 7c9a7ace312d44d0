// Intent: memory from malloc on the device has no shadow: accesses to it are not
// checked, which is said, and right. The simulated GPU's heap has.
// CLEAN-ONLY
// EXPECT-GPU: CRSan: metadata mode checked .*; not checked: [1-9]\d* \(memory is tracked if
#include "../check.h"

constexpr unsigned Threads = 128;
CONSTANT Scaled<64, 8> Blocks;

__global__ void reverse(unsigned *Out) {
  __shared__ unsigned *Buffer;
  if (threadIdx.x == 0)
    Buffer = static_cast<unsigned *>(malloc(Threads * sizeof(unsigned)));
  __syncthreads();
  if (!Buffer)
    return;
  Buffer[threadIdx.x] = threadIdx.x + blockIdx.x;
  __syncthreads();
  Out[blockIdx.x * Threads + threadIdx.x] = Buffer[Threads - 1 - threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0)
    free(Buffer);
}

int main() {
  unsigned *Out = zeroed<unsigned>(Threads * Blocks);
  reverse<<<Blocks, Threads>>>(Out);
  return finish(matches(Out, Threads * Blocks, [](size_t I) {
    return Threads - 1 - I % Threads + I / Threads;
  }));
}
