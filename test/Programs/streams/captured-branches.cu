// Intent: a graph captured from two streams: a branch leaves the first stream behind a
// kernel and comes back. In the racy twin it leaves in front of that kernel.
// UNSEEN: metadata: graphs end what is known of the order of launches
#include "streams.h"

constexpr unsigned Threads = 64, Blocks = 2, N = Threads * Blocks, Launches = 3;

__global__ void make(unsigned *Cells) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  Cells[I] += I; // RACE
}

__global__ void derive(const unsigned *Cells, unsigned *More) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  More[I] = 2 * Cells[N - 1 - I]; // RACE
}

__global__ void combine(unsigned *Cells, const unsigned *More) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  Cells[I] += More[I]; // RACE
}

int main() {
  cudaStream_t Main = makeStream(), Branch = makeStream();
  unsigned *Cells = zeroed<unsigned>(N), *More = zeroed<unsigned>(N);
  CHECK(cudaStreamBeginCapture(Main, cudaStreamCaptureModeRelaxed));
#ifdef RACY
  order(Main, Branch);
  make<<<Blocks, Threads, 0, Main>>>(Cells);
#else
  make<<<Blocks, Threads, 0, Main>>>(Cells);
  order(Main, Branch);
#endif
  derive<<<Blocks, Threads, 0, Branch>>>(Cells, More);
  order(Branch, Main);
  combine<<<Blocks, Threads, 0, Main>>>(Cells, More);
  cudaGraph_t Graph;
  cudaGraphExec_t Exec;
  CHECK(cudaStreamEndCapture(Main, &Graph));
  CHECK(cudaGraphInstantiate(&Exec, Graph, 0));
  std::vector<unsigned> Want(N), Before;
  for (unsigned L = 0; L < Launches; ++L) {
    CHECK(cudaGraphLaunch(Exec, Main));
    for (unsigned I = 0; I < N; ++I)
      Want[I] += I;
    Before = Want;
    for (unsigned I = 0; I < N; ++I)
      Want[I] += 2 * Before[N - 1 - I];
  }
  return finish(matches(Cells, N, [&](size_t I) { return Want[I]; }));
}
