// Intent: a kernel that never ends is killed from outside after it has raced;
// the report appears and the program still ends by the signal.
// RACY-ONLY
// SEND: SIGTERM
// SIGNAL: SIGTERM
#include "../check.h"

__global__ void count(unsigned *Counter, volatile unsigned *Raced,
                      volatile unsigned *Stop) {
  for (unsigned R = 0; R < 50; ++R) {
    *Counter += 1; // RACE
    __syncthreads();
  }
  if (threadIdx.x == 0)
    Raced[blockIdx.x] = 1;
  while (!*Stop)
    ;
}

int main() {
  constexpr unsigned Blocks = 8;
  unsigned *Counter = zeroed<unsigned>(1);
  unsigned *Flags; // One for each block, and one that nobody sets.
  CHECK(cudaHostAlloc(&Flags, (Blocks + 1) * sizeof(unsigned),
                      cudaHostAllocMapped));
  memset(Flags, 0, (Blocks + 1) * sizeof(unsigned));
  count<<<Blocks, 128>>>(Counter, Flags, Flags + Blocks);
  CHECK(cudaGetLastError());
  for (unsigned B = 0; B < Blocks; ++B)
    while (!static_cast<volatile unsigned *>(Flags)[B])
      ;
  std::puts("READY");
  std::fflush(stdout);
  CHECK(cudaDeviceSynchronize());
}
