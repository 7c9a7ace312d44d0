// Intent: Table 3, cudaMemcpyAsync (HtoD) RW: a kernel reads the cells that copies on
// another stream write. In the fixed twin events order them.
// Others: SuperCollider finds it, iGUARD and Compute Sanitizer do not.
#include "agents.h"

constexpr unsigned Threads = 64, Blocks = 4, N = Threads * Blocks, Turns = 6;
CONSTANT Scaled<300, 20> Rounds;

__global__ void sum(const unsigned *Cells, unsigned *Sums, unsigned Rounds) {
  const unsigned I = blockIdx.x * Threads + threadIdx.x;
  for (unsigned R = 0; R < Rounds; ++R) {
    Sums[I] += Cells[I]; // RACE
    __syncthreads();
  }
}

int main() {
  cudaStream_t Copier = makeStream(), Worker = makeStream();
  unsigned *Cells = zeroed<unsigned>(N), *Sums = zeroed<unsigned>(N), *Host;
  CHECK(cudaMallocHost(&Host, Turns * N * sizeof(unsigned)));
  for (unsigned I = 0; I < Turns * N; ++I)
    Host[I] = I + 1;
  // A first launch loads the kernel, which may wait for what is running.
  sum<<<Blocks, Threads, 0, Worker>>>(Cells, Sums, 0);
  CHECK(cudaDeviceSynchronize());
  const auto Upload = [&](unsigned Turn) {
    CHECK(cudaMemcpyAsync(Cells, Host + Turn * N, N * sizeof(unsigned), // RACE
                          cudaMemcpyHostToDevice, Copier));
  };
#ifdef RACY
  sum<<<Blocks, Threads, 0, Worker>>>(Cells, Sums, Rounds);
  for (unsigned Turn = 0; isRunning(Worker); ++Turn)
    Upload(Turn % Turns);
#else
  for (unsigned Turn = 0; Turn < Turns; ++Turn) {
    Upload(Turn);
    order(Copier, Worker);
    sum<<<Blocks, Threads, 0, Worker>>>(Cells, Sums, Rounds);
    order(Worker, Copier);
  }
#endif
  return finish(matches(Sums, N, [](size_t I) {
    return unsigned(Rounds * (Turns * (Turns - 1) / 2 * N + Turns * (I + 1)));
  }));
}
