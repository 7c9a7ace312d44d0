// Intent: memory is allocated and freed in the order of one stream and used on another
// in between. The racy twin's second stream does not wait until it is filled.
#include "streams.h"

constexpr unsigned Threads = 64, Blocks = 2, N = Threads * Blocks, Rounds = 3;

__global__ void fill(unsigned *Cells, unsigned Round) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  Cells[I] = I * (Round + 1); // RACE
}

__global__ void add(const unsigned *Cells, unsigned *Sums) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  Sums[I] += Cells[(I + Threads) % N]; // RACE
}

int main() {
  cudaStream_t Owner = makeStream(), User = makeStream();
  unsigned *Sums = zeroed<unsigned>(N);
  for (unsigned R = 0; R < Rounds; ++R) {
    unsigned *Cells;
    CHECK(cudaMallocAsync((void **)&Cells, N * sizeof(unsigned), Owner));
#ifdef RACY
    order(Owner, User);
    fill<<<Blocks, Threads, 0, Owner>>>(Cells, R);
#else
    fill<<<Blocks, Threads, 0, Owner>>>(Cells, R);
    order(Owner, User);
#endif
    add<<<Blocks, Threads, 0, User>>>(Cells, Sums);
    order(User, Owner);
    CHECK(cudaFreeAsync(Cells, Owner));
  }
  return finish(matches(Sums, N, [](size_t I) {
    return unsigned((I + Threads) % N * Rounds * (Rounds + 1) / 2);
  }));
}
