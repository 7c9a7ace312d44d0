// Intent: host and device take turns at one piece of memory, correctly: by
// streams and events, by flags of system scope, by functions of streams.
// BUILD: -fsanitize-cuda-race-host
// FIXED: events -DEVENTS
// FIXED: flags -DFLAGS
// FIXED: flags-pinned -DFLAGS -DPINNED
// FIXED: functions -DFUNCTIONS
// FIXED: halves -DHALVES
// RACY: wrong-stream -DFUNCTIONS -DWRONG_STREAM
// UNSEEN: collider metadata: a function of a stream runs while nothing else does, on the simulated GPU
// ALSO: -O0
#include "agents.h"
#include <atomic>

CONSTANT Scaled<50, 3> Rounds;
constexpr unsigned Threads = 64;

__global__ void increment(unsigned *Cells) {
  Cells[threadIdx.x] += 1; // RACE
}

#ifdef FLAGS
/// Waits for its turn, of which there are Rounds.
__global__ void takeTurns(unsigned *Cells, unsigned *Turn, unsigned Last) {
  volatile unsigned *Flag = Turn;
  for (unsigned R = 0; R < Last; ++R) {
    while (*Flag != 2 * R + 1)
      ;
    __threadfence_system();
    for (unsigned I = 0; I < Threads; ++I)
      Cells[I] += 1;
    __threadfence_system();
    *Flag = 2 * R + 2;
  }
}
#endif

#ifdef FUNCTIONS
static void CUDART_CB incrementOnHost(void *Memory) {
  unsigned *Cells = static_cast<unsigned *>(Memory);
  for (unsigned I = 0; I < Threads; ++I)
    Cells[I] += 1; // RACE
}
#endif

int main() {
  unsigned *Cells = shared<unsigned>(2 * Threads);
  cudaStream_t Stream = makeStream(), Other = makeStream();
  cudaEvent_t Event;
  CHECK(cudaEventCreate(&Event));
#if defined(EVENTS)
  for (unsigned R = 0; R < Rounds; ++R) {
    increment<<<1, Threads, 0, Stream>>>(Cells);
    CHECK(cudaEventRecord(Event, Stream));
    CHECK(cudaEventSynchronize(Event));
    for (unsigned I = 0; I < Threads; ++I)
      Cells[I] += 1;
  }
#elif defined(FLAGS)
  unsigned *Turn = shared<unsigned>(1);
  takeTurns<<<1, 1, 0, Stream>>>(Cells, Turn, Rounds);
  CHECK(cudaGetLastError());
#if __cplusplus >= 202002L
  std::atomic_ref<unsigned> Flag(*Turn);
#else
  std::atomic<unsigned> &Flag = *reinterpret_cast<std::atomic<unsigned> *>(Turn);
#endif
  for (unsigned R = 0; R < Rounds; ++R) {
    for (unsigned I = 0; I < Threads; ++I)
      Cells[I] += 1;
    Flag.store(2 * R + 1, std::memory_order_release);
    while (Flag.load(std::memory_order_acquire) != 2 * R + 2)
      cudaStreamQuery(Stream); // For the simulated GPU to go on at once.
    cudaGetLastError();        // "Not ready" is one.
  }
#elif defined(FUNCTIONS)
  for (unsigned R = 0; R < Rounds; ++R) {
    increment<<<1, Threads, 0, Stream>>>(Cells);
#ifdef WRONG_STREAM
    CHECK(cudaLaunchHostFunc(Other, incrementOnHost, Cells));
#else
    CHECK(cudaLaunchHostFunc(Stream, incrementOnHost, Cells));
#endif
  }
#elif defined(HALVES)
  for (unsigned R = 0; R < Rounds; ++R) {
    increment<<<1, Threads, 0, Stream>>>(Cells);
    increment<<<1, Threads, 0, Stream>>>(Cells);
    for (unsigned I = Threads; I < 2 * Threads; ++I)
      Cells[I] += 1; // The same page, but not the same words.
  }
#endif
  CHECK(cudaDeviceSynchronize());
  bool Right = true;
  for (unsigned I = 0; I < Threads; ++I)
    Right &= Cells[I] == 2 * Rounds;
  return finish(Right);
}
