// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bounding boxes of a binary tree over points, from the leaves up in one
// launch: a thread per leaf climbs, and of the two threads that come to a node
// the second one joins the boxes of its children and goes on. A counter in the
// node, added to with release and acquire, says who is the second. In the
// planted variant it does not acquire.
//
// UNSEEN: collider: the kernel has releases, and each box is stored long before

#include "Suite.h"
#include <cuda/atomic>

constexpr int Threads = 256, PointsPerLeaf = 4;

struct Box {
  float2 Low, High;
};

__host__ __device__ Box join(const Box &A, const Box &B) {
  return {{fminf(A.Low.x, B.Low.x), fminf(A.Low.y, B.Low.y)},
          {fmaxf(A.High.x, B.High.x), fmaxf(A.High.y, B.High.y)}};
}

__host__ __device__ Box boxOf(const float2 *Points) {
  Box Result{Points[0], Points[0]};
  for (int I = 1; I < PointsPerLeaf; ++I)
    Result = join(Result, {Points[I], Points[I]});
  return Result;
}

/// Whether this thread is the second to come to a node.
__device__ bool isSecond(int &Comers) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> Count(Comers);
  constexpr auto Order =
      VARIANT(cuda::memory_order_acq_rel, cuda::memory_order_release);
  return Count.fetch_add(1, Order) == 1;
}

/// Node 1 is the root; the children of node N are 2 N and 2 N + 1.
__global__ void findBounds(int Leaves, const float2 *Points, Box *Boxes,
                           int *Comers) {
  const int I = blockIdx.x * Threads + threadIdx.x;
  if (I >= Leaves)
    return;
  int Node = Leaves + I;
  Boxes[Node] = boxOf(Points + I * PointsPerLeaf); // RACE
  while (Node > 1 && isSecond(Comers[Node / 2])) {
    Node /= 2;
    const Box Left = Boxes[2 * Node], Right = Boxes[2 * Node + 1]; // RACE
    Boxes[Node] = join(Left, Right);                               // RACE
  }
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int Leaves = Small ? 1 << 9 : 1 << 20, Rounds = Small ? 1 : 20;
  std::vector<float2> All(Leaves * PointsPerLeaf);
  for (size_t I = 0; I < All.size(); ++I)
    All[I] = {drawUnit() + 0.001f * I, drawUnit()};
  DeviceArray<float2> Points(All);
  DeviceArray<Box> Boxes(2 * Leaves);
  DeviceArray<int> Comers(Leaves);
  for (int Round = 0; Round < Rounds; ++Round) {
    CHECK(cudaMemset(Comers, 0, Leaves * sizeof(int)));
    findBounds<<<(Leaves + Threads - 1) / Threads, Threads>>>(Leaves, Points,
                                                              Boxes, Comers);
  }
  std::vector<Box> Want(2 * Leaves);
  for (int Node = 2 * Leaves - 1; Node > 0; --Node)
    Want[Node] = Node >= Leaves ? boxOf(&All[(Node - Leaves) * PointsPerLeaf])
                                : join(Want[2 * Node], Want[2 * Node + 1]);
  const std::vector<Box> Got = Boxes.download();
  return finish(!memcmp(&Got[1], &Want[1], (2 * Leaves - 1) * sizeof(Box)));
}
