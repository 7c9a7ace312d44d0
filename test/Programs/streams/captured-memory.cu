// Intent: memory that a captured stream allocates and frees, so that nodes of the graph
// do, and that a branch uses in between. The racy twin's free does not wait for the
// branch.
// UNSEEN: collider metadata: operations in graphs are not checked
#include "busy.h"
#include "streams.h"

constexpr unsigned Threads = 64, Blocks = 4, N = Threads * Blocks, Launches = 3;
CONSTANT Scaled<1000000, 30000> Steps;

__global__ void fill(unsigned *Cells) { Cells[blockIdx.x * Threads + threadIdx.x] = 1; }

__global__ void add(const unsigned *Cells, unsigned *Sums) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  Sums[I] += Cells[N - 1 - I]; // RACE
}

int main() {
  cudaStream_t Main = makeStream(), Branch = makeStream();
  unsigned *Sums = zeroed<unsigned>(N), *Out = zeroed<unsigned>(1);
  unsigned *Cells;
  CHECK(cudaStreamBeginCapture(Main, cudaStreamCaptureModeRelaxed));
  CHECK(cudaMallocAsync((void **)&Cells, N * sizeof(unsigned), Main));
  fill<<<Blocks, Threads, 0, Main>>>(Cells);
  order(Main, Branch);
  add<<<Blocks, Threads, 0, Branch>>>(Cells, Sums);
#ifdef RACY
  // In time the kernel has ended all the same, or it might fail.
  work<<<1, 1, 0, Main>>>(Out, Steps);
#else
  order(Branch, Main);
#endif
  CHECK(cudaFreeAsync(Cells, Main)); // RACE
  order(Branch, Main);
  cudaGraph_t Graph;
  cudaGraphExec_t Exec;
  CHECK(cudaStreamEndCapture(Main, &Graph));
  CHECK(cudaGraphInstantiate(&Exec, Graph, 0));
  for (unsigned L = 0; L < Launches; ++L)
    CHECK(cudaGraphLaunch(Exec, Main));
  return finish(matches(Sums, N, [](size_t) { return Launches; }));
}
