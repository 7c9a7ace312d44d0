// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Breadth-first search through a maze, one launch a level. A thread takes a
// cell from the queue of the level and puts those neighbours into the next
// queue that it is the first to reach, which an atomic decides. The planted
// variant looks without an atomic first.

#include "Suite.h"

constexpr int Threads = 128, Unseen = -1, Wall = -2;

__global__ void expand(int Level, int Width, const int *Queue, int N,
                       int *Levels, int *NextQueue, int *NextN) {
  const int I = blockIdx.x * Threads + threadIdx.x;
  if (I >= N)
    return;
  const int Ways[] = {-1, 1, -Width, Width};
  for (const int Way : Ways) {
    const int Cell = Queue[I] + Way;
    if (VARIANT(false, Levels[Cell] != Unseen)) // RACE
      continue;
    if (atomicCAS(&Levels[Cell], Unseen, Level) == Unseen) // RACE
      NextQueue[atomicAdd(NextN, 1)] = Cell;
  }
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int Width = Small ? 100 : 400, Cells = Width * Width;
  std::vector<int> Want(Cells);
  for (int Cell = 0; Cell < Cells; ++Cell) {
    const int X = Cell % Width, Y = Cell / Width;
    const bool Border = X % (Width - 1) == 0 || Y % (Width - 1) == 0;
    Want[Cell] = Border || (Y > 1 && draw() % 4 == 0) ? Wall : Unseen;
  }
  const int Start = Width + 1;
  Want[Start] = 0;
  DeviceArray<int> Levels(Want), NextN(1), First(Cells), Second(Cells);
  int *Queue = First, *NextQueue = Second;
  CHECK(cudaMemcpy(Queue, &Start, sizeof(int), cudaMemcpyHostToDevice));
  int N = 1;
  for (int Level = 1; N; ++Level, std::swap(Queue, NextQueue)) {
    CHECK(cudaMemset(NextN, 0, sizeof(int)));
    expand<<<(N + Threads - 1) / Threads, Threads>>>(Level, Width, Queue, N,
                                                     Levels, NextQueue, NextN);
    CHECK(cudaMemcpy(&N, NextN, sizeof(int), cudaMemcpyDeviceToHost));
  }
  std::vector<int> Cell{Start};
  for (size_t I = 0; I < Cell.size(); ++I)
    for (const int Way : {-1, 1, -Width, Width})
      if (Want[Cell[I] + Way] == Unseen) {
        Want[Cell[I] + Way] = Want[Cell[I]] + 1;
        Cell.push_back(Cell[I] + Way);
      }
  return finish(Levels.download() == Want);
}
