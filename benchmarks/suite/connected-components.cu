// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Connected components of a graph. Labels form trees: hook() puts the greater
// label of an edge's ends below the other one by atomicMin, flatten() replaces
// labels by their labels. All blocks share the labels, so that loads and stores
// are atomic. In the planted variant those of flatten() are not.

#include "Suite.h"
#include <cuda/atomic>
#include <numeric>

constexpr int Threads = 256;

using LabelRef = cuda::atomic_ref<int, cuda::thread_scope_device>;
constexpr auto Relaxed = cuda::memory_order_relaxed;

__device__ int load(int *Labels, int V) {
  return LabelRef(Labels[V]).load(Relaxed);
}

__device__ void store(int *Labels, int V, int Label) {
  LabelRef(Labels[V]).store(Label, Relaxed);
}

__global__ void hook(int Edges, const int2 *Ends, int *Labels, int *Changed) {
  const int I = blockIdx.x * Threads + threadIdx.x;
  bool Hooked = false;
  if (I < Edges) {
    const int A = load(Labels, Ends[I].x), B = load(Labels, Ends[I].y);
    if (A != B) {
      atomicMin(&Labels[max(A, B)], min(A, B));
      Hooked = true;
    }
  }
  if (__syncthreads_or(Hooked) && threadIdx.x == 0)
    atomicExch(Changed, 1);
}

__global__ void flatten(int N, int *L) {
  const int V = blockIdx.x * Threads + threadIdx.x;
  if (V < N)
    VARIANT(store(L, V, load(L, load(L, V))), L[V] = L[L[V]]); // RACE
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int N = Small ? 1500 : 1000000, Edges = N;
  const int Parts = Small ? 1 : 8;
  std::vector<int2> Pairs(Edges);
  for (int2 &Pair : Pairs)
    Pair = {int(draw() % N), int(draw() % N)};
  std::vector<int> Want(N);
  std::iota(Want.begin(), Want.end(), 0);
  DeviceArray<int2> Ends(Pairs);
  DeviceArray<int> Labels(N), Changed(1);
  // Components of a part of the edges, then of two parts, and so on.
  for (int Part = 1; Part <= Parts; ++Part) {
    const int Some = Edges / Parts * Part;
    Labels = Want;
    for (int Again = 1; Again;) {
      CHECK(cudaMemset(Changed, 0, sizeof(int)));
      hook<<<(Some + Threads - 1) / Threads, Threads>>>(Some, Ends, Labels,
                                                        Changed);
      flatten<<<(N + Threads - 1) / Threads, Threads>>>(N, Labels);
      CHECK(cudaMemcpy(&Again, Changed, sizeof(int), cudaMemcpyDeviceToHost));
    }
  }
  const auto Root = [&](int V) {
    while (Want[V] != V)
      V = Want[V] = Want[Want[V]];
    return V;
  };
  for (const int2 &Pair : Pairs) {
    const int A = Root(Pair.x), B = Root(Pair.y);
    Want[std::max(A, B)] = std::min(A, B);
  }
  for (int V = 0; V < N; ++V)
    Want[V] = Root(V);
  return finish(Labels.download() == Want);
}
