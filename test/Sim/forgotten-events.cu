// Intent: an event that is destroyed before it is reached still orders whoever waits for
// it; so do the edges of a graph that forks and joins. Without the wait, or the join, there
// is a race.

// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 %s -o %t
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --detector=oracle %t 2>&1 | FileCheck %s --check-prefix=CLEAN
// CLEAN: RIGHT
// CLEAN: SUMMARY: CRSan: no data races found

// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 -DRACY %s -o %t.racy
// RUN: not %crsan run --detector=oracle %t.racy 2>&1 | FileCheck %s --check-prefix=RACY
// RACY: CRSan: data race: race between kernels
// RACY: No stream order, event or host synchronisation orders the two.
// RACY: SUMMARY: CRSan: {{[1-9]}} data race

#include <cstdio>

constexpr unsigned N = 256;

__global__ void fill(unsigned *A, unsigned V) {
  for (unsigned Round = 0; Round < 10; ++Round)
    for (unsigned I = threadIdx.x; I < N; I += blockDim.x)
      A[I] = V + I;
}
__global__ void add(const unsigned *A, const unsigned *B, unsigned *Out) {
  for (unsigned I = threadIdx.x; I < N; I += blockDim.x)
    Out[I] = A[N - 1 - I] + B[N - 1 - I];
}

/// Lets what comes to `After` wait for what is in `Before`.
static void order(cudaStream_t Before, cudaStream_t After) {
  cudaEvent_t Event;
  cudaEventCreateWithFlags(&Event, cudaEventDisableTiming);
  cudaEventRecord(Event, Before);
  cudaStreamWaitEvent(After, Event, 0);
  cudaEventDestroy(Event);
}

/// Two kernels side by side, and one behind both.
static void enqueue(cudaStream_t S, cudaStream_t T, unsigned *A, unsigned *B,
                    unsigned *Out) {
  order(S, T);
  fill<<<1, 64, 0, S>>>(A, 1);
  fill<<<1, 64, 0, T>>>(B, 2);
#ifdef RACY
  add<<<1, 64, 0, S>>>(A, B, Out);
  order(T, S);
#else
  order(T, S);
  add<<<1, 64, 0, S>>>(A, B, Out);
#endif
}

static bool isRight(const unsigned *Out) {
  unsigned Host[N];
  cudaMemcpy(Host, Out, sizeof(Host), cudaMemcpyDeviceToHost);
  for (unsigned I = 0; I < N; ++I)
    if (Host[I] != 3 + 2 * (N - 1 - I))
      return false;
  return true;
}

int main() {
  unsigned *A, *B, *Out;
  for (unsigned **P : {&A, &B, &Out})
    cudaMalloc(P, N * sizeof(unsigned));
  cudaStream_t S, T;
  cudaStreamCreateWithFlags(&S, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&T, cudaStreamNonBlocking);
  for (unsigned Round = 0; Round < 3; ++Round)
    enqueue(S, T, A, B, Out);
  cudaStreamSynchronize(S);
  bool Right = isRight(Out);

  cudaGraph_t Graph;
  cudaGraphExec_t Exec;
  cudaStreamBeginCapture(S, cudaStreamCaptureModeGlobal);
  enqueue(S, T, A, B, Out);
  cudaStreamEndCapture(S, &Graph);
  cudaGraphInstantiate(&Exec, Graph, 0);
  for (unsigned Round = 0; Round < 3; ++Round)
    cudaGraphLaunch(Exec, S);
  cudaStreamSynchronize(S);
  std::puts(Right && isRight(Out) ? "RIGHT" : "WRONG");
  return cudaDeviceSynchronize();
}
