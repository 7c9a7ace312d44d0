// Intent: a kernel uses what another one made, and the two are so short that they
// never run at the same time. Whether streams, events and the host order them is all
// that counts.
// RACY: nothing
// FIXED: event -DEVENT
// RACY: event-too-early -DEVENT_TOO_EARLY
// RACY: event-recorded-again -DEVENT_RECORDED_AGAIN
// FIXED: third-stream-relays -DRELAY
// RACY: third-stream-alone -DRELAY -DRELAY_FROM_START
// FIXED: stream-synchronised -DSYNCHRONISE
// FIXED: stream-polled -DPOLL
// FIXED: event-polled -DPOLL_EVENT
// RACY: two-blocking-streams -DBLOCKING
// FIXED: blocking-and-legacy -DBLOCKING -DLEGACY
// RACY: legacy-and-other -DLEGACY
// FIXED: thread-knows -DTHREAD
// FIXED: host-function -DHOST_FUNCTION
// FIXED: copied-and-polled -DCOPIED
// FIXED: another-kernel-tells -DTELL
// FIXED: freed-between -DFREED
// FIXED: stream-ordered-memory -DASYNC
// FIXED: graph -DGRAPH
// RACY: many-streams -DMANY=24
// FIXED: too-many-streams -DMANY=48 -DSYNCHRONISE
// UNSEEN: collider: no value changes while a check looks at it
// UNSEEN: oracle (event-recorded-again): of two records of an event, a wait gets the one that ran last
#include "../check.h"

#include <atomic>
#include <thread>

constexpr unsigned Threads = 64, Blocks = 2, N = Threads * Blocks;

__global__ void produce(unsigned *Cells) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  Cells[I] = I + 1; // RACE
}

__global__ void consume(const unsigned *Cells, unsigned *Out) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  Out[I] = Cells[(I + Threads) % N]; // RACE
}

/// Of no interest to anybody.
__global__ void nothing(unsigned *Own) { Own[threadIdx.x] = threadIdx.x; }

#ifdef TELL
/// Comes after the kernel that produced, and tells the host so.
__global__ void tell(unsigned *Host) {
  __threadfence_system();
  *(volatile unsigned *)Host = 1;
}
#endif

static cudaStream_t makeStream() {
  cudaStream_t Stream;
  CHECK(cudaStreamCreateWithFlags(&Stream, cudaStreamNonBlocking));
  return Stream;
}

static cudaEvent_t makeEvent() {
  cudaEvent_t Event;
  CHECK(cudaEventCreateWithFlags(&Event, cudaEventDisableTiming));
  return Event;
}

/// What was launched will have ended, but nobody waits for it who may say so.
static void letItEnd(cudaStream_t Idle, unsigned *Own) {
  for (unsigned I = 0; I < 20; ++I) {
    nothing<<<1, Threads, 0, Idle>>>(Own);
    CHECK(cudaStreamSynchronize(Idle));
  }
}

#ifdef HOST_FUNCTION
static std::atomic<bool> IsProduced{false};
#endif

int main() {
  unsigned *Cells = zeroed<unsigned>(N), *Out = zeroed<unsigned>(N);
  unsigned *Own = zeroed<unsigned>(3 * Threads);
  cudaStream_t Producer = makeStream(), Consumer = makeStream();
  cudaStream_t Idle = makeStream();
  cudaEvent_t Produced = makeEvent();
  volatile unsigned *Host;
  CHECK(cudaMallocHost((void **)&Host, sizeof(unsigned)));
  *Host = 0;
  // Loads the kernels, which may wait for what is running.
  produce<<<Blocks, Threads, 0, Producer>>>(Cells);
  consume<<<Blocks, Threads, 0, Producer>>>(Cells, Out);
  nothing<<<1, Threads, 0, Producer>>>(Own);
  CHECK(cudaDeviceSynchronize());
#ifdef BLOCKING
  CHECK(cudaStreamCreate(&Producer));
  CHECK(cudaStreamCreate(&Consumer));
#endif
#ifdef LEGACY
  Consumer = nullptr;
#elif defined(MANY)
  for (unsigned I = 0; I < MANY; ++I)
    nothing<<<1, 1, 0, makeStream()>>>(Own + Threads + I);
#endif
#ifdef EVENT_TOO_EARLY
  nothing<<<1, Threads, 0, Producer>>>(Own + 2 * Threads);
  CHECK(cudaEventRecord(Produced, Producer));
#endif
#ifdef GRAPH
  cudaGraph_t Graph;
  cudaGraphExec_t Exec;
  CHECK(cudaStreamBeginCapture(Consumer, cudaStreamCaptureModeGlobal));
  produce<<<Blocks, Threads, 0, Consumer>>>(Cells);
  CHECK(cudaStreamEndCapture(Consumer, &Graph));
  CHECK(cudaGraphInstantiate(&Exec, Graph, 0));
  CHECK(cudaGraphLaunch(Exec, Consumer));
  CHECK(cudaGraphLaunch(Exec, Consumer));
#elif defined(THREAD)
  std::thread([&] {
    produce<<<Blocks, Threads, 0, Producer>>>(Cells);
    CHECK(cudaStreamSynchronize(Producer));
  }).join();
#else
  produce<<<Blocks, Threads, 0, Producer>>>(Cells);
#endif
#if defined(EVENT)
  CHECK(cudaEventRecord(Produced, Producer));
  CHECK(cudaStreamWaitEvent(Consumer, Produced));
#elif defined(EVENT_TOO_EARLY)
  CHECK(cudaStreamWaitEvent(Consumer, Produced));
#elif defined(EVENT_RECORDED_AGAIN)
  CHECK(cudaEventRecord(Produced, Producer));
  CHECK(cudaEventRecord(Produced, Consumer));
  CHECK(cudaStreamWaitEvent(Consumer, Produced));
#elif defined(RELAY)
  cudaStream_t Third = makeStream();
  cudaEvent_t Relayed = makeEvent();
#ifndef RELAY_FROM_START
  CHECK(cudaEventRecord(Produced, Producer));
  CHECK(cudaStreamWaitEvent(Third, Produced));
#endif
  nothing<<<1, Threads, 0, Third>>>(Own + Threads);
  CHECK(cudaEventRecord(Relayed, Third));
  CHECK(cudaStreamWaitEvent(Consumer, Relayed));
#elif defined(SYNCHRONISE)
  CHECK(cudaStreamSynchronize(Producer));
#elif defined(POLL)
  while (cudaStreamQuery(Producer) == cudaErrorNotReady)
    ;
  cudaGetLastError(); // "Not ready" is one.
#elif defined(POLL_EVENT)
  CHECK(cudaEventRecord(Produced, Producer));
  while (cudaEventQuery(Produced) == cudaErrorNotReady)
    ;
  cudaGetLastError();
#elif defined(HOST_FUNCTION)
  CHECK(cudaLaunchHostFunc(
      Producer, [](void *) { IsProduced = true; }, nullptr));
  while (!IsProduced)
    ;
#elif defined(COPIED)
  CHECK(cudaMemcpyAsync((void *)Host, Cells + N - 1, sizeof(unsigned),
                        cudaMemcpyDeviceToHost, Producer));
  while (*Host == 0)
    ;
#elif defined(TELL)
  tell<<<1, 1, 0, Producer>>>((unsigned *)Host);
  while (*Host == 0)
    ;
#elif defined(FREED)
  letItEnd(Idle, Own);
  CHECK(cudaFree(Cells));
  CHECK(cudaMalloc((void **)&Cells, N * sizeof(unsigned)));
  produce<<<Blocks, Threads, 0, Consumer>>>(Cells);
#elif defined(ASYNC)
  unsigned *More;
  CHECK(cudaMallocAsync((void **)&More, N * sizeof(unsigned), Producer));
  produce<<<Blocks, Threads, 0, Producer>>>(More);
  CHECK(cudaFreeAsync(More, Producer));
  CHECK(cudaStreamSynchronize(Producer));
  CHECK(cudaMallocAsync((void **)&Cells, N * sizeof(unsigned), Consumer));
  produce<<<Blocks, Threads, 0, Consumer>>>(Cells);
#endif
  letItEnd(Idle, Own);
  consume<<<Blocks, Threads, 0, Consumer>>>(Cells, Out);
  CHECK(cudaDeviceSynchronize());
  return finish(matches(Out, N, [](size_t I) {
    return unsigned((I + Threads) % N + 1);
  }));
}
