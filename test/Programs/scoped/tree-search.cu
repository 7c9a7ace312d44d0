// Intent: warps search unbalanced trees, with a stack for each block under a lock
// of block scope and another, which any block may take from, under one of device
// scope.
// FIXED: device
// RACY: lock-block -DBLOCK_LOCK
// RACY: lock-fences -DFENCE=__threadfence_block
// RACY: lock-swap -DSWAP=atomicCAS_block
// RACY: lock-exchange -DEXCHANGE=atomicExch_block
// RACY: lock-no-fences -DFENCE=nothing
// RACY: pending -DPENDING_ADD=atomicAdd_block
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include "locks.h"

#ifndef PENDING_ADD
#define PENDING_ADD atomicAdd
#endif

constexpr unsigned Threads = 128, MostChildren = 6;
CONSTANT Scaled<264, 4> Blocks;
CONSTANT Scaled<480, 8> Trees;
CONSTANT Scaled<10, 5> Levels;
CONSTANT Scaled<1024, 64> LocalCapacity;
CONSTANT Scaled<1 << 16, 1 << 12> GlobalCapacity;

struct Node {
  unsigned Seed, Level;
};

__host__ __device__ unsigned mix(unsigned X) {
  X = (X ^ X >> 16) * 0x7feb352d;
  X = (X ^ X >> 15) * 0x846ca68b;
  return X ^ X >> 16;
}

__host__ __device__ unsigned numChildren(Node N) {
  return N.Level + 1 < Levels ? mix(N.Seed) % (MostChildren + 1) : 0;
}

__host__ __device__ Node child(Node N, unsigned I) {
  return {mix(N.Seed + I + 1), N.Level + 1};
}

struct Stack {
  unsigned Lock;
  unsigned Top;
  unsigned Hint; ///< Top as it was, for those who have not locked.
  Node *Items;
};

/// Pops a node for each lane while there are some; gives back how many.
__device__ unsigned popLocal(Stack &S, Node &N) {
  unsigned Lane = threadIdx.x % 32;
  lockInBlock(&S.Lock);
  unsigned Top = S.Top, Taken = Top < 32 ? Top : 32;
  if (Lane < Taken)
    N = S.Items[Top - Taken + Lane];
  __syncwarp();
  if (Lane == 0)
    S.Top = Top - Taken;
  unlockInBlock(&S.Lock);
  return Taken;
}

__device__ unsigned popGlobal(Stack &S, Node &N) {
  unsigned Lane = threadIdx.x % 32;
  lock(&S.Lock);
  unsigned Top = S.Top, Taken = Top < 32 ? Top : 32; // RACE: lock-*
  if (Lane < Taken)
    N = S.Items[Top - Taken + Lane]; // RACE: lock-*
  __syncwarp();
  if (Lane == 0) {
    S.Top = Top - Taken; // RACE: lock-*
    atomicExch(&S.Hint, Top - Taken);
  }
  unlock(&S.Lock);
  return Taken;
}

/// Pushes the lane's children from \p Offset on, of \p Total in the warp; false if
/// there is no room.
__device__ bool pushLocal(Stack &S, Node N, unsigned Children, unsigned Offset,
                          unsigned Total) {
  lockInBlock(&S.Lock);
  unsigned Top = S.Top;
  bool Fits = Top + Total <= LocalCapacity;
  for (unsigned I = 0; Fits && I < Children; ++I)
    S.Items[Top + Offset + I] = child(N, I);
  __syncwarp();
  if (Fits && threadIdx.x % 32 == 0)
    S.Top = Top + Total;
  unlockInBlock(&S.Lock);
  return Fits;
}

__device__ void pushGlobal(Stack &S, Node N, unsigned Children, unsigned Offset,
                           unsigned Total) {
  lock(&S.Lock);
  unsigned Top = S.Top; // RACE: lock-*
  for (unsigned I = 0; I < Children; ++I)
    S.Items[(Top + Offset + I) % GlobalCapacity] = child(N, I); // RACE: lock-*
  __syncwarp();
  if (threadIdx.x % 32 == 0) {
    S.Top = Top + Total; // RACE: lock-*
    atomicExch(&S.Hint, Top + Total);
  }
  unlock(&S.Lock);
}

/// A block whose global stack seems not to be empty; the grid's size if none.
__device__ unsigned findWork(Stack *Globals) {
  for (unsigned First = 0; First < gridDim.x; First += 32) {
    unsigned I = First + threadIdx.x % 32;
    unsigned Block = (blockIdx.x + I) % gridDim.x;
    bool Any = I < gridDim.x && *(volatile unsigned *)&Globals[Block].Hint > 0;
    if (unsigned Found = __ballot_sync(~0u, Any))
      return (blockIdx.x + First + __ffs(Found) - 1) % gridDim.x;
  }
  return gridDim.x;
}

__global__ void search(Stack *Locals, Stack *Globals, unsigned *Pending,
                       unsigned *Count) {
  unsigned Lane = threadIdx.x % 32, Seen = 0;
#ifdef RACY
  // Nodes that are lost are waited for in vain.
  for (unsigned Turn = 0; Turn < 5000; ++Turn) {
#else
  for (;;) {
#endif
    Node N;
    unsigned Taken = popLocal(Locals[blockIdx.x], N);
    if (Taken == 0) {
      unsigned Victim = findWork(Globals);
      if (Victim < gridDim.x)
        Taken = popGlobal(Globals[Victim], N);
    }
    if (Taken == 0) {
      unsigned Left = Lane == 0 ? atomicAdd(Pending, 0) : 0; // RACE: pending
      if (__shfl_sync(~0u, Left, 0) == 0)
        break;
      continue;
    }
    unsigned Children = Lane < Taken ? numChildren(N) : 0, Before = Children;
    for (unsigned Step = 1; Step < 32; Step *= 2) {
      unsigned Sum = __shfl_up_sync(~0u, Before, Step);
      Before += Lane >= Step ? Sum : 0;
    }
    unsigned Total = __shfl_sync(~0u, Before, 31), Offset = Before - Children;
    // Nodes are counted from before they can be taken until they are done.
    if (Lane == 0 && Total > 0)
      PENDING_ADD(Pending, Total); // RACE: pending
    if (Total > 0 &&
        !pushLocal(Locals[blockIdx.x], N, Children, Offset, Total))
      pushGlobal(Globals[blockIdx.x], N, Children, Offset, Total);
    if (Lane == 0)
      PENDING_ADD(Pending, 0u - Taken); // RACE: pending
    Seen += Taken;
  }
  if (Lane == 0)
    atomicAdd(Count, Seen);
}

/// The stacks, of which the first \p Filled hold the trees' roots.
static Stack *makeStacks(unsigned Capacity, unsigned Filled) {
  std::vector<Stack> Stacks(Blocks);
  Node *Items = zeroed<Node>(size_t(Capacity) * Blocks);
  for (unsigned B = 0; B < Blocks; ++B) {
    std::vector<Node> Roots;
    for (unsigned T = B; B < Filled && T < Trees; T += Filled)
      Roots.push_back({mix(T), 0});
    unsigned Top = Roots.size();
    Stacks[B] = {0, Top, Top, Items + size_t(Capacity) * B};
    if (Top > 0)
      CHECK(cudaMemcpy(Stacks[B].Items, &Roots[0], Top * sizeof(Node),
                       cudaMemcpyHostToDevice));
  }
  return upload(Stacks);
}

static unsigned count(Node N) {
  unsigned Nodes = 1;
  for (unsigned I = 0, E = numChildren(N); I < E; ++I)
    Nodes += count(child(N, I));
  return Nodes;
}

int main() {
  unsigned *Count = zeroed<unsigned>(1);
  // All others must take from the first ones' global stacks.
  search<<<Blocks, Threads>>>(
      makeStacks(LocalCapacity, 0), makeStacks(GlobalCapacity, Blocks / 4),
      upload(std::vector<unsigned>{unsigned(Trees)}), Count);
  unsigned Want = 0;
  for (unsigned T = 0; T < Trees; ++T)
    Want += count({mix(T), 0});
  return finish(matches(Count, 1, [=](size_t) { return Want; }));
}
