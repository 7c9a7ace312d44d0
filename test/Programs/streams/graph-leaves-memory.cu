// Intent: a graph allocates memory and leaves it to what follows the launch: a kernel on
// another stream. It is freed by a stream, by a node of another graph, or by the next
// launch. The racy twins do not wait for the kernel before.
// RACY: stream -DRACY -DBY_STREAM
// RACY: graph -DRACY -DBY_GRAPH
// RACY: launch -DRACY -DBY_LAUNCH
// FIXED: stream-waits -DBY_STREAM
// FIXED: graph-waits -DBY_GRAPH
// FIXED: launch-waits -DBY_LAUNCH
// UNSEEN: collider metadata: operations in graphs are not checked, and graphs end what is known of the order of launches
#include "busy.h"
#include "streams.h"

constexpr unsigned Threads = 64, Blocks = 4, N = Threads * Blocks, Launches = 3;
CONSTANT Scaled<1000000, 30000> Steps;

__global__ void fill(unsigned *Cells) { Cells[blockIdx.x * Threads + threadIdx.x] = 1; }

__global__ void add(const unsigned *Cells, unsigned *Sums) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  Sums[I] += Cells[N - 1 - I]; // RACE
}

static cudaGraphExec_t endCapture(cudaStream_t Stream, unsigned Flags) {
  cudaGraph_t Graph;
  cudaGraphExec_t Exec;
  CHECK(cudaStreamEndCapture(Stream, &Graph));
  CHECK(cudaGraphInstantiate(&Exec, Graph, Flags));
  return Exec;
}

int main() {
  cudaStream_t Owner = makeStream(), User = makeStream();
  unsigned *Sums = zeroed<unsigned>(N), *Out = zeroed<unsigned>(1);
  unsigned *Cells;
  CHECK(cudaStreamBeginCapture(Owner, cudaStreamCaptureModeRelaxed));
  CHECK(cudaMallocAsync((void **)&Cells, N * sizeof(unsigned), Owner));
  fill<<<Blocks, Threads, 0, Owner>>>(Cells);
#ifdef BY_LAUNCH
  cudaGraphExec_t Allocates = endCapture(Owner, cudaGraphInstantiateFlagAutoFreeOnLaunch);
#else
  cudaGraphExec_t Allocates = endCapture(Owner, 0);
#endif
#ifdef BY_GRAPH
  CHECK(cudaStreamBeginCapture(Owner, cudaStreamCaptureModeRelaxed));
  CHECK(cudaFreeAsync(Cells, Owner)); // RACE: graph
  cudaGraphExec_t Frees = endCapture(Owner, 0);
#endif
  for (unsigned L = 0; L < Launches; ++L) {
    CHECK(cudaGraphLaunch(Allocates, Owner)); // RACE: launch
    order(Owner, User);
    add<<<Blocks, Threads, 0, User>>>(Cells, Sums);
#ifdef RACY
    // In time the kernel has ended all the same, or it might fail.
    work<<<1, 1, 0, Owner>>>(Out, Steps);
#else
    order(User, Owner);
#endif
#ifdef BY_STREAM
    CHECK(cudaFreeAsync(Cells, Owner)); // RACE: stream
#endif
#ifdef BY_GRAPH
    CHECK(cudaGraphLaunch(Frees, Owner));
#endif
  }
#ifdef BY_LAUNCH
  CHECK(cudaFreeAsync(Cells, Owner)); // RACE: launch
#endif
  return finish(matches(Sums, N, [](size_t) { return Launches; }));
}
