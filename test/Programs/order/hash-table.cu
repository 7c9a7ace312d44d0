// Intent: keys are inserted into a hash table by compare-and-swap. Who inserts a key
// writes its value plainly and then says that it is there.
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include "../orders.h"

constexpr unsigned Keys = 12, Places = 16, Blocks = 6;

struct Table {
  unsigned Key[Places], IsThere[Places], Value[Places], Uses[Places];
};

__host__ __device__ unsigned valueOf(unsigned Key) { return Key * Key + 7; }

__device__ unsigned find(Table *T, unsigned Key) {
  for (unsigned P = Key * 7 % Places;; P = (P + 1) % Places) {
    unsigned Old = SWAP(relaxed, &T->Key[P], 0, Key);
    if (Old == 0) {
      T->Value[P] = valueOf(Key); // RACE
      STORE(RELEASE_UNLESS_RACY, &T->IsThere[P], 1);
    }
    if (Old == 0 || Old == Key)
      return P;
  }
}

__global__ void count(Table *T, unsigned *Sums) {
  unsigned Sum = 0;
  for (unsigned I = 0; I < Keys; ++I) {
    unsigned P = find(T, (I + 2 * blockIdx.x) % Keys + 1);
    atomicAdd(&T->Uses[P], 1);
    while (LOAD(acquire, &T->IsThere[P]) == 0)
      ;
    Sum += T->Value[P]; // RACE
  }
  Sums[blockIdx.x] = Sum;
}

int main() {
  Table *T = zeroed<Table>(1);
  unsigned *Sums = zeroed<unsigned>(Blocks), Sum = 0;
  count<<<Blocks, 1>>>(T, Sums);
  for (unsigned K = 1; K <= Keys; ++K)
    Sum += valueOf(K);
  return finish(matches(Sums, Blocks, [=](size_t) { return Sum; }));
}
