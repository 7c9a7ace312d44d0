// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rounds of the k-means method: points join the nearest center's cluster.
// A block adds up its points by atomics in shared memory and then adds to the
// sums of the grid, from which a second kernel takes the new centers. The
// planted variant adds to the grid's sums by atomics of block scope.
//
// UNSEEN: collider: atomics have no check

#include "Suite.h"

constexpr int Threads = 256, Clusters = 16;
constexpr int Sums = 3; // of a cluster: X, Y and the number of its points

struct Point {
  int X, Y; // Below 65536.
};

struct Cluster {
  unsigned long long Of[Sums];
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
                       Cluster *All) {
  __shared__ Point Near[Clusters];
  __shared__ unsigned Own[Clusters][Sums];
  const int T = threadIdx.x;
  if (T < Clusters) {
    Near[T] = Centers[T];
    for (unsigned &Sum : Own[T])
      Sum = 0;
  }
  __syncthreads();
  for (int I = blockIdx.x * Threads + T; I < N; I += gridDim.x * Threads) {
    const int C = nearest(Points[I], Near);
    atomicAdd(&Own[C][0], Points[I].X);
    atomicAdd(&Own[C][1], Points[I].Y);
    atomicAdd(&Own[C][2], 1);
  }
  __syncthreads();
  if (T < Clusters)
    for (int S = 0; S < Sums; ++S)
      VARIANT(atomicAdd, atomicAdd_block)(&All[T].Of[S], Own[T][S]); // RACE
}

__host__ __device__ Point meanOf(const Cluster &C, Point Old) {
  if (C.Of[2] == 0)
    return Old;
  return {static_cast<int>(C.Of[0] / C.Of[2]),
          static_cast<int>(C.Of[1] / C.Of[2])};
}

/// Clears the sums for the next round.
__global__ void moveCenters(Cluster *All, Point *Centers) {
  const int C = threadIdx.x;
  Centers[C] = meanOf(All[C], Centers[C]);
  All[C] = {};
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
  DeviceArray<Cluster> All(Clusters);
  std::vector<Point> Before;
  const int Rounds = Small ? 3 : 40;
  for (int Round = 0; Round < Rounds; ++Round) {
    if (Round == Rounds - 1)
      Before = Centers.download();
    assign<<<Blocks, Threads>>>(N, Points, Centers, All);
    moveCenters<<<1, Clusters>>>(All, Centers);
  }
  const std::vector<Point> Got = Centers.download();

  // The host repeats the last round.
  std::vector<Cluster> Want(Clusters);
  for (const Point &P : Host) {
    Cluster &C = Want[nearest(P, Before.data())];
    C = {{C.Of[0] + P.X, C.Of[1] + P.Y, C.Of[2] + 1}};
  }
  bool Right = true;
  for (int C = 0; C < Clusters; ++C) {
    const Point Mean = meanOf(Want[C], Before[C]);
    Right = Right && Got[C].X == Mean.X && Got[C].Y == Mean.Y;
  }
  return finish(Right);
}
