// Intent: memory of a graph's nodes is there from a launch that allocates it until it is
// freed, and calls give the errors that they give on an H200. A kernel that uses it
// behind the free fails.

// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 %s -o %t
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --detector=oracle %t 2>&1 | FileCheck %s
// RUN: env CRSAN_OPTIONS=sim_devices=2 %crsan run %t devices | FileCheck %s --check-prefix=DEVICES
// RUN: %crsan run %t many | FileCheck %s --check-prefix=MANY
// RUN: not %crsan run %t late 2>&1 | FileCheck %s --check-prefix=LATE
// RUN: not %crsan run %t misordered 2>&1 | FileCheck %s --check-prefix=MISORDERED

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

constexpr unsigned N = 256, Bytes = N * sizeof(unsigned);

__global__ void fill(unsigned *Cells, unsigned Value) { Cells[threadIdx.x] = Value; }
__global__ void sum(const unsigned *Cells, unsigned *Sum) {
  atomicAdd(Sum, Cells[threadIdx.x]);
}

static void require(cudaError_t Error, int Line) {
  if (Error == cudaSuccess)
    return;
  printf("line %d: %s\n", Line, cudaGetErrorName(Error));
  exit(1);
}
#define OK(Call) require(Call, __LINE__)
static void show(const char *What, cudaError_t Error) {
  printf("%s: %s\n", What, cudaGetErrorName(Error));
  cudaGetLastError();
}
static void check(bool Holds, int Line) {
  if (!Holds)
    printf("line %d is wrong\n", Line);
}
#define CHECK(Condition) check(Condition, __LINE__)

static cudaStream_t S;
static unsigned *Sum;

static cudaMemAllocNodeParams memory(size_t Size, int Device = 0) {
  cudaMemAllocNodeParams Params = {};
  Params.poolProps.allocType = cudaMemAllocationTypePinned;
  Params.poolProps.location.type = cudaMemLocationTypeDevice;
  Params.poolProps.location.id = Device;
  Params.bytesize = Size;
  return Params;
}

static cudaGraph_t makeGraph() {
  cudaGraph_t Graph;
  OK(cudaGraphCreate(&Graph, 0));
  return Graph;
}

static cudaGraphNode_t addFill(cudaGraph_t Graph, void *Cells, unsigned Value,
                               cudaGraphNode_t After) {
  void *Arguments[] = {&Cells, &Value};
  cudaKernelNodeParams Params = {};
  Params.func = (void *)fill;
  Params.gridDim = dim3(1);
  Params.blockDim = dim3(N);
  Params.kernelParams = Arguments;
  cudaGraphNode_t Node;
  OK(cudaGraphAddKernelNode(&Node, Graph, &After, 1, &Params));
  return Node;
}

static unsigned used() {
  unsigned long long Used;
  OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &Used));
  return unsigned(Used);
}

static unsigned summed(const unsigned *Cells) {
  unsigned Result;
  OK(cudaMemsetAsync(Sum, 0, 4, S));
  sum<<<1, N, 0, S>>>(Cells, Sum);
  OK(cudaMemcpyAsync(&Result, Sum, 4, cudaMemcpyDeviceToHost, S));
  OK(cudaStreamSynchronize(S));
  return Result;
}

/// A graph that allocates and does not free.
static void leavesMemory() {
  cudaGraph_t Graph = makeGraph(), Other = makeGraph(), Third = makeGraph();
  cudaGraphNode_t Made, Node;
  cudaGraphExec_t Exec, Again, Frees;
  cudaMemAllocNodeParams Params = memory(Bytes), Told;
  OK(cudaGraphAddMemAllocNode(&Made, Graph, nullptr, 0, &Params));
  unsigned *Cells = static_cast<unsigned *>(Params.dptr);
  addFill(Graph, Cells, 3, Made);
  OK(cudaGraphMemAllocNodeGetParams(Made, &Told));
  CHECK(Told.dptr == Cells && Told.bytesize == Bytes && !Told.accessDescCount);
  // CHECK: before: cudaErrorInvalidValue
  // CHECK-NEXT: before: cudaErrorInvalidValue
  // CHECK-NEXT: before: cudaErrorInvalidValue
  show("before", cudaMemsetAsync(Cells, 0, 4, S));
  show("before", cudaFreeAsync(Cells, S));
  show("before", cudaFree(Cells));
  OK(cudaGraphInstantiate(&Exec, Graph, 0));
  // CHECK-NEXT: twice: cudaErrorNotSupported
  show("twice", cudaGraphInstantiate(&Again, Graph, 0));
  OK(cudaGraphLaunch(Exec, S));
  // CHECK-NEXT: not freed: cudaErrorInvalidValue
  show("not freed", cudaGraphLaunch(Exec, S));
  CHECK(summed(Cells) == 3 * N && used() >= Bytes);
  // CHECK-NEXT: beyond: cudaErrorInvalidValue
  show("beyond", cudaMemsetAsync(Cells, 0, Bytes + 1, S));
  OK(cudaFreeAsync(Cells, S));
  // CHECK-NEXT: freed: cudaErrorInvalidValue
  // CHECK-NEXT: freed: cudaErrorInvalidValue
  // CHECK-NEXT: freed: cudaErrorInvalidValue
  show("freed", cudaFreeAsync(Cells, S));
  show("freed", cudaFree(Cells));
  show("freed", cudaMemsetAsync(Cells, 0, 4, S));
  OK(cudaStreamSynchronize(S));
  // A launch allocates it again; cudaFree() frees it as well.
  OK(cudaGraphLaunch(Exec, S));
  CHECK(summed(Cells) == 3 * N);
  // CHECK-NEXT: inside: cudaErrorInvalidValue
  show("inside", cudaFree(Cells + 1));
  OK(cudaFree(Cells));
  OK(cudaDeviceGraphMemTrim(0));
  CHECK(used() == 0);
  // It outlives what has allocated it.
  OK(cudaGraphLaunch(Exec, S));
  OK(cudaGraphExecDestroy(Exec));
  OK(cudaGraphInstantiate(&Exec, Graph, 0));
  // CHECK-NEXT: of another: cudaErrorInvalidValue
  show("of another", cudaGraphLaunch(Exec, S));
  OK(cudaGraphExecDestroy(Exec));
  OK(cudaGraphInstantiate(&Exec, Graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  OK(cudaGraphLaunch(Exec, S));
  OK(cudaGraphLaunch(Exec, S));
  CHECK(summed(Cells) == 3 * N);
  // Another graph frees it.
  OK(cudaGraphAddMemFreeNode(&Node, Other, nullptr, 0, Cells));
  void *Freed;
  OK(cudaGraphMemFreeNodeGetParams(Node, &Freed));
  CHECK(Freed == Cells);
  // CHECK-NEXT: twice in a graph: cudaErrorInvalidValue
  show("twice in a graph", cudaGraphAddMemFreeNode(&Node, Other, nullptr, 0, Cells));
  OK(cudaGraphAddMemFreeNode(&Node, Third, nullptr, 0, Cells));
  // CHECK-NEXT: of others: cudaErrorInvalidValue
  show("of others", cudaGraphAddMemFreeNode(&Node, Graph, &Made, 1, Cells));
  OK(cudaGraphInstantiate(&Frees, Other, 0));
  // CHECK-NEXT: twice: cudaErrorNotSupported
  show("twice", cudaGraphInstantiate(&Again, Other, 0));
  OK(cudaGraphLaunch(Frees, S));
  // CHECK-NEXT: twice freed: cudaErrorInvalidValue
  show("twice freed", cudaGraphLaunch(Frees, S));
  OK(cudaGraphLaunch(Exec, S));
  OK(cudaGraphDestroy(Graph));
  OK(cudaGraphExecDestroy(Exec));
  CHECK(summed(Cells) == 3 * N);
  OK(cudaGraphLaunch(Frees, S));
  OK(cudaStreamSynchronize(S));
  // CHECK-NEXT: gone: cudaErrorInvalidValue
  show("gone", cudaFree(Cells));
  OK(cudaGraphExecDestroy(Frees));
  OK(cudaGraphDestroy(Other));
  OK(cudaGraphDestroy(Third));
}

/// A graph that frees what it allocates.
static void keepsMemory() {
  cudaGraph_t Graph = makeGraph(), Other = makeGraph();
  cudaGraphNode_t Made, Filled, Node;
  cudaGraphExec_t Exec;
  cudaMemAllocNodeParams Params = memory(Bytes);
  OK(cudaGraphAddMemAllocNode(&Made, Graph, nullptr, 0, &Params));
  void *Cells = Params.dptr, *Plain, *Pooled;
  Filled = addFill(Graph, Cells, 3, Made);
  OK(cudaMalloc(&Plain, 64));
  OK(cudaMallocAsync(&Pooled, 64, S));
  // CHECK-NEXT: inside: cudaErrorInvalidValue
  // CHECK-NEXT: plain: cudaErrorInvalidValue
  // CHECK-NEXT: pooled: cudaErrorInvalidValue
  // CHECK-NEXT: null: cudaErrorInvalidValue
  show("inside", cudaGraphAddMemFreeNode(&Node, Graph, &Filled, 1, (char *)Cells + 4));
  show("plain", cudaGraphAddMemFreeNode(&Node, Graph, &Filled, 1, Plain));
  show("pooled", cudaGraphAddMemFreeNode(&Node, Graph, &Filled, 1, Pooled));
  show("null", cudaGraphAddMemFreeNode(&Node, Graph, &Filled, 1, nullptr));
  OK(cudaGraphAddMemFreeNode(&Node, Graph, &Filled, 1, Cells));
  // CHECK-NEXT: again: cudaErrorInvalidValue
  // CHECK-NEXT: elsewhere: cudaErrorInvalidValue
  show("again", cudaGraphAddMemFreeNode(&Node, Graph, &Filled, 1, Cells));
  show("elsewhere", cudaGraphAddMemFreeNode(&Node, Other, nullptr, 0, Cells));
  OK(cudaGraphInstantiate(&Exec, Graph, 0));
  OK(cudaGraphLaunch(Exec, S));
  OK(cudaGraphLaunch(Exec, S));
  // CHECK-NEXT: its own: cudaErrorInvalidValue
  // CHECK-NEXT: its own: cudaErrorInvalidValue
  show("its own", cudaFreeAsync(Cells, S));
  show("its own", cudaFree(Cells));
  OK(cudaGraphDestroy(Graph));
  OK(cudaGraphLaunch(Exec, S));
  OK(cudaGraphExecDestroy(Exec));
  OK(cudaStreamSynchronize(S));
  // CHECK-NEXT: not a free: cudaErrorInvalidValue
  OK(cudaGraphAddEmptyNode(&Node, Other, nullptr, 0));
  show("not a free", cudaGraphMemFreeNodeGetParams(Node, &Plain));
  OK(cudaGraphDestroy(Other));
  OK(cudaFreeAsync(Pooled, S));
}

static void parameters() {
  cudaGraph_t Graph = makeGraph();
  cudaGraphNode_t Node;
  // CHECK-NEXT: empty: cudaErrorInvalidValue
  // CHECK-NEXT: nowhere: cudaErrorInvalidValue
  // CHECK-NEXT: shared: cudaErrorNotSupported
  // CHECK-NEXT: large: cudaErrorMemoryAllocation
  cudaMemAllocNodeParams Params = memory(0);
  show("empty", cudaGraphAddMemAllocNode(&Node, Graph, nullptr, 0, &Params));
  Params = memory(Bytes, 77);
  show("nowhere", cudaGraphAddMemAllocNode(&Node, Graph, nullptr, 0, &Params));
  Params = memory(Bytes);
  Params.poolProps.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  show("shared", cudaGraphAddMemAllocNode(&Node, Graph, nullptr, 0, &Params));
  Params = memory(size_t(1) << 50);
  show("large", cudaGraphAddMemAllocNode(&Node, Graph, nullptr, 0, &Params));
  size_t Count = 0;
  OK(cudaGraphGetNodes(Graph, nullptr, &Count));
  CHECK(Count == 0);
  // CHECK-NEXT: to one: cudaErrorInvalidValue
  // CHECK-NEXT: not high: cudaErrorInvalidValue
  unsigned long long Zero = 0, One = 1;
  OK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &Zero));
  show("to one", cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &One));
  show("not high",
       cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &Zero));
  OK(cudaGraphDestroy(Graph));
}

/// The same nodes by the function that adds any.
static void anyNode() {
  cudaGraph_t Graph = makeGraph();
  cudaGraphNode_t Made, Set, Filled, Freed;
  cudaGraphExec_t Exec;
  cudaGraphNodeParams Params = {};
  Params.type = cudaGraphNodeTypeMemAlloc;
  Params.alloc.poolProps = memory(0).poolProps;
  Params.alloc.bytesize = Bytes;
  OK(cudaGraphAddNode(&Made, Graph, nullptr, nullptr, 0, &Params));
  unsigned *Cells = static_cast<unsigned *>(Params.alloc.dptr), *Kept, Value = 5;
  OK(cudaMalloc((void **)&Kept, Bytes));
  void *Arguments[] = {&Cells, &Value};
  Params = {};
  Params.type = cudaGraphNodeTypeMemset;
  Params.memset.dst = Cells;
  Params.memset.elementSize = 4;
  Params.memset.width = N;
  Params.memset.height = 1;
  OK(cudaGraphAddNode(&Set, Graph, &Made, nullptr, 1, &Params));
  Params = {};
  Params.type = cudaGraphNodeTypeKernel;
  Params.kernel.func = (void *)fill;
  Params.kernel.gridDim = dim3(1);
  Params.kernel.blockDim = dim3(N);
  Params.kernel.kernelParams = Arguments;
  const cudaGraphEdgeData Edge = {};
  OK(cudaGraphAddNode(&Filled, Graph, &Set, &Edge, 1, &Params));
  cudaGraphNode_t Copied;
  Params = {};
  Params.type = cudaGraphNodeTypeMemcpy;
  Params.memcpy.copyParams.srcPtr.ptr = Cells;
  Params.memcpy.copyParams.dstPtr.ptr = Kept;
  Params.memcpy.copyParams.extent = {Bytes, 1, 1};
  Params.memcpy.copyParams.kind = cudaMemcpyDeviceToDevice;
  OK(cudaGraphAddNode(&Copied, Graph, &Filled, nullptr, 1, &Params));
  Params = {};
  Params.type = cudaGraphNodeTypeMemFree;
  Params.free.dptr = Cells;
  OK(cudaGraphAddNode(&Freed, Graph, &Copied, nullptr, 1, &Params));
  // CHECK-NEXT: any again: cudaErrorInvalidValue
  show("any again", cudaGraphAddNode(&Freed, Graph, &Copied, nullptr, 1, &Params));
  OK(cudaGraphInstantiate(&Exec, Graph, 0));
  OK(cudaGraphLaunch(Exec, S));
  OK(cudaGraphLaunch(Exec, S));
  CHECK(summed(Kept) == 5 * N);
  OK(cudaGraphExecDestroy(Exec));
  OK(cudaGraphDestroy(Graph));
  OK(cudaFree(Kept));
}

static cudaGraphExec_t endCapture() {
  cudaGraph_t Graph;
  cudaGraphExec_t Exec;
  OK(cudaStreamEndCapture(S, &Graph));
  OK(cudaGraphInstantiate(&Exec, Graph, 0));
  OK(cudaGraphDestroy(Graph));
  return Exec;
}

static void captured() {
  void *Pooled, *None;
  unsigned *Cells, *More;
  cudaMemPool_t Pool;
  OK(cudaDeviceGetDefaultMemPool(&Pool, 0));
  OK(cudaMallocAsync(&Pooled, 64, S));
  OK(cudaStreamBeginCapture(S, cudaStreamCaptureModeRelaxed));
  OK(cudaMallocAsync((void **)&Cells, Bytes, S));
  OK(cudaMallocFromPoolAsync((void **)&More, Bytes, Pool, S));
  OK(cudaMallocAsync(&None, 0, S));
  CHECK(!None);
  OK(cudaMemsetAsync(Cells, 1, Bytes, S));
  OK(cudaMemcpyAsync(More, Cells, Bytes, cudaMemcpyDeviceToDevice, S));
  // CHECK-NEXT: not of a graph: cudaErrorInvalidValue
  show("not of a graph", cudaFreeAsync(Pooled, S));
  OK(cudaFreeAsync(Cells, S));
  // CHECK-NEXT: twice captured: cudaErrorInvalidValue
  show("twice captured", cudaFreeAsync(Cells, S));
  cudaGraphExec_t Exec = endCapture();
  OK(cudaGraphLaunch(Exec, S));
  CHECK(summed(More) == 0x01010101u * N);
  OK(cudaFreeAsync(More, S));
  OK(cudaGraphLaunch(Exec, S));
  OK(cudaFreeAsync(More, S));
  OK(cudaGraphExecDestroy(Exec));
  OK(cudaFreeAsync(Pooled, S));
  OK(cudaStreamSynchronize(S));
}

/// Many graphs, one after the other: addresses are given back.
static void many() {
  for (unsigned I = 0; I < 100; ++I) {
    void *Cells;
    OK(cudaStreamBeginCapture(S, cudaStreamCaptureModeRelaxed));
    OK(cudaMallocAsync(&Cells, size_t(1) << 30, S));
    fill<<<1, N, 0, S>>>(static_cast<unsigned *>(Cells), 1);
    OK(cudaFreeAsync(Cells, S));
    cudaGraphExec_t Exec = endCapture();
    OK(cudaGraphLaunch(Exec, S));
    OK(cudaStreamSynchronize(S));
    OK(cudaGraphExecDestroy(Exec));
  }
  // MANY: done
}

/// A graph on one device allocates memory of another one.
static void devices() {
  cudaGraph_t Graph = makeGraph();
  cudaGraphNode_t Made;
  cudaGraphExec_t Exec;
  cudaMemAccessDesc Here = {};
  Here.location.type = cudaMemLocationTypeDevice;
  Here.flags = cudaMemAccessFlagsProtReadWrite;
  cudaMemAllocNodeParams Params = memory(Bytes, 1), Told;
  Params.accessDescs = &Here;
  Params.accessDescCount = 1;
  OK(cudaGraphAddMemAllocNode(&Made, Graph, nullptr, 0, &Params));
  OK(cudaGraphMemAllocNodeGetParams(Made, &Told));
  CHECK(Told.accessDescCount == 1 && Told.accessDescs[0].location.id == 0);
  addFill(Graph, Params.dptr, 3, Made);
  OK(cudaGraphInstantiate(&Exec, Graph, 0));
  OK(cudaGraphLaunch(Exec, S));
  // DEVICES: 768
  // DEVICES-NEXT: done
  printf("%u\n", summed(static_cast<unsigned *>(Params.dptr)));
  OK(cudaFree(Params.dptr));
}

/// A kernel behind the free.
static void late() {
  unsigned *Cells;
  OK(cudaStreamBeginCapture(S, cudaStreamCaptureModeRelaxed));
  OK(cudaMallocAsync((void **)&Cells, Bytes, S));
  OK(cudaFreeAsync(Cells, S));
  fill<<<1, N, 0, S>>>(Cells, 3);
  OK(cudaGraphLaunch(endCapture(), S));
  // LATE: CRSan: kernel fault: {{.*}}
  // LATE: late: cudaErrorIllegalAddress
  show("late", cudaStreamSynchronize(S));
}

/// A free in front of its allocation.
static void misordered() {
  cudaGraph_t Graph = makeGraph();
  cudaGraphNode_t Made, Freed;
  cudaGraphExec_t Exec;
  cudaMemAllocNodeParams Params = memory(Bytes);
  OK(cudaGraphAddMemAllocNode(&Made, Graph, nullptr, 0, &Params));
  OK(cudaGraphAddMemFreeNode(&Freed, Graph, nullptr, 0, Params.dptr));
  OK(cudaGraphAddDependencies(Graph, &Freed, &Made, nullptr, 1));
  OK(cudaGraphInstantiate(&Exec, Graph, 0));
  OK(cudaGraphLaunch(Exec, S));
  // MISORDERED: misordered: cudaErrorLaunchFailure
  show("misordered", cudaStreamSynchronize(S));
}

/// A reset takes the memory, too.
static void reset() {
  unsigned *Cells;
  OK(cudaStreamBeginCapture(S, cudaStreamCaptureModeRelaxed));
  OK(cudaMallocAsync((void **)&Cells, Bytes, S));
  fill<<<1, N, 0, S>>>(Cells, 3);
  cudaGraphExec_t Exec = endCapture();
  OK(cudaGraphLaunch(Exec, S));
  OK(cudaStreamSynchronize(S));
  OK(cudaDeviceReset());
  CHECK(used() == 0);
  // CHECK-NEXT: reset: cudaErrorInvalidValue
  show("reset", cudaFree(Cells));
}

int main(int Count, char **Arguments) {
  OK(cudaStreamCreateWithFlags(&S, cudaStreamNonBlocking));
  OK(cudaMalloc(&Sum, 4));
  const char *What = Count > 1 ? Arguments[1] : "";
  if (!strcmp(What, "devices")) {
    devices();
  } else if (!strcmp(What, "many")) {
    many();
  } else if (!strcmp(What, "late")) {
    late();
  } else if (!strcmp(What, "misordered")) {
    misordered();
  } else {
    leavesMemory();
    keepsMemory();
    parameters();
    anyNode();
    captured();
    reset();
  }
  // CHECK-NEXT: done
  // CHECK: SUMMARY: CRSan: no data races found
  printf("done\n");
  return 0;
}
