// Intent: constant memory that the host changes between two launches is not
// racy.
// CLEAN-ONLY
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 8, N = Threads * Blocks, Size = 40;

__constant__ unsigned Table[Size];

__global__ void gather(unsigned *Out) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  const unsigned *Values = Table;
  for (unsigned K = 0; K < 8; ++K)
    Out[I] += Values[(I + K) % Size];
}

int main() {
  unsigned *Out = zeroed<unsigned>(N);
  for (unsigned Launch = 0; Launch < 10; ++Launch) {
    std::vector<unsigned> Values(Size, Launch);
    CHECK(cudaMemcpyToSymbol(Table, Values.data(), Size * sizeof(unsigned)));
    gather<<<Blocks, Threads>>>(Out);
  }
  return finish(matches(Out, N, [](size_t) { return 8 * 45u; }));
}
