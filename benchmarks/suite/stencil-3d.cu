// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Heat in a cube by a 7-point stencil. A block walks along Z: it keeps the
// plane at hand in shared memory, with a margin of one, and each thread keeps
// its points of the planes before and behind in registers. The planted variant
// leaves out the second barrier of the loop, so the next plane overwrites one
// that others still read.

#include "Suite.h"
#include <utility>

constexpr int TileX = 32, TileY = 8;
constexpr float Rate = 0.1f;

__global__ void diffuse(int Width, const float *In, float *Out) {
  __shared__ float Plane[TileY + 2][TileX + 2];
  const int X = blockIdx.x * TileX + threadIdx.x, TX = threadIdx.x + 1;
  const int Y = blockIdx.y * TileY + threadIdx.y, TY = threadIdx.y + 1;
  const int Area = Width * Width;
  int I = Y * Width + X;
  float Here = In[I], Behind = In[I + Area];
  Out[I] = Here; // The border keeps its heat.
  for (int Z = 1; Z < Width - 1; ++Z) {
    I += Area;
    const float Before = Here;
    Here = Behind;
    Behind = In[I + Area];
    Plane[TY][TX] = Here; // RACE
    if (TX == 1 && X > 0)
      Plane[TY][0] = In[I - 1];
    if (TX == TileX && X < Width - 1)
      Plane[TY][TileX + 1] = In[I + 1];
    if (TY == 1 && Y > 0)
      Plane[0][TX] = In[I - Width];
    if (TY == TileY && Y < Width - 1)
      Plane[TileY + 1][TX] = In[I + Width];
    __syncthreads();
    float Value = Here;
    if (X > 0 && X < Width - 1 && Y > 0 && Y < Width - 1) {
      const float Left = Plane[TY][TX - 1], Right = Plane[TY][TX + 1]; // RACE
      const float Up = Plane[TY - 1][TX], Down = Plane[TY + 1][TX];    // RACE
      Value += Rate * (Left + Right + Up + Down + Before + Behind - 6 * Here);
    }
    Out[I] = Value;
    VARIANT(__syncthreads(), (void)0);
  }
  Out[I + Area] = Behind;
}

static void diffuseOnHost(std::vector<float> &Values, int Width, int Steps) {
  std::vector<float> Out = Values;
  const int Area = Width * Width;
  for (int Step = 0; Step < Steps; ++Step) {
    for (int Z = 1; Z < Width - 1; ++Z)
      for (int Y = 1; Y < Width - 1; ++Y)
        for (int X = 1; X < Width - 1; ++X) {
          const int I = (Z * Width + Y) * Width + X;
          const float *In = &Values[I];
          Out[I] = In[0] + Rate * (In[-1] + In[1] + In[-Width] + In[Width] +
                                   In[-Area] + In[Area] - 6 * In[0]);
        }
    std::swap(Values, Out);
  }
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int Width = Small ? 32 : 256, Steps = Small ? 2 : 20;
  const std::vector<float> Start = drawUnits(Width * Width * Width);
  DeviceArray<float> First(Start), Second(Start.size());
  float *From = First, *To = Second;
  const dim3 Grid(Width / TileX, Width / TileY), Threads(TileX, TileY);
  for (int Step = 0; Step < Steps; ++Step) {
    diffuse<<<Grid, Threads>>>(Width, From, To);
    std::swap(From, To);
  }
  const std::vector<float> Got = First.download(); // Steps is even.

  // The host steps through two windows, one of them at the corner. What is
  // wrong at an edge that is not the cube's has come as far as Steps.
  const int Size = 2 * Steps + 12;
  bool Right = true;
  for (int Begin : {0, (Width - Size) / 2}) {
    std::vector<float> Want(Size * Size * Size);
    const auto IndexOf = [&](int I) {
      const int X = I % Size, Y = I / Size % Size, Z = I / (Size * Size);
      return ((Begin + Z) * Width + Begin + Y) * Width + Begin + X;
    };
    for (size_t I = 0; I < Want.size(); ++I)
      Want[I] = Start[IndexOf(I)];
    diffuseOnHost(Want, Size, Steps);
    for (size_t I = 0; I < Want.size(); ++I) {
      const int X = I % Size, Y = I / Size % Size, Z = I / (Size * Size);
      const int Low = Begin ? Steps : 0, High = Size - Steps;
      if (X >= Low && X < High && Y >= Low && Y < High && Z >= Low && Z < High)
        Right = Right && isNear(Got[IndexOf(I)], Want[I]);
    }
  }
  return finish(Right);
}
