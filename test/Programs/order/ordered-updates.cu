// Intent: read-modify-writes that acquire and release hand a message from block
// to block.
// CLEAN-ONLY
#include "../check.h"

constexpr unsigned Blocks = 8, Threads = 64, Words = 64;

/// Blocks add to the message in the order in which they come: nobody waits for
/// a block that has not started.
__global__ void relay(unsigned *Ticket, unsigned *Turn, unsigned *Message) {
  __shared__ unsigned Mine;
  if (threadIdx.x == 0) {
    Mine = atomicAdd(Ticket, 1);
    while (__nv_atomic_fetch_add(Turn, 0u, __NV_ATOMIC_ACQUIRE,
                                 __NV_THREAD_SCOPE_DEVICE) != Mine)
      ;
  }
  __syncthreads();
  for (unsigned I = threadIdx.x; I < Words; I += Threads)
    Message[I] += Mine + 1;
  __syncthreads();
  if (threadIdx.x == 0)
    __nv_atomic_fetch_add(Turn, 1u, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
}

int main() {
  unsigned *Ticket = zeroed<unsigned>(1), *Turn = zeroed<unsigned>(1);
  unsigned *Message = zeroed<unsigned>(Words);
  relay<<<Blocks, Threads>>>(Ticket, Turn, Message);
  return finish(matches(Message, Words, [](size_t) { return Blocks * (Blocks + 1) / 2; }));
}
