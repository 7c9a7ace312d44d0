// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorts points of a plane into clusters around centers, some rounds long: a
// block adds up its points by shared atomics, cluster by cluster, and adds that
// to sums of the grid, from which a second kernel takes the new centers. The
// planted variant adds to the sums of the grid with atomics of block scope.

#include "Suite.h"

constexpr int Threads = 256, Clusters = 16;

struct Point {
  int X, Y; // Below 65536.
};

struct Sum {
  unsigned long long X, Y, Count;
};

/// The cluster whose center is nearest to \p P.
__host__ __device__ int nearest(Point P, const Point *Centers) {
  int Found = 0;
  long long Least = 1ll << 62;
  for (int C = 0; C < Clusters; ++C) {
    const long long X = P.X - Centers[C].X, Y = P.Y - Centers[C].Y;
    const long long Square = X * X + Y * Y;
    if (Square < Least) {
      Least = Square;
      Found = C;
    }
  }
  return Found;
}

__global__ void assign(int N, const Point *Points, const Point *Centers,
                       Sum *Sums) {
  __shared__ Point Near[Clusters];
  __shared__ unsigned OwnX[Clusters], OwnY[Clusters], OwnCount[Clusters];
  const int T = threadIdx.x;
  if (T < Clusters) {
    Near[T] = Centers[T];
    OwnX[T] = OwnY[T] = OwnCount[T] = 0;
  }
  __syncthreads();
  for (int I = blockIdx.x * Threads + T; I < N; I += gridDim.x * Threads) {
    const int C = nearest(Points[I], Near);
    atomicAdd(&OwnX[C], Points[I].X);
    atomicAdd(&OwnY[C], Points[I].Y);
    atomicAdd(&OwnCount[C], 1);
  }
  __syncthreads();
  if (T < Clusters) {
    VARIANT(atomicAdd, atomicAdd_block)(&Sums[T].X, OwnX[T]);         // RACE
    VARIANT(atomicAdd, atomicAdd_block)(&Sums[T].Y, OwnY[T]);         // RACE
    VARIANT(atomicAdd, atomicAdd_block)(&Sums[T].Count, OwnCount[T]); // RACE
  }
}

__host__ __device__ Point meanOf(Sum S, Point Old) {
  if (S.Count == 0)
    return Old;
  return {static_cast<int>(S.X / S.Count), static_cast<int>(S.Y / S.Count)};
}

/// Clears the sums for the next round.
__global__ void moveCenters(Sum *Sums, Point *Centers) {
  const int C = threadIdx.x;
  Centers[C] = meanOf(Sums[C], Centers[C]);
  Sums[C] = {0, 0, 0};
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int N = Small ? 1 << 12 : 1 << 20, Blocks = Small ? 4 : 512;
  std::vector<Point> Host(N);
  for (Point &P : Host) {
    const uint32_t XY = draw();
    P = {static_cast<int>(XY >> 16), static_cast<int>(XY & 0xffff)};
  }
  DeviceArray<Point> Points(Host);
  DeviceArray<Point> Centers({Host.begin(), Host.begin() + Clusters});
  DeviceArray<Sum> Sums(Clusters);
  std::vector<Point> Before;
  const int Rounds = Small ? 3 : 40;
  for (int Round = 0; Round < Rounds; ++Round) {
    if (Round == Rounds - 1)
      Before = Centers.download();
    assign<<<Blocks, Threads>>>(N, Points, Centers, Sums);
    moveCenters<<<1, Clusters>>>(Sums, Centers);
  }
  const std::vector<Point> Got = Centers.download();

  // The host repeats the last round.
  std::vector<Sum> Want(Clusters);
  for (const Point &P : Host) {
    Sum &S = Want[nearest(P, Before.data())];
    S = {S.X + P.X, S.Y + P.Y, S.Count + 1};
  }
  bool Right = true;
  for (int C = 0; C < Clusters; ++C) {
    const Point Mean = meanOf(Want[C], Before[C]);
    Right = Right && Got[C].X == Mean.X && Got[C].Y == Mean.Y;
  }
  return finish(Right);
}
