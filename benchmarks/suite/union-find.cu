// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Union-find without locks: a thread per edge finds the roots of its ends and
// makes the greater one a child of the other by atomicCAS; on its way it makes
// vertices children of their grandparents. Another launch finds all roots, each
// of which is the least vertex of its tree. In the planted variant, the store
// that shortens a way is not atomic.

#include "Suite.h"
#include <cuda/atomic>

constexpr int Threads = 256;

using ParentRef = cuda::atomic_ref<int, cuda::thread_scope_device>;
constexpr auto Relaxed = cuda::memory_order_relaxed;

__device__ int parentOf(int *Parents, int V) {
  return ParentRef(Parents[V]).load(Relaxed); // RACE
}

__device__ void setParent(int *Parents, int V, int Parent) {
  const ParentRef Old(Parents[V]);
  VARIANT(Old.store(Parent, Relaxed), Parents[V] = Parent); // RACE
}

__device__ int find(int *Parents, int V) {
  for (int Parent = parentOf(Parents, V); Parent != V;) {
    const int Grandparent = parentOf(Parents, Parent);
    if (Grandparent != Parent)
      setParent(Parents, V, Grandparent);
    V = Parent;
    Parent = Grandparent;
  }
  return V;
}

__global__ void makeSets(int N, int *Parents) {
  const int V = blockIdx.x * Threads + threadIdx.x;
  if (V < N)
    Parents[V] = V;
}

__global__ void unite(int Edges, const int2 *Ends, int *Parents) {
  const int I = blockIdx.x * Threads + threadIdx.x;
  if (I >= Edges)
    return;
  int A = Ends[I].x, B = Ends[I].y;
  while ((A = find(Parents, A)) != (B = find(Parents, B))) {
    const int Child = max(A, B);
    if (atomicCAS(&Parents[Child], Child, min(A, B)) == Child) // RACE
      return;
  }
}

__global__ void findAll(int N, int *Parents, int *Roots) {
  const int V = blockIdx.x * Threads + threadIdx.x;
  if (V < N)
    Roots[V] = find(Parents, V);
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int N = Small ? 1000 : 6000000, Longest = Small ? 200 : 100000;
  // Trees of random lengths; each vertex but the first has an edge to one in
  // front of it.
  std::vector<int2> Edges;
  std::vector<int> Want(N);
  for (int First = 0, End = 0; First < N; First = End) {
    End = std::min<int>(N, First + 1 + draw() % Longest);
    for (int V = First; V < End; ++V) {
      Want[V] = First;
      if (V > First)
        Edges.push_back({V, First + int(draw() % (V - First))});
    }
  }
  DeviceArray<int2> Ends(Edges);
  DeviceArray<int> Parents(N), Roots(N);
  const int NumEdges = Edges.size();
  makeSets<<<(N + Threads - 1) / Threads, Threads>>>(N, Parents);
  unite<<<(NumEdges + Threads - 1) / Threads, Threads>>>(NumEdges, Ends,
                                                         Parents);
  findAll<<<(N + Threads - 1) / Threads, Threads>>>(N, Parents, Roots);
  return finish(Roots.download() == Want);
}
