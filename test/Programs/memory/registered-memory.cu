// Intent: memory that the host registers is the kernels' too.
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 8, N = Threads * Blocks;

__global__ void shift(unsigned *Memory, unsigned *Out) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  Memory[I] = I + 1; // RACE
#ifdef RACY
  Out[I] = Memory[(I + Threads) % N]; // RACE
#else
  Out[I] = Memory[I];
#endif
}

int main() {
  void *Host = aligned_alloc(4096, N * sizeof(unsigned));
  memset(Host, 0, N * sizeof(unsigned));
  CHECK(cudaHostRegister(Host, N * sizeof(unsigned), cudaHostRegisterMapped));
  unsigned *Memory, *Out = zeroed<unsigned>(N);
  CHECK(cudaHostGetDevicePointer(&Memory, Host, 0));
  shift<<<Blocks, Threads>>>(Memory, Out);
  bool Right = matches(Out, N, [](size_t I) { return I + 1; });
  CHECK(cudaHostUnregister(Host));
  return finish(Right);
}
