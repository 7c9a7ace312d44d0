// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Region quadtree of an image, by blocks that take squares from a queue until
// none is left. Small squares and those of one colour are leaves, others are
// divided into four new tasks. A block draws the number of its next task and
// waits until a block that is at work has pushed it: task first, then a fence,
// then a flag. The planted variant's fence has the scope of a block.
//
// UNSEEN: collider: the kernel has fences, and each task is stored long before

#include "Suite.h"

constexpr int Threads = 256;
constexpr int Smallest = 8; // Size of squares that are not divided.

struct Task {
  int X, Y, Size;
};

struct Queue {
  Task *Tasks;
  int *Ready;   // Whether a task has been pushed, by its number.
  int *Taken;   // How many numbers have been drawn.
  int *Pushed;  // How many tasks there have been.
  int *Pending; // How many tasks are waiting or at work.
};

__device__ void push(const Queue &Q, const Task &T) {
  const int Number = atomicAdd(Q.Pushed, 1);
  Q.Tasks[Number] = T; // RACE
  VARIANT(__threadfence(), __threadfence_block());
  atomicExch(&Q.Ready[Number], 1);
}

/// False if all tasks have been done.
__device__ bool take(const Queue &Q, Task &T) {
  const int Number = atomicAdd(Q.Taken, 1);
  while (!atomicAdd(&Q.Ready[Number], 0))
    if (!atomicAdd(Q.Pending, 0))
      return false;
  __threadfence();
  T = Q.Tasks[Number]; // RACE
  return true;
}

__global__ void divide(int Width, const uint8_t *Image, Queue Q, int *Leaves) {
  __shared__ Task T;
  __shared__ bool Found;
  while (true) {
    if (threadIdx.x == 0)
      Found = take(Q, T);
    __syncthreads();
    if (!Found)
      return;
    const uint8_t *Square = Image + T.Y * Width + T.X;
    bool Same = true;
    for (int I = threadIdx.x; I < T.Size * T.Size && Same; I += Threads)
      Same = Square[I / T.Size * Width + I % T.Size] == Square[0];
    const bool IsLeaf = __syncthreads_and(Same || T.Size == Smallest);
    if (threadIdx.x == 0) {
      if (IsLeaf) {
        atomicAdd(&Leaves[__ffs(T.Size) - 1], 1);
      } else {
        const int Half = T.Size / 2;
        atomicAdd(Q.Pending, 4);
        for (int Y = T.Y; Y < T.Y + T.Size; Y += Half)
          for (int X = T.X; X < T.X + T.Size; X += Half)
            push(Q, {X, Y, Half});
      }
      atomicSub(Q.Pending, 1);
    }
  }
}

/// Counts leaves by the logarithm of their size.
void countLeaves(int Width, const std::vector<uint8_t> &Image, const Task &T,
                 std::vector<int> &Leaves) {
  const uint8_t *Square = &Image[T.Y * Width + T.X];
  bool Same = true;
  for (int Y = 0; Y < T.Size && Same; ++Y)
    for (int X = 0; X < T.Size && Same; ++X)
      Same = Square[Y * Width + X] == Square[0];
  if (Same || T.Size == Smallest) {
    ++Leaves[__builtin_ctz(T.Size)];
    return;
  }
  const int Half = T.Size / 2;
  for (int Y = T.Y; Y < T.Y + T.Size; Y += Half)
    for (int X = T.X; X < T.X + T.Size; X += Half)
      countLeaves(Width, Image, {X, Y, Half}, Leaves);
}

/// Discs of different colours.
std::vector<uint8_t> drawDiscs(int Width, int Discs) {
  std::vector<uint8_t> Image(Width * Width);
  for (int Disc = 1; Disc <= Discs; ++Disc) {
    const int Radius = Width / 32 + draw() % (Width / 16);
    const int Room = Width - 2 * Radius;
    const int Left = draw() % Room, Top = draw() % Room;
    for (int Y = -Radius; Y < Radius; ++Y)
      for (int X = -Radius; X < Radius; ++X)
        if (X * X + Y * Y < Radius * Radius)
          Image[(Top + Radius + Y) * Width + Left + Radius + X] = Disc;
  }
  return Image;
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int Width = Small ? 64 : 4096, Blocks = Small ? 3 : 528;
  const std::vector<uint8_t> Pixels = drawDiscs(Width, Small ? 2 : 100);
  std::vector<int> Want(32);
  countLeaves(Width, Pixels, {0, 0, Width}, Want);
  DeviceArray<uint8_t> Image(Pixels);
  // There is room for all squares that there can be.
  const int Most = Width / Smallest * (Width / Smallest) * 4 / 3 + 1;
  std::vector<Task> First(Most, {0, 0, Smallest});
  First[0] = {0, 0, Width};
  std::vector<int> FirstReady(Most + Blocks);
  FirstReady[0] = 1;
  DeviceArray<Task> Tasks(First);
  DeviceArray<int> Ready(FirstReady), Taken(1), Leaves(32);
  DeviceArray<int> Pushed(std::vector<int>{1}), Pending(std::vector<int>{1});
  divide<<<Blocks, Threads>>>(Width, Image,
                              {Tasks, Ready, Taken, Pushed, Pending}, Leaves);
  return finish(Leaves.download() == Want);
}
