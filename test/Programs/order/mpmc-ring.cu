// Intent: a bounded queue of many producers and consumers: each slot has a sequence
// number, which says whose turn it is there, and plain data.
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include "../orders.h"

constexpr unsigned Slots = 4, Items = 12, Producers = 2, Consumers = 2;

struct Queue {
  unsigned Head, Tail, Sum;
  struct {
    unsigned Sequence, Data;
  } Slots[::Slots];
};

__device__ void put(Queue *Q, unsigned Value) {
  unsigned Place = UPDATE(relaxed, add.u32, &Q->Tail, 1);
  auto &Slot = Q->Slots[Place % Slots];
  while (LOAD(acquire, &Slot.Sequence) != Place / Slots * 2)
    ;
  Slot.Data = Value; // RACE
  STORE(RELEASE_UNLESS_RACY, &Slot.Sequence, Place / Slots * 2 + 1);
}

__device__ unsigned get(Queue *Q) {
  unsigned Place = UPDATE(relaxed, add.u32, &Q->Head, 1);
  auto &Slot = Q->Slots[Place % Slots];
  while (LOAD(acquire, &Slot.Sequence) != Place / Slots * 2 + 1)
    ;
  unsigned Value = Slot.Data; // RACE
  STORE(release, &Slot.Sequence, Place / Slots * 2 + 2);
  return Value;
}

__global__ void run(Queue *Q) {
  for (unsigned I = 0; I < Items; ++I)
    if (blockIdx.x < Producers)
      put(Q, blockIdx.x * Items + I);
    else
      atomicAdd(&Q->Sum, get(Q));
}

int main() {
  Queue *Q = zeroed<Queue>(1);
  run<<<Producers + Consumers, 1>>>(Q);
  constexpr unsigned N = Producers * Items;
  return finish(matches(&Q->Sum, 1, [](size_t) { return N * (N - 1) / 2; }));
}
