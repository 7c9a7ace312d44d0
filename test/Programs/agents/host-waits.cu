// Intent: the host reads what a short kernel has written, long after the kernel has
// ended: whether it had waited is a matter of order, since no value changes any more.
// BUILD: -fsanitize-cuda-race-host -pthread
// FIXED: stream -DBY_STREAM
// FIXED: event -DBY_EVENT
// FIXED: event-query -DBY_EVENT_QUERY
// FIXED: stream-query -DBY_STREAM_QUERY
// FIXED: copied -DBY_COPY
// FIXED: copied-pinned -DBY_COPY -DPINNED
// FIXED: flag -DBY_FLAG
// FIXED: function -DBY_FUNCTION
// FIXED: behind-event -DBY_SECOND_STREAM
// FIXED: thread -DBY_THREAD
// FIXED: written-before -DWRITES_BEFORE
// FIXED: two-streams -DTWO_STREAMS
// RACY: asleep -DASLEEP
// RACY: asleep-pinned -DASLEEP -DPINNED
// RACY: wrong-stream -DWRONG_STREAM
// RACY: early-event -DEARLY_EVENT
// RACY: relaunched -DRELAUNCHED
// RACY: other-of-two -DTWO_STREAMS -DOTHER
// RACY: thread-unasked -DBY_THREAD -DUNASKED
// UNSEEN: collider: the value does not change while the host looks
#include "agents.h"
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unistd.h>

constexpr unsigned Threads = 64, N = 2 * Threads;

__global__ void fill(unsigned *Cells, unsigned Value) {
  Cells[threadIdx.x] = Value; // RACE
}

__global__ void sum(const unsigned *Cells, unsigned *Out) {
  Out[threadIdx.x] = Cells[threadIdx.x];
}

static bool hasAll(const unsigned *Cells, unsigned Value) {
  bool Has = true;
  for (unsigned I = 0; I < Threads; ++I)
    Has &= Cells[I] == Value; // RACE
  return Has;
}

static volatile bool Looked; // Too early: whatever the host has seen.

#ifdef BY_FLAG
__global__ void fillAndTell(unsigned *Cells, unsigned Value, unsigned *Flag) {
  Cells[threadIdx.x] = Value;
  __syncthreads();
  __threadfence_system();
  if (threadIdx.x == 0)
    *(volatile unsigned *)Flag = 1;
}
#endif

#ifdef BY_FUNCTION
static void CUDART_CB tell(void *Flag) {
  __atomic_store_n(static_cast<unsigned *>(Flag), 1u, __ATOMIC_RELEASE);
}
#endif

int main() {
  if (const char *Why = lacksConcurrentAccess())
    return skip(Why);
  unsigned *Cells = shared<unsigned>(N), *Out = zeroed<unsigned>(N);
  cudaStream_t Stream = makeStream(), Other = makeStream();
  cudaEvent_t Event;
  CHECK(cudaEventCreate(&Event));
  fill<<<1, Threads, 0, Stream>>>(Cells, 1); // Loads the kernels.
  sum<<<1, Threads, 0, Stream>>>(Cells, Out);
  CHECK(cudaDeviceSynchronize());
  bool Right = true;

#if defined(WRITES_BEFORE)
  fill<<<1, Threads, 0, Other>>>(Cells + Threads, 3);
  for (unsigned I = 0; I < Threads; ++I)
    Cells[I] = 2;
  sum<<<1, Threads, 0, Stream>>>(Cells, Out);
#elif defined(BY_FLAG)
  unsigned *Flag = shared<unsigned>(1);
  fillAndTell<<<1, Threads, 0, Stream>>>(Cells, 2, Flag);
  while (!__atomic_load_n(Flag, __ATOMIC_ACQUIRE))
    cudaStreamQuery(Other); // For the simulated GPU to go on at once.
  Right &= hasAll(Cells, 2);
#elif defined(BY_FUNCTION)
  unsigned Flag = 0;
  fill<<<1, Threads, 0, Stream>>>(Cells, 2);
  CHECK(cudaLaunchHostFunc(Stream, tell, &Flag));
  while (!__atomic_load_n(&Flag, __ATOMIC_ACQUIRE))
    cudaStreamQuery(Other);
  Right &= hasAll(Cells, 2);
#elif defined(BY_THREAD)
  std::mutex Lock;
  std::condition_variable Changed;
  bool IsDone = false;
  fill<<<1, Threads, 0, Stream>>>(Cells, 2);
  std::atomic<bool> MayWait(true);
#ifdef UNASKED
  MayWait = false;
#endif
  std::thread Waiter([&] {
    while (!MayWait)
      std::this_thread::yield();
    CHECK(cudaStreamSynchronize(Stream));
    std::lock_guard<std::mutex> Guard(Lock);
    IsDone = true;
    Changed.notify_one();
  });
#ifdef UNASKED
  Looked = hasAll(Cells, 2);
  MayWait = true;
#endif
  {
    std::unique_lock<std::mutex> Guard(Lock);
    Changed.wait(Guard, [&] { return IsDone; });
  }
  Right &= hasAll(Cells, 2);
  Waiter.join();
#elif defined(TWO_STREAMS)
  fill<<<1, Threads, 0, Stream>>>(Cells, 2);
  fill<<<1, Threads, 0, Other>>>(Cells + Threads, 2);
#ifdef OTHER
  CHECK(cudaStreamSynchronize(Other));
  Looked = hasAll(Cells, 2);
#else
  CHECK(cudaStreamSynchronize(Stream));
  Right &= hasAll(Cells, 2);
#endif
#elif defined(RELAUNCHED)
  // The next launch in the stream is behind what the host has not waited for.
  for (unsigned Round = 0; Round < 4; ++Round) {
    fill<<<1, Threads, 0, Stream>>>(Cells, 2);
    usleep(1000);
    Looked = hasAll(Cells, 2);
  }
#else
#ifdef BY_COPY
  Stream = cudaStreamLegacy; // That of the copy.
#endif
#ifdef EARLY_EVENT
  CHECK(cudaEventRecord(Event, Stream));
#endif
  fill<<<1, Threads, 0, Stream>>>(Cells, 2);
#if defined(BY_STREAM)
  CHECK(cudaStreamSynchronize(Stream));
#elif defined(BY_EVENT)
  CHECK(cudaEventRecord(Event, Stream));
  CHECK(cudaEventSynchronize(Event));
#elif defined(BY_EVENT_QUERY)
  CHECK(cudaEventRecord(Event, Stream));
  while (cudaEventQuery(Event) == cudaErrorNotReady)
    ;
  cudaGetLastError(); // "Not ready" is one.
#elif defined(BY_STREAM_QUERY)
  while (isRunning(Stream))
    ;
#elif defined(BY_COPY)
  unsigned One;
  CHECK(cudaMemcpy(&One, Out, sizeof(One), cudaMemcpyDeviceToHost));
#elif defined(BY_SECOND_STREAM)
  CHECK(cudaEventRecord(Event, Stream));
  CHECK(cudaStreamWaitEvent(Other, Event, 0));
  sum<<<1, Threads, 0, Other>>>(Cells, Out);
  CHECK(cudaStreamSynchronize(Other));
#elif defined(WRONG_STREAM)
  CHECK(cudaStreamSynchronize(Other));
#elif defined(EARLY_EVENT)
  CHECK(cudaEventSynchronize(Event));
#endif
#if defined(ASLEEP) || defined(WRONG_STREAM) || defined(EARLY_EVENT)
  usleep(50000);
  Looked = hasAll(Cells, 2);
#else
  Right &= hasAll(Cells, 2);
#endif
#endif
  (void)Event, (void)Other;
  CHECK(cudaDeviceSynchronize());
  return finish(Right);
}
