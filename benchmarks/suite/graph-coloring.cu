// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Colouring of a graph after Jones and Plassmann. In each round, the vertices
// without a colour whose priority is above that of all such neighbours are
// selected, and then take the least colour that no neighbour has. No two
// neighbours do so in one launch, since of two equal priorities that of the
// greater number is above. The planted variant selects both.

#include "Suite.h"

constexpr int Threads = 256, None = -1;

/// Whether vertex \p A is to have its colour before \p B.
__device__ bool isBefore(const uint8_t *Priorities, int A, int B) {
  if (Priorities[A] != Priorities[B])
    return Priorities[A] > Priorities[B];
  return VARIANT(A > B, true);
}

__global__ void selectFirst(int N, const int *Begins, const int *Ends,
                            const uint8_t *Priorities, const int *Colors,
                            bool *Selected, int *Left) {
  const int V = blockIdx.x * Threads + threadIdx.x;
  const bool Mine = V < N && Colors[V] == None;
  if (V < N) {
    bool First = Mine;
    for (int I = Begins[V]; First && I < Begins[V + 1]; ++I)
      First = Colors[Ends[I]] != None || isBefore(Priorities, V, Ends[I]);
    Selected[V] = First;
  }
  const int Count = __syncthreads_count(Mine);
  if (threadIdx.x == 0)
    atomicAdd(Left, Count);
}

__global__ void assign(int N, const int *Begins, const int *Ends,
                       const bool *Selected, int *Colors) {
  const int V = blockIdx.x * Threads + threadIdx.x;
  if (V >= N || !Selected[V])
    return;
  uint64_t Taken = 0; // A bit per colour.
  for (int I = Begins[V]; I < Begins[V + 1]; ++I) {
    const int Color = Colors[Ends[I]]; // RACE
    if (Color != None)
      Taken |= uint64_t(1) << Color;
  }
  Colors[V] = __ffsll(~Taken) - 1; // RACE
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int N = Small ? 1000 : 1000000, Blocks = (N + Threads - 1) / Threads;
  const Graph G = randomGraph(N, 8);
  std::vector<uint8_t> Drawn(N);
  for (uint8_t &Priority : Drawn)
    Priority = draw();
  DeviceArray<int> Begins(G.Begins), Ends(G.Ends), Left(1);
  DeviceArray<int> Colors(std::vector<int>(N, None));
  DeviceArray<uint8_t> Priorities(Drawn);
  DeviceArray<bool> Selected(N);
  for (int Count = N; Count;) {
    CHECK(cudaMemset(Left, 0, sizeof(int)));
    selectFirst<<<Blocks, Threads>>>(N, Begins, Ends, Priorities, Colors,
                                     Selected, Left);
    assign<<<Blocks, Threads>>>(N, Begins, Ends, Selected, Colors);
    CHECK(cudaMemcpy(&Count, Left, sizeof(int), cudaMemcpyDeviceToHost));
  }
  const std::vector<int> Got = Colors.download();
  bool Right = true;
  for (int V = 0; V < N; ++V) {
    uint64_t Taken = 0;
    for (int I = G.Begins[V]; I < G.Begins[V + 1]; ++I)
      Taken |= uint64_t(1) << Got[G.Ends[I]];
    const uint64_t Less = (uint64_t(1) << Got[V]) - 1;
    Right &= !(Taken >> Got[V] & 1) && (Taken & Less) == Less;
  }
  return finish(Right);
}
