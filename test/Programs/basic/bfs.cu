// Intent: a breadth-first search reads and writes levels plainly, as many
// published ones do.
// ALSO: -O3 -g
#include "../check.h"
#include <cuda/atomic>

constexpr int Threads = 128, Degree = 8, Unset = -1;
CONSTANT Scaled<1 << 14, 1 << 11> N;

__global__ void expand(const int *Edges, int *Levels, int Depth, int *Changed) {
  int U = blockIdx.x * Threads + threadIdx.x;
#ifdef RACY
  if (Levels[U] != Depth) // RACE
    return;
  for (int E = U * Degree; E < (U + 1) * Degree; ++E)
    if (Levels[Edges[E]] == Unset) { // RACE
      Levels[Edges[E]] = Depth + 1;  // RACE
      *Changed = 1;                  // RACE
    }
#else
  using Shared = cuda::atomic_ref<int, cuda::thread_scope_device>;
  if (Shared(Levels[U]).load(cuda::memory_order_relaxed) != Depth)
    return;
  for (int E = U * Degree; E < (U + 1) * Degree; ++E)
    if (atomicCAS(&Levels[Edges[E]], Unset, Depth + 1) == Unset)
      atomicExch(Changed, 1);
#endif
}

int main() {
  std::vector<int> Edges(N * Degree), Want(N, Unset), Queue{0};
  for (unsigned E = 0; E < Edges.size(); ++E)
    Edges[E] = (E * 2654435761u >> 9) % N;
  Want[0] = 0;
  for (size_t Head = 0; Head < Queue.size(); ++Head)
    for (int E = Queue[Head] * Degree; E < (Queue[Head] + 1) * Degree; ++E)
      if (Want[Edges[E]] == Unset) {
        Want[Edges[E]] = Want[Queue[Head]] + 1;
        Queue.push_back(Edges[E]);
      }
  std::vector<int> Start(N, Unset);
  Start[0] = 0;
  int *DeviceEdges = upload(Edges), *Levels = upload(Start);
  int *Changed = zeroed<int>(1), More = 1;
  for (int Depth = 0; More && Depth < N; ++Depth) {
    CHECK(cudaMemset(Changed, 0, sizeof(int)));
    expand<<<N / Threads, Threads>>>(DeviceEdges, Levels, Depth, Changed);
    More = download(Changed, 1)[0];
  }
  return finish(matches(Levels, N, [&](size_t I) { return Want[I]; }));
}
