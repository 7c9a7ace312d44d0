// Intent: a node is handed over by a relaxed store of its address, and its reader
// depends on that address alone. No rule of the PTX model orders the two, hardware
// does, and the annotations say so.
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include "../orders.h"
#include <crsan/crsan.h>

#ifdef RACY
#define HAPPENS_BEFORE(Node) (void)0
#define HAPPENS_AFTER(Node) (void)0
#else
#define HAPPENS_BEFORE(Node) crsan_happens_before(Node)
#define HAPPENS_AFTER(Node) crsan_happens_after(Node)
#endif

constexpr unsigned Readers = 4;

struct Node {
  unsigned Value;
};

__global__ void handOver(Node *Nodes, uint64_t *Slots, unsigned *Sums) {
  const unsigned Reader = blockIdx.x - 1;
  if (blockIdx.x == 0) {
    for (unsigned I = 0; I < Readers; ++I) {
      Nodes[I].Value = I + 1; // RACE
      __threadfence();
      HAPPENS_BEFORE(&Nodes[I]);
      STORE64(relaxed, &Slots[I], &Nodes[I]);
    }
    return;
  }
  uint64_t Taken;
  do
    Taken = LOAD64(relaxed, &Slots[Reader]);
  while (!Taken);
  const Node *N = reinterpret_cast<const Node *>(Taken);
  HAPPENS_AFTER(N);
  Sums[Reader] = N->Value; // RACE
}

int main() {
  Node *Nodes = zeroed<Node>(Readers);
  uint64_t *Slots = zeroed<uint64_t>(Readers);
  unsigned *Sums = zeroed<unsigned>(Readers);
  handOver<<<Readers + 1, 1>>>(Nodes, Slots, Sums);
  return finish(matches(Sums, Readers, [](size_t I) { return I + 1; }));
}
