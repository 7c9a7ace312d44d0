// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The game of life on a torus. Two streams each compute one half of the board,
// a launch for each generation, and wait for the other's last generation by
// events. The planted variant leaves out the waits, so a half may read cells
// along the seams that the other has not written yet, or is overwriting.

#include "Suite.h"
#include <utility>

constexpr int ThreadsX = 64, ThreadsY = 4;

using Cell = unsigned char;

/// A generation of the rows from \p Top on.
__global__ void live(int Width, int Top, const Cell *In, Cell *Out) {
  const int X = blockIdx.x * ThreadsX + threadIdx.x;
  const int Y = Top + blockIdx.y * ThreadsY + threadIdx.y;
  int Around = 0; // Live cells among the nine.
  for (int DY = -1; DY <= 1; ++DY)
    for (int DX = -1; DX <= 1; ++DX) {
      const int Row = (Y + DY) & (Width - 1), Column = (X + DX) & (Width - 1);
      Around += In[Row * Width + Column]; // RACE
    }
  const bool Alive = In[Y * Width + X];
  Out[Y * Width + X] = Around == 3 || (Around == 4 && Alive); // RACE
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int Width = Small ? 64 : 1024, Generations = Small ? 8 : 400;

  // A glider or none in each field of 16 by 16 cells. All move by a row and a
  // column every four generations.
  std::vector<Cell> Start(Width * Width);
  for (int Y = 0; Y < Width; Y += 16)
    for (int X = 0; X < Width; X += 16)
      if (draw() % 2)
        for (int Offset :
             {1, Width + 2, 2 * Width, 2 * Width + 1, 2 * Width + 2})
          Start[Y * Width + X + Offset] = 1;

  DeviceArray<Cell> First(Start), Second(Start.size());
  Cell *From = First, *To = Second;
  cudaStream_t Streams[2];
  cudaEvent_t Done[2];
  for (int Half = 0; Half < 2; ++Half) {
    CHECK(cudaStreamCreateWithFlags(&Streams[Half], cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&Done[Half], cudaEventDisableTiming));
  }
  CHECK(cudaDeviceSynchronize());
  const dim3 Grid(Width / ThreadsX, Width / 2 / ThreadsY);
  const dim3 Threads(ThreadsX, ThreadsY);
  for (int Generation = 0; Generation < Generations; ++Generation) {
    for (int Half = 0; Half < 2; ++Half) {
      live<<<Grid, Threads, 0, Streams[Half]>>>(Width, Half * Width / 2, From,
                                                To);
      CHECK(cudaEventRecord(Done[Half], Streams[Half]));
    }
    for (int Half = 0; Half < 2; ++Half)
      VARIANT(CHECK(cudaStreamWaitEvent(Streams[Half], Done[1 - Half])),
              (void)0);
    std::swap(From, To);
  }
  CHECK(cudaDeviceSynchronize());
  const std::vector<Cell> Got = First.download(); // Their number is even.

  const int Moved = Generations / 4;
  bool Right = true;
  for (int Y = 0; Y < Width; ++Y)
    for (int X = 0; X < Width; ++X) {
      const int Row = (Y + Moved) % Width, Column = (X + Moved) % Width;
      Right = Right && Got[Row * Width + Column] == Start[Y * Width + X];
    }
  for (int Half = 0; Half < 2; ++Half) {
    CHECK(cudaEventDestroy(Done[Half]));
    CHECK(cudaStreamDestroy(Streams[Half]));
  }
  return finish(Right);
}
