// Intent: the host uses a pinned buffer while a copy of a stream uses it.
// BUILD: -fsanitize-cuda-race-host
// FIXED: down -DDOWN
// FIXED: up -DUP
// RACY: down-early -DDOWN -DEARLY
// RACY: up-early -DUP -DEARLY
// UNSEEN: collider (up-early): the copy changes device memory, which nobody looks at
#define PINNED
#include "agents.h"

CONSTANT Scaled<50, 4> Rounds;
constexpr unsigned N = 256;

__global__ void fill(unsigned *Cells, unsigned Value) {
  Cells[threadIdx.x] = Value;
}

__global__ void add(const unsigned *Cells, unsigned *Sums) {
  Sums[threadIdx.x] += Cells[threadIdx.x];
}

int main() {
  unsigned *Buffer = shared<unsigned>(N), *Cells = zeroed<unsigned>(N);
  unsigned *Sums = zeroed<unsigned>(N);
  cudaStream_t Stream = makeStream();
  bool Right = true;
  for (unsigned R = 1; R <= Rounds; ++R) {
#ifdef DOWN
    fill<<<1, N, 0, Stream>>>(Cells, R);
    CHECK(cudaMemcpyAsync(Buffer, Cells, N * sizeof(unsigned), // RACE
                          cudaMemcpyDeviceToHost, Stream));
#ifndef EARLY
    CHECK(cudaStreamSynchronize(Stream));
#endif
    for (unsigned I = 0; I < N; ++I)
      Right &= Buffer[I] == R; // RACE: down-early
#else
    for (unsigned I = 0; I < N; ++I)
      Buffer[I] = R; // RACE: up-early
    CHECK(cudaMemcpyAsync(Cells, Buffer, N * sizeof(unsigned), // RACE
                          cudaMemcpyHostToDevice, Stream));
    add<<<1, N, 0, Stream>>>(Cells, Sums);
#ifndef EARLY
    CHECK(cudaStreamSynchronize(Stream));
#endif
#endif
  }
  CHECK(cudaStreamSynchronize(Stream));
#ifdef UP
  Right &= matches(Sums, N, [](size_t) { return Rounds * (Rounds + 1) / 2; });
#endif
  return finish(Right);
}
