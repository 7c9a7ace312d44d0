// Intent: plain data guarded by a ticket lock made of cuda::atomic_ref with
// acquire and release is not racy.
// CLEAN-ONLY
#include "../check.h"
#include <cuda/atomic>

constexpr unsigned Blocks = 32, Rounds = 10;
using Atomic = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

struct Guarded {
  unsigned Next, Serving;
  unsigned Values[4];
};

__global__ void update(Guarded *G) {
  for (unsigned R = 0; R < Rounds; ++R) {
    unsigned Ticket =
        Atomic(G->Next).fetch_add(1, cuda::memory_order_relaxed);
    while (Atomic(G->Serving).load(cuda::memory_order_acquire) != Ticket)
      ;
    for (unsigned I = 0; I < 4; ++I)
      G->Values[I] += I + blockIdx.x;
    Atomic(G->Serving).store(Ticket + 1, cuda::memory_order_release);
  }
}

int main() {
  Guarded *G = zeroed<Guarded>(1);
  update<<<Blocks, 1>>>(G);
  Guarded End = download(G, 1)[0];
  bool Right = End.Serving == Blocks * Rounds;
  for (unsigned I = 0; I < 4; ++I)
    Right &= End.Values[I] == Rounds * (Blocks * I + Blocks * (Blocks - 1) / 2);
  return finish(Right);
}
