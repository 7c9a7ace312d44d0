// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Particle filter for a point that moves on a line. In each step particles move
// at random and are weighed by their distance from a measurement, weights are
// scanned within blocks and then over blocks, and new particles are copies of
// old ones, as many of each as its weight demands. The planted variant leaves
// out a barrier in the scan of a block.

#include "Suite.h"

constexpr int Threads = 512;
constexpr float Speed = 0.02f, Noise = 0.1f;

/// In [-0.5, 0.5).
__device__ float drawNoise(uint32_t &State) {
  State = State * 1664525 + 1013904223;
  return (State >> 8) * 0x1p-24f - 0.5f;
}

/// The sum of the values of this thread and of those before it in the block.
__device__ float scanBlock(float Value) {
  __shared__ float Sums[Threads];
  const int T = threadIdx.x;
  Sums[T] = Value;
  for (int Step = 1; Step < Threads; Step *= 2) {
    __syncthreads();
    const float Before = T >= Step ? Sums[T - Step] : 0; // RACE
    VARIANT(__syncthreads(), (void)0);
    Sums[T] = Value += Before; // RACE
  }
  return Value;
}

__global__ void weigh(float Measured, float *Places, uint32_t *States,
                      float *Weights, float *BlockSums) {
  const int I = blockIdx.x * Threads + threadIdx.x;
  const float Place = Places[I] + Speed + Noise * drawNoise(States[I]);
  const float Distance = (Place - Measured) / Noise;
  Places[I] = Place;
  const float Sum = scanBlock(1 / (1 + Distance * Distance));
  Weights[I] = Sum;
  if (threadIdx.x == Threads - 1)
    BlockSums[blockIdx.x] = Sum;
}

/// One block; the sums become those of each block and all before it.
__global__ void scanBlockSums(int Blocks, float *BlockSums) {
  const int Each = (Blocks + Threads - 1) / Threads;
  const int First = min(int(threadIdx.x) * Each, Blocks);
  const int Last = min(First + Each, Blocks);
  float Sum = 0;
  for (int I = First; I < Last; ++I)
    Sum += BlockSums[I];
  float Before = scanBlock(Sum) - Sum;
  for (int I = First; I < Last; ++I)
    BlockSums[I] = Before += BlockSums[I];
}

/// The first of N sums that is above \p Value, or the last.
__device__ int findFirst(const float *Sums, int N, float Value) {
  int Low = 0, High = N - 1;
  while (Low < High) {
    const int Middle = (Low + High) / 2;
    if (Sums[Middle] > Value)
      High = Middle;
    else
      Low = Middle + 1;
  }
  return Low;
}

__global__ void resample(float Offset, const float *Places,
                         const float *Weights, const float *BlockSums,
                         float *NewPlaces) {
  const int I = blockIdx.x * Threads + threadIdx.x;
  const int N = gridDim.x * Threads;
  const float Share = (I + Offset) / N * BlockSums[gridDim.x - 1];
  const int Block = findFirst(BlockSums, gridDim.x, Share);
  const float Before = Block ? BlockSums[Block - 1] : 0;
  const int Chosen = Block * Threads + findFirst(Weights + Block * Threads,
                                                 Threads, Share - Before);
  NewPlaces[I] = Places[Chosen];
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int Blocks = Small ? 2 : 2048, N = Blocks * Threads;
  const int Steps = Small ? 2 : 30;
  std::vector<uint32_t> Seeds(N);
  for (uint32_t &Seed : Seeds)
    Seed = draw();
  DeviceArray<float> Places(drawUnits(N)), NewPlaces(N);
  DeviceArray<uint32_t> States(Seeds);
  DeviceArray<float> Weights(N), BlockSums(Blocks);
  float Place = 0.5f;
  for (int Step = 0; Step < Steps; ++Step) {
    Place += Speed;
    weigh<<<Blocks, Threads>>>(Place, Places, States, Weights, BlockSums);
    scanBlockSums<<<1, Threads>>>(Blocks, BlockSums);
    resample<<<Blocks, Threads>>>(drawUnit(), Places, Weights, BlockSums,
                                  NewPlaces);
    CHECK(cudaMemcpy(Places, NewPlaces, N * sizeof(float),
                     cudaMemcpyDeviceToDevice));
  }
  double Mean = 0;
  for (const float Got : Places.download())
    Mean += Got / N;
  return finish(isNear(Mean, Place, Small ? 0.1 : 0.02));
}
