// Intent: a table is made by whoever comes first. Those who find it made take no lock,
// but have to acquire the flag that says so.
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include "../orders.h"

constexpr unsigned Early = 3, Late = 3, Cells = 8;

struct Lazy {
  unsigned Lock, IsMade, Times;
  unsigned Table[Cells];
};

__device__ const unsigned *get(Lazy *L) {
  if (LOAD(ACQUIRE_UNLESS_RACY, &L->IsMade) != 0)
    return L->Table;
  while (SWAP(acquire, &L->Lock, 0, 1) != 0)
    ;
  if (LOAD(relaxed, &L->IsMade) == 0) {
    for (unsigned I = 0; I < Cells; ++I)
      L->Table[I] = I * I; // RACE
    atomicAdd(&L->Times, 1);
    STORE(release, &L->IsMade, 1);
  }
  STORE(release, &L->Lock, 0);
  return L->Table;
}

__global__ void use(Lazy *L, unsigned *Out) {
  // Some come when it is made already. This orders nothing.
  while (blockIdx.x >= Early && LOAD(relaxed, &L->IsMade) == 0)
    ;
  const unsigned *Table = get(L);
  unsigned Sum = 0;
  for (unsigned I = 0; I < Cells; ++I)
    Sum += Table[I]; // RACE
  Out[blockIdx.x] = Sum;
}

int main() {
  Lazy *L = zeroed<Lazy>(1);
  unsigned *Out = zeroed<unsigned>(Early + Late);
  use<<<Early + Late, 1>>>(L, Out);
  bool Right = matches(Out, Early + Late, [](size_t) { return 140u; });
  return finish(Right && download(L, 1)[0].Times == 1);
}
