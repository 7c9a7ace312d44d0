// Intent: a thread tells another of its block at block scope, which tells another block
// at device scope: together that is enough. The racy twin's second thread has not
// acquired what it passes on.
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include "../orders.h"

constexpr unsigned Rounds = 8;

struct Message {
  unsigned Data, InBlock, Abroad;
};

#define FENCE_BLOCK() asm volatile("fence.acq_rel.cta;" ::: "memory")

__global__ void pass(Message *Messages, unsigned *Out) {
  for (unsigned R = 0; R < Rounds; ++R) {
    Message &M = Messages[R];
    volatile unsigned *InBlock = &M.InBlock;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      M.Data = 7 * R; // RACE
      FENCE_BLOCK();
      *InBlock = 1;
    } else if (blockIdx.x == 0 && threadIdx.x == 32) {
      while (*InBlock == 0)
        ;
#ifndef RACY
      FENCE_BLOCK();
#endif
      STORE(release, &M.Abroad, 1);
    } else if (blockIdx.x == 1 && threadIdx.x == 0) {
      while (LOAD(acquire, &M.Abroad) == 0)
        ;
      Out[R] = M.Data; // RACE
    }
  }
}

int main() {
  unsigned *Out = zeroed<unsigned>(Rounds);
  pass<<<2, 64>>>(zeroed<Message>(Rounds), Out);
  return finish(matches(Out, Rounds, [](size_t R) { return unsigned(7 * R); }));
}
