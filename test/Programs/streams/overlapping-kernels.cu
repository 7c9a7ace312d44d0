// Intent: a kernel reads what another one writes, and nothing but their streams
// says whether they may run at the same time.
// RACY: two-streams
// FIXED: event -DEVENT
// FIXED: one-stream -DONE_STREAM
// FIXED: host -DHOST
// FIXED: default-stream -DDEFAULT_STREAM
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 8, N = Threads * Blocks;
CONSTANT Scaled<300, 40> Rounds;

__global__ void produce(unsigned *Cells, unsigned Rounds) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  for (unsigned R = 1; R <= Rounds; ++R) {
    Cells[I] = R + I; // RACE
    __syncthreads();
  }
}

__global__ void consume(const unsigned *Cells, unsigned *Out, unsigned Rounds) {
  unsigned I = blockIdx.x * Threads + threadIdx.x, Sum = 0;
  for (unsigned R = 1; R <= Rounds; ++R) {
    Sum += Cells[(I + Threads) % N]; // RACE
    __syncthreads();
  }
  Out[I] = Sum;
}

static cudaStream_t makeStream() {
  cudaStream_t Stream;
  CHECK(cudaStreamCreateWithFlags(&Stream, cudaStreamNonBlocking));
  return Stream;
}

int main() {
  unsigned *Cells = zeroed<unsigned>(N), *Out = zeroed<unsigned>(N);
  cudaStream_t Producer = makeStream(), Consumer = makeStream();
#ifdef ONE_STREAM
  Consumer = Producer;
#elif defined(DEFAULT_STREAM)
  // It and streams that do not forbid it wait for each other.
  CHECK(cudaStreamCreate(&Producer));
  Consumer = nullptr;
#endif
  cudaEvent_t Produced;
  CHECK(cudaEventCreateWithFlags(&Produced, cudaEventDisableTiming));
  // A first launch loads the kernel, which may wait for what is running.
  produce<<<Blocks, Threads, 0, Producer>>>(Cells, 0);
  consume<<<Blocks, Threads, 0, Producer>>>(Cells, Out, 0);
  CHECK(cudaDeviceSynchronize());
  for (unsigned Turn = 0; Turn < 3; ++Turn) {
    produce<<<Blocks, Threads, 0, Producer>>>(Cells, Rounds);
#ifdef EVENT
    CHECK(cudaEventRecord(Produced, Producer));
    CHECK(cudaStreamWaitEvent(Consumer, Produced));
#elif defined(HOST)
    CHECK(cudaStreamSynchronize(Producer));
#endif
    consume<<<Blocks, Threads, 0, Consumer>>>(Cells, Out, Rounds);
    CHECK(cudaDeviceSynchronize());
  }
  return finish(matches(Out, N, [](size_t I) {
    return Rounds * unsigned(Rounds + (I + Threads) % N);
  }));
}
