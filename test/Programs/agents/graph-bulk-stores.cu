// Intent: a graph is launched again and again. Its kernel reads what bulk copies of other
// blocks stored at the launch before: each of these has waited for its copy and has ended.
// (On hardware all launches of a node have one %gridid.)
// CLEAN-ONLY
// ARCH: sm_90
#include "asynchronous.h"

constexpr unsigned Threads = 32, Blocks = 3000, N = Threads * Blocks;
constexpr unsigned Launches = 3;

__global__ void count(unsigned *Round) { *Round += 1; }

__global__ void reverse(const unsigned *Round, unsigned *Rows) {
  __shared__ alignas(128) unsigned Part[Threads];
  const unsigned R = *Round;
  // Rounds take turns in two halves.
  unsigned *To = Rows + (R & 1) * N, *From = Rows + (~R & 1) * N;
  const unsigned Other = Blocks - 1 - blockIdx.x;
  Part[threadIdx.x] = From[Other * Threads + threadIdx.x] + 1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(To + blockIdx.x * Threads, Part, sizeof(Part));
    commitBulk();
    awaitBulk();
  }
}

int main() {
  unsigned *Rows = zeroed<unsigned>(2 * N), *Round = zeroed<unsigned>(1);
  cudaStream_t S;
  CHECK(cudaStreamCreateWithFlags(&S, cudaStreamNonBlocking));
  cudaGraph_t Graph;
  cudaGraphExec_t Exec;
  CHECK(cudaStreamBeginCapture(S, cudaStreamCaptureModeThreadLocal));
  count<<<1, 1, 0, S>>>(Round);
  reverse<<<Blocks, Threads, 0, S>>>(Round, Rows);
  CHECK(cudaStreamEndCapture(S, &Graph));
  CHECK(cudaGraphInstantiate(&Exec, Graph, 0));
  for (unsigned I = 0; I < Launches; ++I)
    CHECK(cudaGraphLaunch(Exec, S));
  CHECK(cudaStreamSynchronize(S));
  return finish(matches(Rows + (Launches & 1) * N, N,
                        [](size_t) { return Launches; }));
}
