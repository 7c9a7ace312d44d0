// Intent: two threads share a structure of four words: one reads three of them, around
// the one that the other writes. A compiler may load all four at once.
#include "../check.h"

struct alignas(16) Cell {
  unsigned A, B, C, D;
};

constexpr unsigned Cells = 32;

__global__ void work(Cell *Each, unsigned *Out) {
  unsigned I = threadIdx.x / 2;
  if (threadIdx.x % 2)
    Each[I].C = I; // RACE
  else
#ifdef RACY
    Out[I] = Each[I].A + Each[I].B + Each[I].C; // RACE
#else
    Out[I] = Each[I].A + Each[I].B + Each[I].D;
#endif
}

int main() {
  std::vector<Cell> Host;
  for (unsigned I = 0; I < Cells; ++I)
    Host.push_back({I, 2 * I, 0, 3 * I});
  unsigned *Out = zeroed<unsigned>(Cells);
  work<<<1, 2 * Cells>>>(upload(Host), Out);
  return finish(matches(Out, Cells, [](size_t I) { return unsigned(6 * I); }));
}
