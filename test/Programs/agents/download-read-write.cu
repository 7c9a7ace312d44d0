// Intent: Table 3, cudaMemcpyAsync (DtoH) RW: a copy on another stream reads cells that a
// kernel still writes. In the fixed twin events order them.
// Others: iGUARD, Compute Sanitizer and SuperCollider do not find it.
#include "../streams/streams.h"

constexpr unsigned Threads = 128, Blocks = 4, N = Threads * Blocks, Turns = 8;
CONSTANT Scaled<300, 10> Rounds;

__global__ void fill(unsigned *Cells, unsigned Turn, unsigned Rounds) {
  const unsigned I = blockIdx.x * Threads + threadIdx.x;
  for (unsigned R = 0; R < Rounds; ++R) {
    Cells[I] = (Turn * Rounds + R) * N + I; // RACE
    __syncthreads();
  }
}

int main() {
  cudaStream_t Copier = makeStream(), Worker = makeStream();
  unsigned *Cells = zeroed<unsigned>(N), *Host;
  CHECK(cudaMallocHost(&Host, Turns * N * sizeof(unsigned)));
  // A first launch loads the kernel, which may wait for what is running.
  fill<<<Blocks, Threads, 0, Worker>>>(Cells, 0, 0);
  CHECK(cudaDeviceSynchronize());
  for (unsigned Turn = 0; Turn < Turns; ++Turn) {
    fill<<<Blocks, Threads, 0, Worker>>>(Cells, Turn, Rounds);
#ifndef RACY
    order(Worker, Copier);
#endif
    CHECK(cudaMemcpyAsync(Host + Turn * N, Cells, N * sizeof(unsigned), // RACE
                          cudaMemcpyDeviceToHost, Copier));
#ifndef RACY
    order(Copier, Worker);
#endif
  }
  CHECK(cudaDeviceSynchronize());
  bool Right = true;
  for (unsigned I = 0; I < Turns * N; ++I)
    Right &= Host[I] == ((I / N + 1) * Rounds - 1) * N + I % N;
  return finish(Right);
}
