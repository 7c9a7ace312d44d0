// Intent: the runtime API on the simulated GPU gives the results and the errors that
// CUDA's gives: memory, copies, symbols, launches, streams, events, functions.

// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 %s -o %t
// RUN: %crsan run %t | FileCheck %s

#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

__device__ int Table[4];
__constant__ int Constants[4];

__global__ void add(int *Out, const int *In, int N) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < N)
    Out[I] = In[I] + Table[I & 3] + Constants[I & 3];
}
__global__ void fillWith(char *Out, char Value, double Scale, short N) {
  if (threadIdx.x < N)
    Out[threadIdx.x] = char(Value * Scale);
}
__global__ void __launch_bounds__(128) bounded(int *P) { P[threadIdx.x] = 1; }
__global__ void sum(int *Out) {
  extern __shared__ int Shared[];
  Shared[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    int S = 0;
    for (unsigned I = 0; I < blockDim.x; ++I)
      S += Shared[I];
    *Out = S;
  }
}

#define SHOW(Call) printf("%s\n", cudaGetErrorName(Call))
static void check(bool Ok, int Line) {
  if (!Ok)
    printf("line %d is wrong\n", Line);
}
#define CHECK(Condition) check(Condition, __LINE__)

static void memory() {
  constexpr int N = 1000;
  std::vector<int> In(N), Out(N);
  for (int I = 0; I < N; ++I)
    In[I] = I;
  int *A, *B, Four[4] = {1, 2, 3, 4}, Back[4];
  CHECK(cudaMalloc(&A, N * 4) == cudaSuccess);
  CHECK(cudaMalloc(&B, N * 4) == cudaSuccess);
  CHECK(cudaMemcpy(A, In.data(), N * 4, cudaMemcpyHostToDevice) == 0);
  CHECK(cudaMemcpyToSymbol(Table, Four, 16) == 0);
  CHECK(cudaMemcpyToSymbol(Constants, Four, 16) == 0);
  CHECK(cudaMemcpyFromSymbol(Back, Constants, 8, 8) == 0);
  CHECK(Back[0] == 3 && Back[1] == 4);
  add<<<8, 128>>>(B, A, N);
  CHECK(cudaMemcpy(Out.data(), B, N * 4, cudaMemcpyDeviceToHost) == 0);
  for (int I = 0; I < N; ++I)
    CHECK(Out[I] == I + 2 * ((I & 3) + 1));

  char *Bytes, Text[12];
  CHECK(cudaMallocManaged(&Bytes, 64) == 0);
  CHECK(cudaMemset(Bytes, 'z', 64) == 0);
  fillWith<<<1, 32>>>(Bytes, 'a', 1.0, 11);
  CHECK(cudaDeviceSynchronize() == 0);
  CHECK(Bytes[0] == 'a' && Bytes[10] == 'a' && Bytes[11] == 'z');
  // 3 rows of 4 bytes out of a plane with a pitch of 8.
  CHECK(cudaMemcpy2D(Text, 4, Bytes, 8, 4, 3, cudaMemcpyDefault) == 0);
  CHECK(memcmp(Text, "aaaaaaazzzzz", 4) == 0 && Text[11] == 'z');
  cudaPointerAttributes Where;
  CHECK(cudaPointerGetAttributes(&Where, Bytes + 5) == 0);
  CHECK(Where.type == cudaMemoryTypeManaged && Where.devicePointer == Bytes + 5);
  CHECK(cudaPointerGetAttributes(&Where, Back) == 0);
  CHECK(Where.type == cudaMemoryTypeUnregistered);
  CHECK(cudaFree(A) == 0 && cudaFree(B) == 0 && cudaFree(Bytes) == 0);
}

static void errors() {
  int *P, Host[4];
  void *Nothing;
  CHECK(cudaMalloc(&P, 1024) == 0);
  // CHECK: cudaErrorMemoryAllocation
  // CHECK-NEXT: cudaErrorMemoryAllocation
  // CHECK-NEXT: cudaSuccess
  SHOW(cudaMalloc(&Nothing, size_t(1) << 60));
  SHOW(cudaGetLastError());
  SHOW(cudaGetLastError());
  // CHECK-NEXT: cudaErrorInvalidValue
  // CHECK-NEXT: cudaErrorInvalidValue
  // CHECK-NEXT: cudaErrorInvalidValue
  SHOW(cudaMemcpy(P, nullptr, 8, cudaMemcpyHostToDevice));
  SHOW(cudaMemset(P, 0, 1025));
  SHOW(cudaFree(P + 1));
  // CHECK-NEXT: cudaErrorInvalidSymbol
  SHOW(cudaGetSymbolAddress(&Nothing, Host));
  cudaGetLastError();
  // CHECK-NEXT: cudaErrorInvalidConfiguration
  // CHECK-NEXT: cudaErrorInvalidConfiguration
  // CHECK-NEXT: cudaErrorInvalidValue
  bounded<<<1, 1025>>>(P);
  SHOW(cudaGetLastError());
  bounded<<<0, 1>>>(P);
  SHOW(cudaGetLastError());
  sum<<<1, 32, 48 * 1024 + 4>>>(P);
  SHOW(cudaGetLastError());
  CHECK(cudaFuncSetAttribute(sum, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             100000) == 0);
  sum<<<1, 32, 100000>>>(P);
  CHECK(cudaMemcpy(Host, P, 4, cudaMemcpyDefault) == 0 && Host[0] == 496);
  // CHECK-NEXT: cudaErrorCooperativeLaunchTooLarge
  void *Arguments[] = {&P};
  SHOW(cudaLaunchCooperativeKernel((void *)sum, 1 << 20, 1024, Arguments, 4096,
                                   0));
  cudaGetLastError();
  CHECK(cudaFree(P) == 0);
}

static void append(void *Text) { strcat((char *)Text, "host "); }

static void streams() {
  int *P, *Pinned;
  char Text[64] = "";
  cudaStream_t A, B;
  cudaEvent_t Begin, End;
  CHECK(cudaMalloc(&P, 4) == 0 && cudaMallocHost(&Pinned, 4) == 0);
  CHECK(cudaStreamCreate(&A) == 0);
  CHECK(cudaStreamCreateWithFlags(&B, cudaStreamNonBlocking) == 0);
  CHECK(cudaEventCreate(&Begin) == 0 && cudaEventCreate(&End) == 0);
  CHECK(cudaEventRecord(Begin, A) == 0);
  sum<<<1, 64, 256, A>>>(P);
  CHECK(cudaStreamQuery(A) == cudaErrorNotReady);
  cudaGetLastError();
  CHECK(cudaEventRecord(End, A) == 0);
  CHECK(cudaStreamWaitEvent(B, End, 0) == 0);
  CHECK(cudaMemcpyAsync(Pinned, P, 4, cudaMemcpyDeviceToHost, B) == 0);
  CHECK(cudaLaunchHostFunc(B, append, Text) == 0);
  CHECK(cudaStreamSynchronize(B) == 0);
  CHECK(*Pinned == 2016 && strcmp(Text, "host ") == 0);
  float Ms = -1;
  CHECK(cudaEventSynchronize(End) == 0);
  CHECK(cudaEventElapsedTime(&Ms, Begin, End) == 0 && Ms > 0);
  while (cudaStreamQuery(A) == cudaErrorNotReady) {
  }
  void *Pooled;
  CHECK(cudaMallocAsync(&Pooled, 100, A) == 0);
  CHECK(cudaMemsetAsync(Pooled, 0, 100, A) == 0 && cudaFreeAsync(Pooled, A) == 0);
  CHECK(cudaStreamDestroy(A) == 0 && cudaStreamDestroy(B) == 0);
}

static void graphs() {
  int *P, Host = 0;
  cudaStream_t S, Other;
  cudaEvent_t Fork, Join;
  cudaGraph_t G;
  cudaGraphExec_t Exec;
  CHECK(cudaMalloc(&P, 8) == 0);
  cudaStreamCreate(&S), cudaStreamCreate(&Other);
  cudaEventCreate(&Fork), cudaEventCreate(&Join);
  CHECK(cudaStreamBeginCapture(S, cudaStreamCaptureModeGlobal) == 0);
  CHECK(cudaEventRecord(Fork, S) == 0 &&
        cudaStreamWaitEvent(Other, Fork, 0) == 0);
  sum<<<1, 32, 128, S>>>(P);
  sum<<<1, 64, 256, Other>>>(P + 1);
  CHECK(cudaEventRecord(Join, Other) == 0 &&
        cudaStreamWaitEvent(S, Join, 0) == 0);
  CHECK(cudaStreamEndCapture(S, &G) == 0);
  size_t Nodes = 0;
  CHECK(cudaGraphGetNodes(G, nullptr, &Nodes) == 0 && Nodes == 2);
  CHECK(cudaGraphInstantiate(&Exec, G, 0) == 0);
  CHECK(cudaMemcpy(&Host, P, 4, cudaMemcpyDefault) == 0 && Host != 496);
  CHECK(cudaGraphLaunch(Exec, S) == 0 && cudaStreamSynchronize(S) == 0);
  CHECK(cudaMemcpy(&Host, P, 4, cudaMemcpyDefault) == 0 && Host == 496);
  CHECK(cudaMemcpy(&Host, P + 1, 4, cudaMemcpyDefault) == 0 && Host == 2016);
  CHECK(cudaGraphExecDestroy(Exec) == 0 && cudaGraphDestroy(G) == 0);
}

int main() {
  memory();
  errors();
  streams();
  graphs();
  cudaDeviceProp Prop;
  CHECK(cudaGetDeviceProperties(&Prop, 0) == 0);
  // CHECK-NEXT: CRSan simulated GPU 9.0
  printf("%s %d.%d\n", Prop.name, Prop.major, Prop.minor);
  cudaFuncAttributes Function;
  CHECK(cudaFuncGetAttributes(&Function, bounded) == 0);
  CHECK(Function.maxThreadsPerBlock == 128);
  // CHECK-NEXT: cudaSuccess
  SHOW(cudaDeviceSynchronize());
  // CHECK-NOT: wrong
}
