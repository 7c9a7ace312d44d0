// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Distances of a linked list's nodes from its end by pointer jumping: in each
// of log n launches a node adds its successor's distance and takes over that
// node's successor, between two buffers. The planted variant launches every
// other step in a second stream and does not wait for the first.

#include "Suite.h"
#include <numeric>

constexpr int Threads = 256;

/// The successor and the distance to it. The last node is its own successor.
using Node = int2;

__global__ void jump(int N, const Node *From, Node *To) {
  const int I = blockIdx.x * Threads + threadIdx.x;
  if (I >= N)
    return;
  const Node Own = From[I];                  // RACE
  const Node Next = From[Own.x];             // RACE
  To[I] = make_int2(Next.x, Own.y + Next.y); // RACE
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int N = Small ? 1000 : 1 << 22;
  std::vector<int> Order(N);
  std::iota(Order.begin(), Order.end(), 0);
  for (int I = N - 1; I > 0; --I)
    std::swap(Order[I], Order[draw() % (I + 1)]);
  std::vector<Node> Nodes(N);
  Nodes[Order[N - 1]] = {Order[N - 1], 0};
  for (int I = 0; I < N - 1; ++I)
    Nodes[Order[I]] = {Order[I + 1], 1};
  DeviceArray<Node> First(Nodes), Second(Nodes);
  Node *From = First, *To = Second;
  cudaStream_t Streams[2];
  for (cudaStream_t &Stream : Streams)
    CHECK(cudaStreamCreate(&Stream));
  int Step = 0;
  for (int Length = 1; Length < N; Length *= 2, ++Step) {
    const cudaStream_t Stream = Streams[VARIANT(0, Step % 2)];
    jump<<<(N + Threads - 1) / Threads, Threads, 0, Stream>>>(N, From, To);
    std::swap(From, To);
  }
  for (const cudaStream_t Stream : Streams) {
    CHECK(cudaStreamSynchronize(Stream));
    CHECK(cudaStreamDestroy(Stream));
  }
  const std::vector<Node> Got = (From == First ? First : Second).download();
  bool Right = true;
  for (int I = 0; I < N; ++I)
    Right &= Got[Order[I]].y == N - 1 - I;
  return finish(Right);
}
