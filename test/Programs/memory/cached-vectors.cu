// Intent: vectors that are loaded with a hint for the cache, and then taken apart, are checked as a
// whole.
// RACY: four -DELEMENT=int -DNUMBER=4
// RACY: two -DELEMENT=float -DNUMBER=2
// RACY: bytes -DELEMENT=char -DNUMBER=4
// RACY: plain -DELEMENT=double -DNUMBER=2 -DPLAIN
// FIXED: barrier -DELEMENT=float -DNUMBER=4 -DBARRIER
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 4;
typedef ELEMENT Vector __attribute__((ext_vector_type(NUMBER)));

__global__ void shift(Vector *Cells, ELEMENT *Out) {
  unsigned First = blockIdx.x * Threads, T = threadIdx.x;
  Cells[First + T] = Vector(T); // RACE
#ifdef BARRIER
  __syncthreads();
#endif
#ifdef PLAIN
  Vector V = Cells[First + (T ^ 33)]; // RACE: plain
#else
  Vector V = __builtin_nontemporal_load(&Cells[First + (T ^ 33)]); // RACE: four two bytes
#endif
  for (unsigned I = 0; I < NUMBER; ++I)
    Out[(First + T) * NUMBER + I] = V[I];
}

int main() {
  Vector *Cells = zeroed<Vector>(Threads * Blocks);
  ELEMENT *Out = zeroed<ELEMENT>(Threads * Blocks * NUMBER);
  shift<<<Blocks, Threads>>>(Cells, Out);
  CHECK(cudaDeviceSynchronize());
  return finish(true);
}
