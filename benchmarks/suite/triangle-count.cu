// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Triangles of a graph whose edges lead from lesser to greater vertices: a
// thread per edge goes through the sorted neighbours of both ends and counts
// those that they share; blocks add their threads' counts in a tree. The last
// steps, of one warp, have barriers of the warp. The planted variant leaves
// these out, as if the lanes of a warp went in step.
//
// UNSEEN: collider: on a GPU the lanes of the warp go in step

#include "Suite.h"

constexpr int Threads = 256;

__device__ int countCommon(const int *A, const int *EndA, const int *B,
                           const int *EndB) {
  int Count = 0;
  while (A < EndA && B < EndB) {
    const int Difference = *A - *B;
    Count += Difference == 0;
    A += Difference <= 0;
    B += Difference >= 0;
  }
  return Count;
}

__global__ void count(int Edges, const int *Begins, const int *From,
                      const int *To, int *BlockCounts) {
  __shared__ int Sums[Threads];
  const int T = threadIdx.x, I = blockIdx.x * Threads + T;
  Sums[T] = 0;
  if (I < Edges) {
    const int A = From[I], B = To[I];
    Sums[T] = countCommon(To + Begins[A], To + Begins[A + 1], To + Begins[B],
                          To + Begins[B + 1]);
  }
  __syncthreads();
  for (int Step = Threads / 2; Step > 0; Step /= 2) {
    if (T < Step)
      Sums[T] += Sums[T + Step]; // RACE
    if (Step > 32)
      __syncthreads();
    else
      VARIANT(__syncwarp(), (void)0);
  }
  if (T == 0)
    BlockCounts[blockIdx.x] = Sums[0];
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int N = Small ? 100 : 250000, Degree = Small ? 8 : 32;
  const int Reach = Small ? 40 : 400; // Of an edge.
  std::vector<int> Starts, Sources, Targets;
  for (int V = 0; V < N; ++V) {
    Starts.push_back(Targets.size());
    std::vector<int> Drawn;
    for (int I = 0; I < Degree; ++I)
      Drawn.push_back(V + 1 + draw() % Reach);
    std::sort(Drawn.begin(), Drawn.end());
    for (const int Target : Drawn)
      if (Target < N &&
          (Targets.size() == size_t(Starts[V]) || Targets.back() != Target)) {
        Sources.push_back(V);
        Targets.push_back(Target);
      }
  }
  Starts.push_back(Targets.size());
  const int Edges = Targets.size(), Blocks = (Edges + Threads - 1) / Threads;
  DeviceArray<int> Begins(Starts), From(Sources), To(Targets), Counts(Blocks);
  count<<<Blocks, Threads>>>(Edges, Begins, From, To, Counts);
  const std::vector<int> Got = Counts.download();
  bool Right = true;
  for (int Block = 0; Block < Blocks; Block += Small ? 1 : 97) {
    int Want = 0;
    for (int I = Block * Threads; I < std::min(Edges, (Block + 1) * Threads);
         ++I) {
      const auto Begin = [&](int V) { return Targets.begin() + Starts[V]; };
      const int A = Sources[I], B = Targets[I];
      std::vector<int> Common;
      std::set_intersection(Begin(A), Begin(A + 1), Begin(B), Begin(B + 1),
                            std::back_inserter(Common));
      Want += Common.size();
    }
    Right &= Got[Block] == Want;
  }
  return finish(Right);
}
