// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blurs an image by a filter that is applied to its rows and then to its
// columns. A block computes several pixels a thread from a tile in shared
// memory with margins at two sides. In the planted variant threads do not share
// out the rows of the second tile: several fill the same ones.

#include "Suite.h"
#include <algorithm>

constexpr int Radius = 8, Taps = 2 * Radius + 1;
constexpr int ThreadsX = 32, ThreadsY = 8, Pixels = 4; // of a thread

__constant__ float Filter[Taps];

__global__ void blurRows(int Width, const float *In, float *Out) {
  constexpr int Size = Pixels * ThreadsX;
  __shared__ float Tile[ThreadsY][Size + 2 * Radius];
  const int Left = blockIdx.x * Size, TX = threadIdx.x, TY = threadIdx.y;
  const int Row = (blockIdx.y * ThreadsY + TY) * Width;
  for (int X = TX; X < Size + 2 * Radius; X += ThreadsX)
    Tile[TY][X] = In[Row + min(max(Left + X - Radius, 0), Width - 1)];
  __syncthreads();
  for (int X = TX; X < Size; X += ThreadsX) {
    float Sum = 0;
    for (int K = 0; K < Taps; ++K)
      Sum += Filter[K] * Tile[TY][X + K];
    Out[Row + Left + X] = Sum;
  }
}

__global__ void blurColumns(int Width, int Height, const float *In,
                            float *Out) {
  constexpr int Size = Pixels * ThreadsY;
  __shared__ float Tile[Size + 2 * Radius][ThreadsX];
  const int Top = blockIdx.y * Size, TX = threadIdx.x, TY = threadIdx.y;
  const int X = blockIdx.x * ThreadsX + TX;
  for (int Y = TY; Y < Size + 2 * Radius; Y += VARIANT(ThreadsY, 1)) {
    const int Row = min(max(Top + Y - Radius, 0), Height - 1);
    Tile[Y][TX] = In[Row * Width + X]; // RACE
  }
  __syncthreads();
  for (int Y = TY; Y < Size; Y += ThreadsY) {
    float Sum = 0;
    for (int K = 0; K < Taps; ++K)
      Sum += Filter[K] * Tile[Y + K][TX];
    Out[(Top + Y) * Width + X] = Sum;
  }
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int Width = Small ? 128 : 4096, Height = Small ? 32 : 4096;
  const std::vector<float> Image = drawUnits(Width * Height);
  float Weights[Taps], Total = 0;
  for (int K = 0; K < Taps; ++K)
    Total += Weights[K] = std::exp(-0.1f * (K - Radius) * (K - Radius));
  for (float &Weight : Weights)
    Weight /= Total;
  CHECK(cudaMemcpyToSymbol(Filter, Weights, sizeof(Weights)));
  DeviceArray<float> In(Image), Middle(Image.size()), Out(Image.size());
  const dim3 Threads(ThreadsX, ThreadsY);
  const dim3 RowsGrid(Width / (Pixels * ThreadsX), Height / ThreadsY);
  const dim3 ColumnsGrid(Width / ThreadsX, Height / (Pixels * ThreadsY));
  for (int Round = 0; Round < (Small ? 1 : 15); ++Round) {
    blurRows<<<RowsGrid, Threads>>>(Width, In, Middle);
    blurColumns<<<ColumnsGrid, Threads>>>(Width, Height, Middle, Out);
  }
  const std::vector<float> Got = Out.download();

  bool Right = true;
  for (int Sample = 0; Sample < 4096; ++Sample) {
    const int X = draw() % Width, Y = draw() % Height;
    float Want = 0;
    for (int I = 0; I < Taps; ++I)
      for (int J = 0; J < Taps; ++J) {
        const int Row = std::clamp(Y + I - Radius, 0, Height - 1);
        const int Column = std::clamp(X + J - Radius, 0, Width - 1);
        Want += Weights[I] * Weights[J] * Image[Row * Width + Column];
      }
    Right = Right && isNear(Got[Y * Width + X], Want);
  }
  return finish(Right);
}
