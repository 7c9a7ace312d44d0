// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Breadth-first search from below, one launch a level, from several vertices
// one after the other: each vertex that has not been reached looks for a
// neighbour in the frontier, a bitmap, and sets its own bit in the next one.
// Bits of earlier frontiers remain: they have no neighbours that are still to
// be reached. The planted variant has one bitmap for both.

#include "Suite.h"

constexpr int Threads = 256, Unseen = -1;

__global__ void start(int N, int Source, int *Levels, unsigned *Frontier,
                      unsigned *Next) {
  const int V = blockIdx.x * Threads + threadIdx.x;
  if (V >= N)
    return;
  Levels[V] = V == Source ? 0 : Unseen;
  if (V % 32 == 0) {
    Next[V / 32] = 0;
    Frontier[V / 32] = V == Source / 32 * 32 ? 1u << Source % 32 : 0;
  }
}

__global__ void reach(int N, int Level, const int *Begins, const int *Ends,
                      int *Levels, const unsigned *Frontier, unsigned *Next,
                      int *Reached) {
  const int V = blockIdx.x * Threads + threadIdx.x;
  bool Mine = false;
  if (V < N && Levels[V] == Unseen)
    for (int I = Begins[V]; I < Begins[V + 1] && !Mine; ++I)
      Mine = Frontier[Ends[I] / 32] >> Ends[I] % 32 & 1; // RACE
  if (Mine) {
    Levels[V] = Level;
    atomicOr(&Next[V / 32], 1u << V % 32); // RACE
  }
  const int Count = __syncthreads_count(Mine);
  if (threadIdx.x == 0 && Count)
    atomicAdd(Reached, Count);
}

/// A vertex other than the source is one further than its nearest neighbour.
bool isRight(const Graph &G, const std::vector<int> &Levels, int Source) {
  for (size_t V = 0; V < Levels.size(); ++V) {
    unsigned Nearest = Unseen;
    for (int I = G.Begins[V]; I < G.Begins[V + 1]; ++I)
      Nearest = std::min<unsigned>(Nearest, Levels[G.Ends[I]]);
    const int Want = Nearest == unsigned(Unseen) ? Unseen : Nearest + 1;
    if (Levels[V] != (int(V) == Source ? 0 : Want))
      return false;
  }
  return true;
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int N = Small ? 2000 : 1000000, Sources = Small ? 1 : 8;
  const int Blocks = (N + Threads - 1) / Threads;
  const size_t Words = (N + 31) / 32;
  const Graph G = randomGraph(N, 6);
  DeviceArray<int> Begins(G.Begins), Ends(G.Ends), Levels(N), Reached(1);
  DeviceArray<unsigned> First(Words), Second(Words);
  int Source = 0;
  for (int Round = 0; Round < Sources; ++Round) {
    Source = draw() % N;
    unsigned *Frontier = First, *Next = VARIANT(Second, First);
    start<<<Blocks, Threads>>>(N, Source, Levels, Frontier, Next);
    int Count = 1;
    for (int Level = 1; Count; ++Level, std::swap(Frontier, Next)) {
      CHECK(cudaMemset(Reached, 0, sizeof(int)));
      reach<<<Blocks, Threads>>>(N, Level, Begins, Ends, Levels, Frontier, Next,
                                 Reached);
      CHECK(cudaMemcpy(&Count, Reached, sizeof(int), cudaMemcpyDeviceToHost));
    }
  }
  return finish(isRight(G, Levels.download(), Source));
}
