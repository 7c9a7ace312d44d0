// Intent: a kernel on one stream reads what a kernel on another stream writes,
// with no event between them.
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 8, N = Threads * Blocks, Rounds = 300;

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
    Sum += Cells[I]; // RACE
    __syncthreads();
  }
  Out[I] = Sum;
}

int main() {
  unsigned *Cells = zeroed<unsigned>(N), *Out = zeroed<unsigned>(N);
  cudaStream_t Producer, Consumer;
  CHECK(cudaStreamCreateWithFlags(&Producer, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&Consumer, cudaStreamNonBlocking));
  cudaEvent_t Produced;
  CHECK(cudaEventCreateWithFlags(&Produced, cudaEventDisableTiming));
  // A first launch loads the kernel, which may wait for what is running.
  produce<<<Blocks, Threads, 0, Producer>>>(Cells, 0);
  consume<<<Blocks, Threads, 0, Producer>>>(Cells, Out, 0);
  CHECK(cudaDeviceSynchronize());
  produce<<<Blocks, Threads, 0, Producer>>>(Cells, Rounds);
#ifndef RACY
  CHECK(cudaEventRecord(Produced, Producer));
  CHECK(cudaStreamWaitEvent(Consumer, Produced));
#endif
  consume<<<Blocks, Threads, 0, Consumer>>>(Cells, Out, Rounds);
  return finish(
      matches(Out, N, [](size_t I) { return Rounds * (Rounds + I); }));
}
