// Intent: a load behind a condition that is false is no access, even if the
// compiler executes it, as nvcc does, and then does not use what it has loaded.
// ALSO: -O3
#include "../check.h"

constexpr unsigned Threads = 64, Blocks = 32;
CONSTANT Scaled<64, 8> Rounds;

__device__ int Word, Words[3];

/// Thread 0 of block 1 writes.
__device__ void write(int *To, int Round) {
  if (blockIdx.x == 1 && threadIdx.x == 0)
    *To = Round; // RACE
}

/// What the forms of a condition read; `IsReader` says whether they do.
__device__ int selected(bool IsReader) {
  int X = threadIdx.x;
  if (IsReader)
    X = Word; // RACE
  return X;
}

__device__ int masked(int Bits) {
  int X = 0;
  if (Bits & 1)
    X = Words[1]; // RACE
  return X;
}

__device__ int combined(bool IsReader) {
  return IsReader && Words[2] > 3; // RACE
}

__device__ int shared(bool IsWriter, bool IsReader, int Round) {
  __shared__ int Tile;
  if (IsWriter)
    Tile = Round; // RACE
  int X = 1;
  if (IsReader)
    X = Tile; // RACE
  __syncthreads();
  return X;
}

__global__ void work(int *Out, int Readers, unsigned Round) {
  // Threads of the other blocks.
  const bool IsReader = Readers && blockIdx.x != 1;
  write(&Word, Round);
  int Sum = selected(IsReader);
  write(&Words[1], Round);
  Sum += masked(IsReader);
  write(&Words[2], Round);
  Sum += combined(IsReader);
  Sum += shared(threadIdx.x == 0, Readers && threadIdx.x == 40, Round);
  atomicAdd(Out, Sum != 0);
}

int main() {
  int *Out;
  CHECK(cudaMalloc(&Out, sizeof(int)));
  CHECK(cudaMemset(Out, 0, sizeof(int)));
#ifdef RACY
  constexpr int Readers = 1;
#else
  constexpr int Readers = 0;
#endif
  for (unsigned Round = 1; Round <= Rounds; ++Round)
    work<<<Blocks, Threads>>>(Out, Readers, Round);
  CHECK(cudaDeviceSynchronize());
  int Count;
  CHECK(cudaMemcpy(&Count, Out, sizeof(int), cudaMemcpyDeviceToHost));
#ifdef RACY
  std::puts("DONE");
#else
  std::puts(Count == int(Rounds * Blocks * Threads) ? "PASS" : "FAIL");
#endif
}
