// Intent: the host copies into an array on one stream while a kernel reads it
// on another.
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 8, N = Threads * Blocks, Rounds = 300;
constexpr unsigned Copies = 16;

__global__ void consume(const unsigned *Cells, unsigned *Out, unsigned Rounds) {
  unsigned I = blockIdx.x * Threads + threadIdx.x, Sum = 0;
  for (unsigned R = 1; R <= Rounds; ++R) {
    Sum += Cells[I]; // RACE
    __syncthreads();
  }
  Out[I] = Sum;
}

int main() {
  unsigned *Cells = zeroed<unsigned>(N), *Out = zeroed<unsigned>(N), *Host;
  CHECK(cudaMallocHost(&Host, Copies * N * sizeof(unsigned)));
  for (unsigned I = 0; I < Copies * N; ++I)
    Host[I] = I + 1;
  cudaStream_t Copier, Consumer;
  CHECK(cudaStreamCreateWithFlags(&Copier, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&Consumer, cudaStreamNonBlocking));
  // A first launch loads the kernel, which may wait for what is running.
  consume<<<Blocks, Threads, 0, Consumer>>>(Cells, Out, 0);
  CHECK(cudaDeviceSynchronize());
#ifdef RACY
  consume<<<Blocks, Threads, 0, Consumer>>>(Cells, Out, Rounds);
#endif
  for (unsigned C = 0; C < Copies; ++C)
    CHECK(cudaMemcpyAsync(Cells, Host + C * N, N * sizeof(unsigned), // RACE
                          cudaMemcpyHostToDevice, Copier));
#ifndef RACY
  cudaEvent_t Copied;
  CHECK(cudaEventCreateWithFlags(&Copied, cudaEventDisableTiming));
  CHECK(cudaEventRecord(Copied, Copier));
  CHECK(cudaStreamWaitEvent(Consumer, Copied));
  consume<<<Blocks, Threads, 0, Consumer>>>(Cells, Out, Rounds);
#endif
  return finish(matches(
      Out, N, [](size_t I) { return Rounds * ((Copies - 1) * N + I + 1); }));
}
