// Intent: a relaxed update of a flag hands on what the store before it has released. In
// the racy twin it is a store, which does not.
// UNSEEN: metadata: a sync cell keeps what was released before the store
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include "../orders.h"

constexpr unsigned Rounds = 6;

struct Message {
  unsigned Flag, Data;
};

__global__ void pass(Message *Messages, unsigned *Out) {
  for (unsigned R = 0; R < Rounds; ++R) {
    Message &M = Messages[R];
    if (blockIdx.x == 0) {
      M.Data = 5 * R; // RACE
      STORE(release, &M.Flag, 1);
    } else if (blockIdx.x == 1) {
      while (LOAD(relaxed, &M.Flag) != 1)
        ;
#ifdef RACY
      STORE(relaxed, &M.Flag, 2);
#else
      UPDATE(relaxed, add.u32, &M.Flag, 1);
#endif
    } else {
      while (LOAD(acquire, &M.Flag) != 2)
        ;
      Out[R] = M.Data; // RACE
    }
  }
}

int main() {
  unsigned *Out = zeroed<unsigned>(Rounds);
  pass<<<3, 1>>>(zeroed<Message>(Rounds), Out);
  return finish(matches(Out, Rounds, [](size_t R) { return unsigned(5 * R); }));
}
