// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Heat in a square plate by a 5-point stencil, a thread for each point. Steps
// alternate: one reads neighbours from global memory, the next from a tile in
// shared memory with a margin of one. The planted variant makes the second step
// in place, where a block reads a margin that other blocks overwrite.

#include "Suite.h"
#include <utility>

constexpr int TileX = 32, TileY = 8;

__global__ void stepGlobal(int Width, const float *In, float *Out) {
  const int X = blockIdx.x * TileX + threadIdx.x;
  const int Y = blockIdx.y * TileY + threadIdx.y;
  const int I = Y * Width + X;
  float Value = In[I];
  if (X > 0 && X < Width - 1 && Y > 0 && Y < Width - 1)
    Value = 0.5f * Value +
            0.125f * (In[I - 1] + In[I + 1] + In[I - Width] + In[I + Width]);
  Out[I] = Value;
}

__global__ void stepShared(int Width, const float *In, float *Out) {
  __shared__ float Tile[TileY + 2][TileX + 2];
  const int X = blockIdx.x * TileX + threadIdx.x, TX = threadIdx.x + 1;
  const int Y = blockIdx.y * TileY + threadIdx.y, TY = threadIdx.y + 1;
  const int I = Y * Width + X;
  Tile[TY][TX] = In[I];
  if (TX == 1 && X > 0)
    Tile[TY][0] = In[I - 1]; // RACE
  if (TX == TileX && X < Width - 1)
    Tile[TY][TileX + 1] = In[I + 1]; // RACE
  if (TY == 1 && Y > 0)
    Tile[0][TX] = In[I - Width]; // RACE
  if (TY == TileY && Y < Width - 1)
    Tile[TileY + 1][TX] = In[I + Width]; // RACE
  __syncthreads();
  float Value = Tile[TY][TX];
  if (X > 0 && X < Width - 1 && Y > 0 && Y < Width - 1)
    Value = 0.5f * Value + 0.125f * (Tile[TY][TX - 1] + Tile[TY][TX + 1] +
                                     Tile[TY - 1][TX] + Tile[TY + 1][TX]);
  Out[I] = Value; // RACE
}

static void stepsOnHost(std::vector<float> &Values, int Width, int Steps) {
  std::vector<float> Out = Values;
  for (int Step = 0; Step < Steps; ++Step) {
    for (int Y = 1; Y < Width - 1; ++Y)
      for (int X = 1; X < Width - 1; ++X) {
        const float *In = &Values[Y * Width + X];
        Out[Y * Width + X] =
            0.5f * In[0] + 0.125f * (In[-1] + In[1] + In[-Width] + In[Width]);
      }
    std::swap(Values, Out);
  }
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int Width = Small ? 64 : 4096, Pairs = Small ? 2 : 30;
  const std::vector<float> Start = drawUnits(Width * Width);
  DeviceArray<float> First(Start), Second(Start.size());
  const dim3 Grid(Width / TileX, Width / TileY), Threads(TileX, TileY);
  for (int Pair = 0; Pair < Pairs; ++Pair) {
    stepGlobal<<<Grid, Threads>>>(Width, First, Second);
    stepShared<<<Grid, Threads>>>(Width, Second, VARIANT(First, Second));
  }
  const std::vector<float> Got = First.download();

  // The host steps through two windows, one of them at the corner. What is
  // wrong at an edge that is not the plate's has come as far as Margin.
  const int Margin = 2 * Pairs, Size = 2 * Margin + 48;
  bool Right = true;
  for (int Begin : {0, (Width - Size) / 2}) {
    std::vector<float> Want(Size * Size);
    for (int I = 0; I < Size * Size; ++I)
      Want[I] = Start[(Begin + I / Size) * Width + Begin + I % Size];
    stepsOnHost(Want, Size, 2 * Pairs);
    for (int Y = Begin ? Margin : 0; Y < Size - Margin; ++Y)
      for (int X = Begin ? Margin : 0; X < Size - Margin; ++X)
        Right = Right && isNear(Got[(Begin + Y) * Width + Begin + X],
                                Want[Y * Size + X]);
  }
  return finish(Right);
}
