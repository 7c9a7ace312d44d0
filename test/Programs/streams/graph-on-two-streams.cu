// Intent: one executable graph is launched on two streams in turn. Its launches come after
// each other all the same. The racy twin launches another instance of the graph on the
// second stream.
// UNSEEN: metadata: graphs end what is known of the order of launches
// UNSEEN: collider: the accesses are short and rare
#include "streams.h"

constexpr unsigned Threads = 64, N = Threads, Launches = 4;

__global__ void rotate(unsigned *Cells, unsigned *Round) {
  unsigned R = *Round; // RACE
  Cells[(threadIdx.x + 7 * R) % N] += R + 1; // RACE
}

__global__ void count(unsigned *Round) { *Round += 1; } // RACE

int main() {
  cudaStream_t Left = makeStream(), Right = makeStream();
  unsigned *Cells = zeroed<unsigned>(N), *Round = zeroed<unsigned>(1);
  cudaGraph_t Graph;
  cudaGraphExec_t Exec, Other;
  CHECK(cudaStreamBeginCapture(Left, cudaStreamCaptureModeRelaxed));
  rotate<<<1, Threads, 0, Left>>>(Cells, Round);
  count<<<1, 1, 0, Left>>>(Round);
  CHECK(cudaStreamEndCapture(Left, &Graph));
  CHECK(cudaGraphInstantiate(&Exec, Graph, 0));
#ifdef RACY
  CHECK(cudaGraphInstantiate(&Other, Graph, 0));
#else
  Other = Exec;
#endif
  for (unsigned L = 0; L < Launches; ++L)
    CHECK(cudaGraphLaunch(L % 2 ? Other : Exec, L % 2 ? Right : Left));
  return finish(matches(Cells, N, [](size_t) { return Launches * (Launches + 1) / 2; }));
}
