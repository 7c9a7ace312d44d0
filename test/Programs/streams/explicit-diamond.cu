// Intent: a graph built node by node: a fill, two kernels side by side, and one that
// depends on both. In the racy twin it depends on one of them.
// UNSEEN: metadata: graphs end what is known of the order of launches
#include "../check.h"

constexpr unsigned Threads = 64, Launches = 3;

__global__ void setLeft(unsigned *Cells) {
  Cells[threadIdx.x] += 1;
}

__global__ void setRight(unsigned *Cells) {
  Cells[Threads + threadIdx.x] += 2; // RACE
}

__global__ void add(unsigned *Cells, unsigned *Sums) {
  Sums[threadIdx.x] += Cells[threadIdx.x] + Cells[2 * Threads - 1 - threadIdx.x]; // RACE
}

static cudaGraphNode_t addKernel(cudaGraph_t Graph, void *Kernel, void **Arguments,
                                 std::vector<cudaGraphNode_t> After) {
  cudaKernelNodeParams Params = {};
  Params.func = Kernel;
  Params.gridDim = dim3(1);
  Params.blockDim = dim3(Threads);
  Params.kernelParams = Arguments;
  cudaGraphNode_t Node;
  CHECK(cudaGraphAddKernelNode(&Node, Graph, After.data(), After.size(), &Params));
  return Node;
}

int main() {
  unsigned *Cells = zeroed<unsigned>(2 * Threads), *Sums = zeroed<unsigned>(Threads);
  void *Arguments[] = {&Cells, &Sums};
  cudaGraph_t Graph;
  CHECK(cudaGraphCreate(&Graph, 0));
  cudaMemsetParams Fill = {};
  Fill.dst = Cells;
  Fill.elementSize = 1;
  Fill.width = 2 * Threads * sizeof(unsigned);
  Fill.height = 1;
  cudaGraphNode_t Filled;
  CHECK(cudaGraphAddMemsetNode(&Filled, Graph, nullptr, 0, &Fill));
  cudaGraphNode_t Left = addKernel(Graph, (void *)setLeft, Arguments, {Filled});
  cudaGraphNode_t Right = addKernel(Graph, (void *)setRight, Arguments, {Filled});
#ifdef RACY
  (void)Right;
  addKernel(Graph, (void *)add, Arguments, {Left});
#else
  addKernel(Graph, (void *)add, Arguments, {Left, Right});
#endif
  cudaGraphExec_t Exec;
  CHECK(cudaGraphInstantiate(&Exec, Graph, 0));
  cudaStream_t Stream;
  CHECK(cudaStreamCreateWithFlags(&Stream, cudaStreamNonBlocking));
  for (unsigned L = 0; L < Launches; ++L)
    CHECK(cudaGraphLaunch(Exec, Stream));
  return finish(matches(Sums, Threads, [](size_t) { return 3 * Launches; }));
}
