// Intent: a graph built node by node that allocates memory, fills it, uses it and frees
// it. In the racy twins a use does not wait for what fills it, or the free not for the
// use.
// RACY: early-use -DRACY -DEARLY_USE
// RACY: early-free -DRACY -DEARLY_FREE
// FIXED: fixed
// UNSEEN: collider metadata: operations in graphs are not checked, and graphs end what is known of the order of launches
#include "../check.h"

constexpr unsigned Threads = 64, Launches = 3;
CONSTANT Scaled<1000000, 30000> Steps;

__global__ void fill(unsigned *Cells) {
  Cells[threadIdx.x] = 1; // RACE: early-use
}

__global__ void add(const unsigned *Cells, unsigned *Sums) {
  Sums[threadIdx.x] += Cells[Threads - 1 - threadIdx.x]; // RACE
}

/// Takes so long that what need not wait for it is done.
__global__ void work(unsigned *Out, unsigned Steps) {
  unsigned X = 1;
  for (unsigned I = 0; I < Steps; ++I)
    X = X * 0x9e3779b9 + (X >> 15);
  *Out = X;
}

static cudaGraphNode_t addKernel(cudaGraph_t Graph, void *Kernel, unsigned Size,
                                 std::vector<void *> Arguments,
                                 std::vector<cudaGraphNode_t> After) {
  cudaKernelNodeParams Params = {};
  Params.func = Kernel;
  Params.gridDim = dim3(1);
  Params.blockDim = dim3(Size);
  Params.kernelParams = Arguments.data();
  cudaGraphNode_t Node;
  CHECK(cudaGraphAddKernelNode(&Node, Graph, After.data(), After.size(), &Params));
  return Node;
}

int main() {
  unsigned *Sums = zeroed<unsigned>(Threads), *Out = zeroed<unsigned>(1);
  unsigned NumSteps = Steps;
  cudaGraph_t Graph;
  CHECK(cudaGraphCreate(&Graph, 0));
  cudaMemAllocNodeParams Memory = {};
  Memory.poolProps.allocType = cudaMemAllocationTypePinned;
  Memory.poolProps.location.type = cudaMemLocationTypeDevice;
  Memory.bytesize = Threads * sizeof(unsigned);
  cudaGraphNode_t Made, Freed;
  CHECK(cudaGraphAddMemAllocNode(&Made, Graph, nullptr, 0, &Memory)); // RACE: early-use
  void *Cells = Memory.dptr;
  cudaGraphNode_t Filled = addKernel(Graph, (void *)fill, Threads, {&Cells}, {Made});
#ifdef EARLY_USE
  // In time the memory is there all the same, or the kernel might fail.
  cudaGraphNode_t Worked = addKernel(Graph, (void *)work, 1, {&Out, &NumSteps}, {});
  cudaGraphNode_t Added = addKernel(Graph, (void *)add, Threads, {&Cells, &Sums}, {Worked});
#else
  cudaGraphNode_t Added = addKernel(Graph, (void *)add, Threads, {&Cells, &Sums}, {Filled});
#endif
#ifdef EARLY_FREE
  (void)Added;
  cudaGraphNode_t Last = addKernel(Graph, (void *)work, 1, {&Out, &NumSteps}, {Filled});
#else
  (void)NumSteps;
  cudaGraphNode_t Last = Added;
#endif
  cudaGraphNode_t Both[] = {Filled, Last};
  CHECK(cudaGraphAddMemFreeNode(&Freed, Graph, Both, 2, Cells)); // RACE: early-free
  cudaGraphExec_t Exec;
  CHECK(cudaGraphInstantiate(&Exec, Graph, 0));
  cudaStream_t Stream;
  CHECK(cudaStreamCreateWithFlags(&Stream, cudaStreamNonBlocking));
  for (unsigned L = 0; L < Launches; ++L)
    CHECK(cudaGraphLaunch(Exec, Stream));
  return finish(matches(Sums, Threads, [](size_t) { return Launches; }));
}
