// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maximal independent set after Luby. In each round, the undecided vertices
// whose priority is above that of all undecided neighbours join the set, in a
// launch that only looks at states; the next launch marks them and leaves out
// their neighbours. A vertex may have several that join, so that the mark is
// made by an atomic; in the planted variant by a plain store, since all store
// the same.

#include "Suite.h"

constexpr int Threads = 256;

enum State { Undecided, In, Out };

/// A permutation of the vertices' numbers that is different in each round.
__device__ uint32_t priorityOf(uint32_t V, uint32_t Round) {
  V = (V ^ Round * 0x9e3779b9) * 0x85ebca6b;
  V = (V ^ V >> 13) * 0xc2b2ae35;
  return V ^ V >> 16;
}

__global__ void selectFirst(int N, int Round, const int *Begins,
                            const int *Ends, const int *States, bool *Joins,
                            int *Left) {
  const int V = blockIdx.x * Threads + threadIdx.x;
  const bool Mine = V < N && States[V] == Undecided;
  if (V < N) {
    bool First = Mine;
    for (int I = Begins[V]; First && I < Begins[V + 1]; ++I)
      First = States[Ends[I]] != Undecided ||
              priorityOf(Ends[I], Round) < priorityOf(V, Round);
    Joins[V] = First;
  }
  const int Count = __syncthreads_count(Mine);
  if (threadIdx.x == 0)
    atomicAdd(Left, Count);
}

__global__ void join(int N, const int *Begins, const int *Ends,
                     const bool *Joins, int *States) {
  const int V = blockIdx.x * Threads + threadIdx.x;
  if (V >= N || !Joins[V])
    return;
  States[V] = In;
  for (int I = Begins[V]; I < Begins[V + 1]; ++I) {
    int &Neighbour = States[Ends[I]];
    VARIANT((void)atomicExch(&Neighbour, Out), Neighbour = Out); // RACE
  }
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int N = Small ? 1000 : 1000000, Blocks = (N + Threads - 1) / Threads;
  const Graph G = randomGraph(N, 8);
  DeviceArray<int> Begins(G.Begins), Ends(G.Ends), States(N), Left(1);
  DeviceArray<bool> Joins(N);
  const int Sets = Small ? 1 : 4;
  for (int Set = 0; Set < Sets; ++Set) {
    CHECK(cudaMemset(States, 0, N * sizeof(int)));
    int Count = N;
    for (int Round = Set << 16; Count; ++Round) {
      CHECK(cudaMemset(Left, 0, sizeof(int)));
      selectFirst<<<Blocks, Threads>>>(N, Round, Begins, Ends, States, Joins,
                                       Left);
      join<<<Blocks, Threads>>>(N, Begins, Ends, Joins, States);
      CHECK(cudaMemcpy(&Count, Left, sizeof(int), cudaMemcpyDeviceToHost));
    }
  }
  const std::vector<int> Got = States.download();
  bool Right = true;
  for (int V = 0; V < N; ++V) {
    bool NextToIn = false;
    for (int I = G.Begins[V]; I < G.Begins[V + 1]; ++I)
      NextToIn |= Got[G.Ends[I]] == In;
    Right &= Got[V] == (NextToIn ? Out : In);
  }
  return finish(Right);
}
