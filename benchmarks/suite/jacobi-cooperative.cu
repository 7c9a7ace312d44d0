// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Jacobi's iteration for the temperature of a square plate whose border is
// given. One cooperative launch makes many sweeps: a block takes every so many
// rows, and the whole grid meets after each sweep. In the planted variant only
// the threads of a block meet, so rows of other blocks may be of any sweep.

#include "Suite.h"
#include <cooperative_groups.h>
#include <utility>

constexpr int Threads = 256;

/// \p In and \p Out swap roles after each sweep.
__global__ void relax(int Width, int Sweeps, float *In, float *Out) {
  for (int Sweep = 0; Sweep < Sweeps; ++Sweep) {
    for (int Y = 1 + blockIdx.x; Y < Width - 1; Y += gridDim.x)
      for (int X = 1 + threadIdx.x; X < Width - 1; X += Threads) {
        const int I = Y * Width + X;
        const float Beside = In[I - 1] + In[I + 1];
        const float Above = In[I - Width], Below = In[I + Width]; // RACE
        Out[I] = 0.25f * (Beside + Above + Below);                // RACE
      }
    VARIANT(cooperative_groups::this_grid().sync(), __syncthreads());
    float *Old = In;
    In = Out;
    Out = Old;
  }
}

static void relaxOnHost(std::vector<float> &Values, int Width, int Sweeps) {
  std::vector<float> Out = Values;
  for (int Sweep = 0; Sweep < Sweeps; ++Sweep) {
    for (int Y = 1; Y < Width - 1; ++Y)
      for (int X = 1; X < Width - 1; ++X) {
        const float *In = &Values[Y * Width + X];
        Out[Y * Width + X] = 0.25f * (In[-1] + In[1] + In[-Width] + In[Width]);
      }
    std::swap(Values, Out);
  }
}

/// As many blocks as the device holds at a time, for they wait for each other.
static int countBlocks() {
  int Device, Processors, OfProcessor;
  CHECK(cudaGetDevice(&Device));
  CHECK(cudaDeviceGetAttribute(&Processors, cudaDevAttrMultiProcessorCount,
                               Device));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&OfProcessor, relax,
                                                      Threads, 0));
  return Processors * OfProcessor;
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  int Width = Small ? 34 : 2048, Sweeps = Small ? 4 : 100;
  const std::vector<float> Start = drawUnits(Width * Width);
  DeviceArray<float> First(Start), Second(Start); // Both have the border.
  float *In = First, *Out = Second;
  void *Arguments[] = {&Width, &Sweeps, &In, &Out};
  const int Launches = 2, Blocks = Small ? 4 : countBlocks();
  for (int Launch = 0; Launch < Launches; ++Launch)
    CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void *>(relax), Blocks,
                                      Threads, Arguments));
  const std::vector<float> Got = First.download(); // Sweeps is even.

  // The host relaxes two windows, one of them at the corner. What is wrong at
  // an edge that is not the plate's has come as far as Margin.
  const int Margin = Launches * Sweeps, Size = 2 * Margin + 16;
  bool Right = true;
  for (int Begin : {0, (Width - Size) / 2}) {
    std::vector<float> Want(Size * Size);
    for (int I = 0; I < Size * Size; ++I)
      Want[I] = Start[(Begin + I / Size) * Width + Begin + I % Size];
    relaxOnHost(Want, Size, Margin);
    for (int Y = Begin ? Margin : 0; Y < Size - Margin; ++Y)
      for (int X = Begin ? Margin : 0; X < Size - Margin; ++X)
        Right = Right && isNear(Got[(Begin + Y) * Width + Begin + X],
                                Want[Y * Size + X]);
  }
  return finish(Right);
}
