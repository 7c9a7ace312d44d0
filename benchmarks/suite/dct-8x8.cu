// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The discrete cosine transform of each 8 by 8 pixels of an image, and back. A
// block transforms four such squares in shared memory, columns before rows, a
// thread for each pixel. The planted variant leaves out a barrier: threads
// overwrite pixels of a column that others still sum up.

#include "Suite.h"

constexpr int Side = 8, Squares = 4; // of a block

__constant__ float Basis[Side][Side]; // A row for each frequency.

/// What element \p Other of a row or column weighs in element \p Mine of its
/// transform.
template <bool Inverse> __device__ float weight(int Mine, int Other) {
  return Inverse ? Basis[Other][Mine] : Basis[Mine][Other];
}

template <bool Inverse>
__global__ void transform(int Width, const float *In, float *Out) {
  __shared__ float Square[Squares][Side][Side + 1];
  const int X = threadIdx.x, Y = threadIdx.y;
  auto &Own = Square[threadIdx.z];
  const int I = (blockIdx.y * Side + Y) * Width +
                (blockIdx.x * Squares + threadIdx.z) * Side + X;
  Own[Y][X] = In[I];
  __syncthreads();
  float Sum = 0;
  for (int K = 0; K < Side; ++K)
    Sum += weight<Inverse>(Y, K) * Own[K][X]; // RACE
  VARIANT(__syncthreads(), (void)0);
  Own[Y][X] = Sum; // RACE
  __syncthreads();
  Sum = 0;
  for (int K = 0; K < Side; ++K)
    Sum += weight<Inverse>(X, K) * Own[Y][K];
  Out[I] = Sum;
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int Width = Small ? 32 : 4096, Height = Small ? 16 : 4096;
  const std::vector<float> Image = drawUnits(Width * Height);
  float Cosines[Side][Side];
  for (int F = 0; F < Side; ++F)
    for (int X = 0; X < Side; ++X)
      Cosines[F][X] = std::sqrt((F ? 2.0 : 1.0) / Side) *
                      std::cos((X + 0.5) * F * M_PI / Side);
  CHECK(cudaMemcpyToSymbol(Basis, Cosines, sizeof(Cosines)));
  DeviceArray<float> Pixels(Image), Frequencies(Image.size());
  const dim3 Grid(Width / (Side * Squares), Height / Side);
  const dim3 Threads(Side, Side, Squares);
  for (int Round = 0; Round < (Small ? 1 : 15); ++Round) {
    transform<false><<<Grid, Threads>>>(Width, Pixels, Frequencies);
    transform<true><<<Grid, Threads>>>(Width, Frequencies, Pixels);
  }
  const std::vector<float> Back = Pixels.download();
  const std::vector<float> Got = Frequencies.download();

  bool Right = true;
  for (size_t I = 0; I < Image.size(); I += 17)
    Right = Right && isNear(Back[I], Image[I]);
  for (int Sample = 0; Sample < 4096; ++Sample) {
    const int X = draw() % Width, Y = draw() % Height;
    const int FX = X % Side, FY = Y % Side;
    float Want = 0;
    for (int I = 0; I < Side; ++I)
      for (int J = 0; J < Side; ++J)
        Want += Cosines[FY][I] * Cosines[FX][J] *
                Image[(Y - FY + I) * Width + X - FX + J];
    Right = Right && isNear(Got[Y * Width + X], Want);
  }
  return finish(Right);
}
