// Intent: nodes go round through two Treiber stacks, one of free nodes and one of
// full ones, whose heads carry a tag, since nodes come back. The payload is plain.
// The racy twin writes it once the node is in the stack.
#include "../check.h"
#include "../orders.h"

constexpr unsigned Nodes = 4, Items = 10, Producers = 2, Consumers = 2, None = ~0u;

struct Stacks {
  uint64_t Full, Free; // The tag, and below it the number of the first node plus one.
  unsigned Next[Nodes];
  unsigned Payload[Nodes];
  unsigned Left, Sum;
};

__device__ void push(Stacks *S, uint64_t *Head, unsigned Node) {
  for (uint64_t Old = LOAD64(relaxed, Head), Seen;; Old = Seen) {
    STORE(relaxed, &S->Next[Node], Old);
    Seen = SWAP64(release, Head, Old, ((Old >> 32) + 1) << 32 | (Node + 1));
    if (Seen == Old)
      return;
  }
}

__device__ unsigned pop(Stacks *S, uint64_t *Head) {
  for (uint64_t Old = LOAD64(acquire, Head), Seen; unsigned(Old) != 0; Old = Seen) {
    unsigned Node = unsigned(Old) - 1;
    unsigned Next = LOAD(relaxed, &S->Next[Node]);
    Seen = SWAP64(acquire, Head, Old, ((Old >> 32) + 1) << 32 | Next);
    if (Seen == Old)
      return Node;
  }
  return None;
}

__global__ void run(Stacks *S) {
  if (blockIdx.x < Producers) {
    for (unsigned I = 0; I < Items; ++I) {
      unsigned Node;
      while ((Node = pop(S, &S->Free)) == None)
        ;
#ifdef RACY
      push(S, &S->Full, Node);
#endif
      S->Payload[Node] = blockIdx.x * Items + I; // RACE
#ifndef RACY
      push(S, &S->Full, Node);
#endif
    }
    return;
  }
  while (LOAD(relaxed, &S->Left) != 0) {
    unsigned Node = pop(S, &S->Full);
    if (Node == None)
      continue;
    atomicAdd(&S->Sum, S->Payload[Node]); // RACE
    push(S, &S->Free, Node);
    atomicSub(&S->Left, 1);
  }
}

int main() {
  Stacks Host = {};
  for (unsigned I = 0; I < Nodes; ++I)
    Host.Next[I] = I;
  Host.Free = Nodes;
  Host.Left = Producers * Items;
  Stacks *S = upload(std::vector<Stacks>{Host});
  run<<<Producers + Consumers, 1>>>(S);
  constexpr unsigned N = Producers * Items;
  return finish(matches(&S->Sum, 1, [](size_t) { return N * (N - 1) / 2; }));
}
