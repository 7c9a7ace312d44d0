// Intent: records change hands through one word: it is swapped in by compare-and-swap
// and swapped out by an exchange, both relaxed; fences order the records.
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include "../orders.h"

constexpr unsigned Senders = 2, Receivers = 2, Items = 8;

struct Mail {
  unsigned Box, Left, Sum;
  unsigned Records[Senders * Items];
};

__global__ void run(Mail *M) {
  if (blockIdx.x < Senders) {
    for (unsigned I = 0; I < Items; ++I) {
      unsigned Record = blockIdx.x * Items + I;
      M->Records[Record] = 3 * Record; // RACE
      FENCE(acq_rel);
      while (SWAP(relaxed, &M->Box, 0, Record + 1) != 0)
        ;
    }
    return;
  }
  while (LOAD(relaxed, &M->Left) != 0) {
    unsigned Record = UPDATE(relaxed, exch.b32, &M->Box, 0);
    if (Record == 0)
      continue;
#ifndef RACY
    FENCE(acq_rel);
#endif
    atomicAdd(&M->Sum, M->Records[Record - 1]); // RACE
    atomicSub(&M->Left, 1);
  }
}

int main() {
  Mail Host = {};
  constexpr unsigned N = Senders * Items;
  Host.Left = N;
  Mail *M = upload(std::vector<Mail>{Host});
  run<<<Senders + Receivers, 1>>>(M);
  return finish(matches(&M->Sum, 1, [](size_t) { return 3 * N * (N - 1) / 2; }));
}
