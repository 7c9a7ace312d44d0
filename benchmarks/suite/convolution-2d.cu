// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Applies a filter of 7 by 7 weights in constant memory to an image, a thread
// for each pixel. A block fills a tile in shared memory that has a margin of 3
// pixels on all sides. In the planted variant the barrier stands in front of
// the loop that fills the tile instead of behind it.

#include "Suite.h"

constexpr int Radius = 3, Taps = 2 * Radius + 1;
constexpr int Block = 16, Side = Block + 2 * Radius;

__constant__ float Filter[Taps][Taps];

__global__ void convolve(int Width, const float *In, float *Out) {
  __shared__ float Tile[Side][Side];
  const int TX = threadIdx.x, X = blockIdx.x * Block + TX;
  const int TY = threadIdx.y, Y = blockIdx.y * Block + TY;
  VARIANT((void)0, __syncthreads());
  for (int Row = TY; Row < Side; Row += Block)
    for (int Column = TX; Column < Side; Column += Block) {
      const int FromX = X + Column - TX - Radius, FromY = Y + Row - TY - Radius;
      const bool Inside =
          FromX >= 0 && FromX < Width && FromY >= 0 && FromY < Width;
      Tile[Row][Column] = Inside ? In[FromY * Width + FromX] : 0; // RACE
    }
  VARIANT(__syncthreads(), (void)0);
  float Sum = 0;
  for (int I = 0; I < Taps; ++I)
    for (int J = 0; J < Taps; ++J)
      Sum += Filter[I][J] * Tile[TY + I][TX + J]; // RACE
  Out[Y * Width + X] = Sum;
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int Width = Small ? 32 : 2048;
  const std::vector<float> Image = drawUnits(Width * Width);
  float Weights[Taps][Taps];
  for (auto &Row : Weights)
    for (float &Weight : Row)
      Weight = drawUnit() - 0.5f;
  CHECK(cudaMemcpyToSymbol(Filter, Weights, sizeof(Weights)));
  DeviceArray<float> In(Image), Out(Image.size());
  const dim3 Grid(Width / Block, Width / Block), Threads(Block, Block);
  for (int Round = 0; Round < (Small ? 1 : 80); ++Round)
    convolve<<<Grid, Threads>>>(Width, In, Out);
  const std::vector<float> Got = Out.download();

  bool Right = true;
  for (int Sample = 0; Sample < 4096; ++Sample) {
    const int X = draw() % Width, Y = draw() % Width;
    float Want = 0;
    for (int I = 0; I < Taps; ++I)
      for (int J = 0; J < Taps; ++J) {
        const int FromX = X + J - Radius, FromY = Y + I - Radius;
        if (FromX >= 0 && FromX < Width && FromY >= 0 && FromY < Width)
          Want += Weights[I][J] * Image[FromY * Width + FromX];
      }
    Right = Right && isNear(Got[Y * Width + X], Want);
  }
  return finish(Right);
}
