// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transposes a square matrix, alternately into another one and in place. A
// block takes a tile through shared memory; in place, it swaps a tile above the
// diagonal with the one below. The planted variant forgets that the blocks
// below the diagonal have nothing to do, so two blocks swap the same two tiles.

#include "Suite.h"
#include <utility>

constexpr int Tile = 32, Rows = 8;

__global__ void transpose(int Width, const float *In, float *Out) {
  __shared__ float Own[Tile][Tile + 1];
  const int X = blockIdx.x * Tile, Y = blockIdx.y * Tile, TX = threadIdx.x;
  for (int TY = threadIdx.y; TY < Tile; TY += Rows)
    Own[TY][TX] = In[(Y + TY) * Width + X + TX];
  __syncthreads();
  for (int TY = threadIdx.y; TY < Tile; TY += Rows)
    Out[(X + TY) * Width + Y + TX] = Own[TX][TY];
}

__global__ void transposeInPlace(int Width, float *Data) {
  __shared__ float Upper[Tile][Tile + 1], Lower[Tile][Tile + 1];
  const int X = blockIdx.x * Tile, Y = blockIdx.y * Tile, TX = threadIdx.x;
  if (VARIANT(X < Y, false))
    return;
  for (int TY = threadIdx.y; TY < Tile; TY += Rows) {
    Upper[TY][TX] = Data[(Y + TY) * Width + X + TX]; // RACE
    Lower[TY][TX] = Data[(X + TY) * Width + Y + TX]; // RACE
  }
  __syncthreads();
  for (int TY = threadIdx.y; TY < Tile; TY += Rows) {
    Data[(Y + TY) * Width + X + TX] = Lower[TX][TY]; // RACE
    Data[(X + TY) * Width + Y + TX] = Upper[TX][TY]; // RACE
  }
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int Width = Small ? 96 : 4096, Rounds = Small ? 2 : 20;
  const std::vector<float> Host = drawUnits(Width * Width);
  DeviceArray<float> First(Host), Second(Host.size());
  float *From = First, *To = Second;
  const dim3 Grid(Width / Tile, Width / Tile), Threads(Tile, Rows);
  // A round transposes twice, which leaves the matrix as it was.
  for (int Round = 0; Round < Rounds; ++Round) {
    transpose<<<Grid, Threads>>>(Width, From, To);
    transposeInPlace<<<Grid, Threads>>>(Width, To);
    std::swap(From, To);
  }
  transpose<<<Grid, Threads>>>(Width, From, To);

  const std::vector<float> Got = (To == First ? First : Second).download();
  bool Right = true;
  for (int Sample = 0; Sample < 1 << 18; ++Sample) {
    const int X = draw() % Width, Y = draw() % Width;
    Right = Right && Got[Y * Width + X] == Host[X * Width + Y];
  }
  return finish(Right);
}
