// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Histogram of 16-bit values, too many bins for shared memory. First all
// threads count in one array; then in several copies, which one block in so
// many shares, and which are added up. Values near the middle are frequent. The
// planted variant counts in the copies by atomics of the scope of a block.
//
// UNSEEN: collider: atomics have no check

#include "Suite.h"

constexpr int Bins = 1 << 16, Copies = 16, Threads = 512;

__global__ void countInOne(int N, const uint16_t *Data, unsigned *Counts) {
  for (int I = blockIdx.x * Threads + threadIdx.x; I < N;
       I += gridDim.x * Threads)
    atomicAdd(&Counts[Data[I]], 1);
}

__global__ void countInCopies(int N, const uint16_t *Data, unsigned *All) {
  unsigned *Counts = All + blockIdx.x % Copies * Bins;
  for (int I = blockIdx.x * Threads + threadIdx.x; I < N;
       I += gridDim.x * Threads)
    VARIANT(atomicAdd, atomicAdd_block)(&Counts[Data[I]], 1); // RACE
}

__global__ void addCopies(const unsigned *All, unsigned *Counts) {
  const int Bin = blockIdx.x * Threads + threadIdx.x;
  unsigned Sum = 0;
  for (int Copy = 0; Copy < Copies; ++Copy)
    Sum += All[Copy * Bins + Bin];
  Counts[Bin] = Sum;
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int N = Small ? 1 << 14 : 1 << 24, Rounds = Small ? 1 : 8;
  const int Blocks = Small ? 2 * Copies : 1024;
  std::vector<uint16_t> Values(N);
  std::vector<unsigned> Want(Bins);
  for (uint16_t &Value : Values) {
    const uint32_t Drawn = draw();
    Value = (Drawn >> 16) / 2 + (Drawn & 0xffff) / 2;
    ++Want[Small ? Value &= 0xff00 : Value];
  }
  DeviceArray<uint16_t> Data(Values);
  DeviceArray<unsigned> One(Bins), All(Copies * Bins), Sums(Bins);
  bool Right = true;
  for (int Round = 0; Round < Rounds; ++Round) {
    CHECK(cudaMemset(One, 0, Bins * sizeof(unsigned)));
    CHECK(cudaMemset(All, 0, Copies * Bins * sizeof(unsigned)));
    countInOne<<<Blocks, Threads>>>(N, Data, One);
    countInCopies<<<Blocks, Threads>>>(N, Data, All);
    addCopies<<<Bins / Threads, Threads>>>(All, Sums);
    Right &= One.download() == Want && Sums.download() == Want;
  }
  return finish(Right);
}
