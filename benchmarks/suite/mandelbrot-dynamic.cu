// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pictures of the Mandelbrot set in fixed-point numbers. Rows take differently
// long, so each block draws the number of its next row from a counter and tells
// its threads by shared memory. The planted variant has no barrier between
// their look at that number and the next one.

#include "Suite.h"

constexpr int Threads = 256, MostSteps = 128;
constexpr int Fraction = 26; // bits
constexpr long long One = 1ll << Fraction;

/// A square of the plane from its lower left corner on.
struct View {
  long long X, Y, Pixel; // Pixel: the width of one.
};

__host__ __device__ unsigned char stepsAt(View V, int Column, int Row) {
  const long long CX = V.X + V.Pixel * Column, CY = V.Y + V.Pixel * Row;
  long long X = 0, Y = 0;
  int Steps = 0;
  for (; Steps < MostSteps; ++Steps) {
    const long long XX = X * X >> Fraction, YY = Y * Y >> Fraction;
    if (XX + YY > 4 * One)
      break;
    Y = (X * Y >> (Fraction - 1)) + CY;
    X = XX - YY + CX;
  }
  return static_cast<unsigned char>(Steps);
}

__global__ void paint(View V, int Width, int *Drawn, unsigned char *Picture) {
  __shared__ int OfBlock;
  while (true) {
    if (threadIdx.x == 0)
      OfBlock = atomicAdd(Drawn, 1); // RACE
    __syncthreads();
    const int Row = OfBlock; // RACE
    VARIANT(__syncthreads(), (void)0);
    if (Row >= Width)
      return;
    for (int Column = threadIdx.x; Column < Width; Column += Threads)
      Picture[Row * Width + Column] = stepsAt(V, Column, Row);
  }
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int Width = Small ? 32 : 2048, Blocks = Small ? 4 : 528;
  const int Pictures = Small ? 2 : 10;
  DeviceArray<int> Drawn(Pictures);
  DeviceArray<unsigned char> Picture(Width * Width);
  bool Right = true;
  for (int P = 0; P < Pictures; ++P) {
    // Each picture shows half as much as the one before.
    const long long Side = 3 * One >> P;
    const View V = {-One * 3 / 4 - Side / 2, One / 10 - Side / 2, Side / Width};
    paint<<<Blocks, Threads>>>(V, Width, Drawn + P, Picture);
    const std::vector<unsigned char> Got = Picture.download();
    for (int Sample = 0; Sample < 4096; ++Sample) {
      const int Column = draw() % Width, Row = draw() % Width;
      Right = Right && Got[Row * Width + Column] == stepsAt(V, Column, Row);
    }
  }
  return finish(Right);
}
