// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prices European options by the formula of Black and Scholes, a thread for
// each, and sums what the calls are worth: a block leaves its sum in an array,
// and the block that is last to have done so adds up the array. The planted
// variant has no fence between leaving a sum and counting the block.
//
// UNSEEN: collider: the kernel has fences, and each sum is stored long before

#include "Suite.h"

constexpr int Threads = 256;
constexpr float Rate = 0.02f, Volatility = 0.3f;

struct Option {
  float Price, Strike, Years;
};

struct Worth {
  float Call, Put;
};

__host__ __device__ float normal(float X) {
  return 0.5f * erfcf(-X * 0.70710678f);
}

__host__ __device__ Worth worthOf(Option O) {
  const float Deviation = Volatility * sqrtf(O.Years);
  const float Growth = (Rate + 0.5f * Volatility * Volatility) * O.Years;
  const float D1 = (logf(O.Price / O.Strike) + Growth) / Deviation;
  const float D2 = D1 - Deviation;
  const float Discounted = O.Strike * expf(-Rate * O.Years);
  return {O.Price * normal(D1) - Discounted * normal(D2),
          Discounted * normal(-D2) - O.Price * normal(-D1)};
}

/// The sum of the values of the block's threads.
__device__ float sumOfBlock(float Value) {
  __shared__ float Sums[Threads];
  const int T = threadIdx.x;
  Sums[T] = Value;
  __syncthreads();
  for (int Half = Threads / 2; Half > 0; Half /= 2) {
    if (T < Half)
      Sums[T] += Sums[T + Half];
    __syncthreads();
  }
  return Sums[0];
}

__global__ void price(const Option *Options, Worth *Worths, float *SumsOfBlocks,
                      unsigned *Done, float *Total) {
  __shared__ bool IsLast;
  const int T = threadIdx.x, I = blockIdx.x * Threads + T;
  const Worth Own = worthOf(Options[I]);
  Worths[I] = Own;
  const float Sum = sumOfBlock(Own.Call);
  if (T == 0) {
    SumsOfBlocks[blockIdx.x] = Sum; // RACE
    VARIANT(__threadfence(), (void)0);
    IsLast = atomicAdd(Done, 1) == gridDim.x - 1;
    if (IsLast)
      __threadfence();
  }
  __syncthreads();
  if (!IsLast)
    return;
  float Part = 0;
  const int Blocks = gridDim.x;
  for (int Block = T; Block < Blocks; Block += Threads)
    Part += SumsOfBlocks[Block]; // RACE
  Part = sumOfBlock(Part);
  if (T == 0) {
    *Total = Part;
    *Done = 0; // For the next launch.
  }
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int N = Small ? 1 << 13 : 1 << 22, Blocks = N / Threads;
  std::vector<Option> Host(N);
  for (Option &O : Host)
    O = {20 + 80 * drawUnit(), 20 + 80 * drawUnit(), 0.25f + 9 * drawUnit()};
  DeviceArray<Option> Options(Host);
  DeviceArray<Worth> Worths(N);
  DeviceArray<float> SumsOfBlocks(Blocks), Total(1);
  DeviceArray<unsigned> Done(1);
  for (int Round = 0; Round < (Small ? 2 : 60); ++Round)
    price<<<Blocks, Threads>>>(Options, Worths, SumsOfBlocks, Done, Total);
  const std::vector<Worth> Got = Worths.download();

  bool Right = true;
  for (int I = 0; I < N; I += 61) {
    const Worth Want = worthOf(Host[I]);
    Right =
        Right && isNear(Got[I].Call, Want.Call) && isNear(Got[I].Put, Want.Put);
  }
  double Sum = 0;
  for (const Worth &W : Got)
    Sum += W.Call;
  return finish(Right && isNear(Total.download()[0], Sum));
}
