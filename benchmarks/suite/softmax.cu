// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax of each row of a matrix, a block for a row: its warps find their
// maxima and then their sums by shuffles, and combine them in an array in
// shared memory, which serves both times. The planted variant leaves out the
// barrier between its two uses.

#include "Suite.h"
#include <algorithm>

constexpr int Columns = 1024, Threads = 256, Warps = Threads / 32;
constexpr int Own = Columns / Threads; // elements of a thread

/// Combines the values of all threads of the block.
template <typename F>
__device__ float combine(float *OfWarps, float Value, F Two) {
  for (int Lanes = 16; Lanes > 0; Lanes /= 2)
    Value = Two(Value, __shfl_xor_sync(~0u, Value, Lanes));
  if (threadIdx.x % 32 == 0)
    OfWarps[threadIdx.x / 32] = Value; // RACE
  __syncthreads();
  Value = OfWarps[0]; // RACE
  for (int Warp = 1; Warp < Warps; ++Warp)
    Value = Two(Value, OfWarps[Warp]); // RACE
  VARIANT(__syncthreads(), (void)0);
  return Value;
}

__global__ void softmax(const float *In, float *Out) {
  __shared__ float OfWarps[Warps];
  In += static_cast<size_t>(blockIdx.x) * Columns;
  Out += static_cast<size_t>(blockIdx.x) * Columns;
  float Values[Own], Max = -INFINITY, Sum = 0;
  for (int I = 0; I < Own; ++I) {
    Values[I] = In[I * Threads + threadIdx.x];
    Max = fmaxf(Max, Values[I]);
  }
  Max = combine(OfWarps, Max, [](float A, float B) { return fmaxf(A, B); });
  for (int I = 0; I < Own; ++I) {
    Values[I] = expf(Values[I] - Max);
    Sum += Values[I];
  }
  Sum = combine(OfWarps, Sum, [](float A, float B) { return A + B; });
  for (int I = 0; I < Own; ++I)
    Out[I * Threads + threadIdx.x] = Values[I] / Sum;
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int Rows = Small ? 16 : 15 << 10;
  std::vector<float> Host = drawUnits(Rows * Columns);
  for (float &Value : Host)
    Value = 8 * Value - 4;
  DeviceArray<float> In(Host), Out(Host.size());
  for (int Round = 0; Round < (Small ? 1 : 40); ++Round)
    softmax<<<Rows, Threads>>>(In, Out);
  const std::vector<float> Got = Out.download();

  bool Right = true;
  for (int Sample = 0; Sample < 256; ++Sample) {
    const float *Row = &Host[draw() % Rows * Columns];
    const float Max = *std::max_element(Row, Row + Columns);
    double Sum = 0;
    for (int I = 0; I < Columns; ++I)
      Sum += std::exp(double(Row[I]) - Max);
    const float *GotOfRow = &Got[Row - Host.data()];
    for (int I = 0; I < Columns; ++I)
      Right = Right && isNear(GotOfRow[I] * Sum, std::exp(Row[I] - Max));
  }
  return finish(Right);
}
