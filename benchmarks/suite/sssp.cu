// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shortest paths through a grid of roads from one corner, by Bellman and Ford:
// in each of many launches every crossing offers its neighbours a way. They
// keep the shortest by atomicMin. Blocks set a flag when something has changed,
// which the host looks at now and then. The planted variant sets it without an
// atomic.

#include "Suite.h"
#include <cuda/atomic>
#include <functional>
#include <queue>

constexpr int Threads = 256, Far = 1 << 29;

/// A street leads from a crossing to the next in each of four directions. The
/// weight of the last in a row or column is Far, since it leads nowhere.
__global__ void relax(int Width, const int4 *Weights, int *Distances,
                      int *Changed) {
  const int V = blockIdx.x * Threads + threadIdx.x;
  bool Shorter = false;
  if (V < Width * Width) {
    const cuda::atomic_ref<int, cuda::thread_scope_device> Own(Distances[V]);
    const int Distance = Own.load(cuda::memory_order_relaxed);
    const auto Offer = [&](int Weight, int Neighbour) {
      if (Distance + Weight < Far)
        Shorter |= atomicMin(&Distances[Neighbour], Distance + Weight) >
                   Distance + Weight;
    };
    const int4 Weight = Weights[V];
    Offer(Weight.x, V - 1);
    Offer(Weight.y, V + 1);
    Offer(Weight.z, V - Width);
    Offer(Weight.w, V + Width);
  }
  if (__syncthreads_or(Shorter) && threadIdx.x == 0)
    VARIANT((void)atomicExch(Changed, 1), *Changed = 1); // RACE
}

std::vector<int> dijkstra(int Width, const std::vector<int4> &Weights) {
  std::vector<int> Distances(Weights.size(), Far);
  using Entry = std::pair<int, int>; // Distance and vertex.
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> Open;
  const auto Offer = [&](int Distance, int V) {
    if (Distance >= Far || Distance >= Distances[V])
      return;
    Distances[V] = Distance;
    Open.push({Distance, V});
  };
  Offer(0, 0);
  while (!Open.empty()) {
    const auto [Distance, V] = Open.top();
    Open.pop();
    if (Distance > Distances[V])
      continue;
    Offer(Distance + Weights[V].x, V - 1);
    Offer(Distance + Weights[V].y, V + 1);
    Offer(Distance + Weights[V].z, V - Width);
    Offer(Distance + Weights[V].w, V + Width);
  }
  return Distances;
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int Width = Small ? 24 : 320, N = Width * Width, LaunchesPerLook = 16;
  std::vector<int4> Streets(N);
  for (int V = 0; V < N; ++V) {
    const auto Weight = [&](bool Leads) {
      return Leads ? 1 + int(draw() % 100) : Far;
    };
    Streets[V] = {Weight(V % Width > 0), Weight(V % Width < Width - 1),
                  Weight(V >= Width), Weight(V < N - Width)};
  }
  std::vector<int> Start(N, Far);
  Start[0] = 0;
  DeviceArray<int4> Weights(Streets);
  DeviceArray<int> Distances(Start), Changed(1);
  for (int Again = 1; Again;) {
    CHECK(cudaMemset(Changed, 0, sizeof(int)));
    for (int I = 0; I < LaunchesPerLook; ++I)
      relax<<<(N + Threads - 1) / Threads, Threads>>>(Width, Weights, Distances,
                                                      Changed);
    CHECK(cudaMemcpy(&Again, Changed, sizeof(int), cudaMemcpyDeviceToHost));
  }
  return finish(Distances.download() == dijkstra(Width, Streets));
}
