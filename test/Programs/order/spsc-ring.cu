// Intent: a ring of plain slots between one producer and one consumer. The racy twin
// releases what it has written, but not the slots that it has read.
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include "../orders.h"

constexpr unsigned Slots = 4, Items = 32;

struct Ring {
  unsigned Head, Tail;
  uint2 Slots[::Slots];
};

__global__ void pass(Ring *R, unsigned *Out) {
  unsigned Sum = 0;
  for (unsigned I = 0; I < Items; ++I) {
    uint2 &Slot = R->Slots[I % Slots];
    if (blockIdx.x == 0) {
      while (I - LOAD(acquire, &R->Tail) == Slots)
        ;
      Slot = make_uint2(I, 3 * I); // RACE
      STORE(release, &R->Head, I + 1);
    } else {
      while (LOAD(acquire, &R->Head) == I)
        ;
      Sum += Slot.x + Slot.y; // RACE
      STORE(RELEASE_UNLESS_RACY, &R->Tail, I + 1);
    }
  }
  if (blockIdx.x == 1)
    *Out = Sum;
}

int main() {
  Ring *R = zeroed<Ring>(1);
  unsigned *Out = zeroed<unsigned>(1);
  pass<<<2, 1>>>(R, Out);
  return finish(matches(Out, 1, [](size_t) { return 4 * Items * (Items - 1) / 2; }));
}
