// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PageRank: a thread per vertex pulls its neighbours' ranks from one array and
// writes the new rank to another, until ranks hardly change. The sum of the
// changes has two places: a launch adds to one and clears the other for the
// next. The planted variant clears the one that it adds to.

#include "Suite.h"

constexpr int Threads = 256;
constexpr float Damping = 0.85f;

__device__ float sumOfBlock(float Value) {
  __shared__ float WarpSums[Threads / 32];
  for (int Distance = 16; Distance > 0; Distance /= 2)
    Value += __shfl_down_sync(~0u, Value, Distance);
  if (threadIdx.x % 32 == 0)
    WarpSums[threadIdx.x / 32] = Value;
  __syncthreads();
  float Sum = 0;
  for (const float WarpSum : WarpSums)
    Sum += WarpSum;
  return Sum;
}

__global__ void pull(int N, const int *Begins, const int *Ends,
                     const float *Ranks, float *NewRanks, float *Change,
                     float *NextChange) {
  const int V = blockIdx.x * Threads + threadIdx.x;
  if (V == 0)
    *VARIANT(NextChange, Change) = 0; // RACE
  float Difference = 0;
  if (V < N) {
    float Sum = 0;
    for (int I = Begins[V]; I < Begins[V + 1]; ++I) {
      const int Other = Ends[I];
      Sum += Ranks[Other] / (Begins[Other + 1] - Begins[Other]);
    }
    NewRanks[V] = (1 - Damping) / N + Damping * Sum;
    Difference = fabsf(NewRanks[V] - Ranks[V]);
  }
  const float Sum = sumOfBlock(Difference);
  if (threadIdx.x == 0)
    atomicAdd(Change, Sum); // RACE
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int N = Small ? 1000 : 1000000, Most = Small ? 6 : 60;
  const Graph G = randomGraph(N, 8);
  DeviceArray<int> Begins(G.Begins), Ends(G.Ends);
  DeviceArray<float> First(std::vector<float>(N, 1.0f / N)), Second(N);
  DeviceArray<float> Changes(2);
  float *Ranks = First, *NewRanks = Second, Change = 1;
  for (int Round = 0; Round < Most && Change > 1e-6f; ++Round) {
    pull<<<(N + Threads - 1) / Threads, Threads>>>(
        N, Begins, Ends, Ranks, NewRanks, Changes + Round % 2,
        Changes + (1 - Round % 2));
    CHECK(cudaMemcpy(&Change, Changes + Round % 2, sizeof(float),
                     cudaMemcpyDeviceToHost));
    std::swap(Ranks, NewRanks);
  }
  const std::vector<float> Got = (Ranks == First ? First : Second).download();
  const std::vector<float> Old = (Ranks == First ? Second : First).download();
  bool Right = true;
  double WantChange = 0;
  for (int V = 0; V < N; ++V) {
    double Sum = 0;
    for (int I = G.Begins[V]; I < G.Begins[V + 1]; ++I)
      Sum += Old[G.Ends[I]] / (G.Begins[G.Ends[I] + 1] - G.Begins[G.Ends[I]]);
    Right &= isNear(Got[V] * N, 1 - Damping + Damping * Sum * N);
    WantChange += std::fabs(Got[V] - Old[V]);
  }
  return finish(Right && isNear(Change / WantChange, 1));
}
