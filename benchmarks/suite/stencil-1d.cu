// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Smooths a signal many times: each value becomes the mean of those around it.
// A block computes a tile, which it reads with a margin on either side into
// shared memory. The planted variant leaves out the barrier behind that.

#include "Suite.h"
#include <algorithm>
#include <utility>

constexpr int Radius = 4, Threads = 256;

__global__ void smooth(int N, const float *In, float *Out) {
  __shared__ float Tile[Threads + 2 * Radius];
  const int I = blockIdx.x * Threads + threadIdx.x, T = threadIdx.x + Radius;
  Tile[T] = In[I]; // RACE
  if (threadIdx.x < Radius) {
    Tile[T - Radius] = In[max(I - Radius, 0)];       // RACE
    Tile[T + Threads] = In[min(I + Threads, N - 1)]; // RACE
  }
  VARIANT(__syncthreads(), (void)0);
  float Sum = 0;
  for (int K = -Radius; K <= Radius; ++K)
    Sum += Tile[T + K]; // RACE
  Out[I] = Sum / (2 * Radius + 1);
}

static void smoothOnHost(std::vector<float> &Values, int Steps) {
  const int N = Values.size();
  std::vector<float> Out(N);
  for (int Step = 0; Step < Steps; ++Step) {
    for (int I = 0; I < N; ++I) {
      float Sum = 0;
      for (int K = -Radius; K <= Radius; ++K)
        Sum += Values[std::min(std::max(I + K, 0), N - 1)];
      Out[I] = Sum / (2 * Radius + 1);
    }
    std::swap(Values, Out);
  }
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int N = Small ? 1 << 12 : 1 << 20, Steps = Small ? 6 : 600;
  const std::vector<float> Start = drawUnits(N);
  DeviceArray<float> First(Start), Second(N);
  float *From = First, *To = Second;
  for (int Step = 0; Step < Steps; ++Step) {
    smooth<<<N / Threads, Threads>>>(N, From, To);
    std::swap(From, To);
  }
  const std::vector<float> Got = First.download(); // Steps is even.

  // The host smooths three windows. What is wrong at an edge that is not the
  // signal's has come as far as Margin.
  const int Margin = Steps * Radius, Size = 2 * Margin + 512;
  bool Right = true;
  for (int Begin : {0, (N - Size) / 2, N - Size}) {
    std::vector<float> Want(Start.begin() + Begin,
                            Start.begin() + Begin + Size);
    smoothOnHost(Want, Steps);
    const int Low = Begin == 0 ? 0 : Margin;
    const int High = Begin + Size == N ? Size : Size - Margin;
    for (int I = Low; I < High; ++I)
      Right = Right && isNear(Got[Begin + I], Want[I]);
  }
  return finish(Right);
}
