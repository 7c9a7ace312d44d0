// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Normalises each row of a matrix to mean 0 and variance 1, then scales and
// shifts its columns. A warp takes a row: it sums by shuffles, and its first
// lane leaves the row's mean and scale for the others in shared memory. The
// planted variant lets the others read that without a barrier of the warp.

#include "Suite.h"

constexpr int Columns = 1024, Threads = 256, Warps = Threads / 32;
constexpr int Own = Columns / 32; // elements of a lane
constexpr float Epsilon = 1e-5f;

/// The sum of all lanes' values, in lane 0.
__device__ float sumOfWarp(float Value) {
  for (int Lanes = 16; Lanes > 0; Lanes /= 2)
    Value += __shfl_down_sync(~0u, Value, Lanes);
  return Value;
}

__global__ void normalise(int Rows, const float *In, const float *Scale,
                          const float *Shift, float *Out) {
  __shared__ float2 OfRows[Warps];
  const int Warp = threadIdx.x / 32, Lane = threadIdx.x % 32;
  for (int Row = blockIdx.x * Warps + Warp; Row < Rows;
       Row += gridDim.x * Warps) {
    float Values[Own], Sum = 0, Squares = 0;
    for (int I = 0; I < Own; ++I) {
      Values[I] = In[Row * Columns + I * 32 + Lane];
      Sum += Values[I];
      Squares += Values[I] * Values[I];
    }
    Sum = sumOfWarp(Sum);
    Squares = sumOfWarp(Squares);
    if (Lane == 0) {
      const float Mean = Sum / Columns;
      const float Variance = Squares / Columns - Mean * Mean;
      OfRows[Warp] = {Mean, rsqrtf(Variance + Epsilon)}; // RACE
    }
    VARIANT(__syncwarp(), (void)0);
    const float2 OfRow = OfRows[Warp]; // RACE
    __syncwarp(); // Lane 0 is about to write the next row's.
    for (int I = 0; I < Own; ++I) {
      const int Column = I * 32 + Lane;
      Out[Row * Columns + Column] =
          (Values[I] - OfRow.x) * OfRow.y * Scale[Column] + Shift[Column];
    }
  }
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int Rows = Small ? 32 : 15 << 10, Blocks = Small ? 2 : 480;
  const std::vector<float> Host = drawUnits(Rows * Columns);
  const std::vector<float> Scales = drawUnits(Columns);
  const std::vector<float> Shifts = drawUnits(Columns);
  DeviceArray<float> In(Host), Scale(Scales), Shift(Shifts), Out(Host.size());
  for (int Round = 0; Round < (Small ? 1 : 40); ++Round)
    normalise<<<Blocks, Threads>>>(Rows, In, Scale, Shift, Out);
  const std::vector<float> Got = Out.download();

  bool Right = true;
  for (int Sample = 0; Sample < 256; ++Sample) {
    const int First = draw() % Rows * Columns;
    double Mean = 0, Variance = 0;
    for (int I = 0; I < Columns; ++I)
      Mean += Host[First + I] / Columns;
    for (int I = 0; I < Columns; ++I)
      Variance += std::pow(Host[First + I] - Mean, 2) / Columns;
    for (int I = 0; I < Columns; ++I) {
      const double Normal =
          (Host[First + I] - Mean) / std::sqrt(Variance + Epsilon);
      Right = Right && isNear(Got[First + I], Normal * Scales[I] + Shifts[I]);
    }
  }
  return finish(Right);
}
