// Intent: the two sides of a branch end in stores to one cell, which an
// optimiser likes to merge into one; the report names a line all the same.
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 16;

__global__ void classify(const unsigned *In, unsigned *Flags) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
#ifdef RACY
  unsigned Cell = I % 8;
#else
  unsigned Cell = I;
#endif
  if (In[I] % 3 == 0)
    Flags[Cell] = I; // RACE
  else
    Flags[Cell] = I + 1000000; // RACE
}

int main() {
  std::vector<unsigned> Values(Threads * Blocks);
  for (unsigned I = 0; I < Values.size(); ++I)
    Values[I] = I * 2654435761u >> 5;
  unsigned *In = upload(Values), *Flags = zeroed<unsigned>(Values.size());
  classify<<<Blocks, Threads>>>(In, Flags);
  return finish(matches(Flags, Values.size(), [&](size_t I) {
    return I + (Values[I] % 3 == 0 ? 0 : 1000000);
  }));
}
