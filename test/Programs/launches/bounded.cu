// Intent: kernels with launch bounds, or a number of registers that they ask for, keep
// what these promise: blocks of that size can be launched, and as many at a time.
// CLEAN-ONLY
#include "launch.h"

/// Much to remember between two barriers, in blocks of any size.
__device__ void mix(const unsigned *In, unsigned *Out) {
  __shared__ unsigned Cells[1024];
  const unsigned T = threadIdx.x, N = blockDim.x, Base = blockIdx.x * N;
  unsigned Values[8];
  for (unsigned K = 0; K < 8; ++K)
    Values[K] = In[Base + (T + K * 5) % N];
  for (unsigned K = 0; K < 8; ++K) {
    Cells[T] = Values[K];
    __syncthreads();
    Values[(K + 3) % 8] ^= Cells[(T + 1) % N] * 3;
    __syncthreads();
  }
  unsigned Sum = 0;
  for (unsigned Value : Values)
    Sum = Sum * 5 + Value;
  Out[Base + T] = Sum;
}

void mixHost(const unsigned *In, unsigned *Out, unsigned N) {
  std::vector<unsigned> Values(8 * N), Cells(N);
  for (unsigned T = 0; T < N; ++T)
    for (unsigned K = 0; K < 8; ++K)
      Values[K * N + T] = In[(T + K * 5) % N];
  for (unsigned K = 0; K < 8; ++K) {
    std::copy_n(&Values[K * N], N, Cells.begin());
    for (unsigned T = 0; T < N; ++T)
      Values[(K + 3) % 8 * N + T] ^= Cells[(T + 1) % N] * 3;
  }
  for (unsigned T = 0; T < N; ++T) {
    Out[T] = 0;
    for (unsigned K = 0; K < 8; ++K)
      Out[T] = Out[T] * 5 + Values[K * N + T];
  }
}

#define KERNEL(Name, Bounds)                                                   \
  __global__ void Bounds Name(const unsigned *In, unsigned *Out) {             \
    mix(In, Out);                                                              \
  }
KERNEL(upTo256, __launch_bounds__(256))
KERNEL(upTo1024, __launch_bounds__(1024))
KERNEL(twoOf512, __launch_bounds__(512, 2))
KERNEL(twoOf1024, __launch_bounds__(1024, 2))
KERNEL(fourOf256, __launch_bounds__(256, 4))

/// \p Block, \p Each and \p Registers: what was promised; 0: nothing.
bool tryBounds(const char *Name, void (*Kernel)(const unsigned *, unsigned *),
               unsigned Block, unsigned Each, unsigned Registers) {
  const std::vector<unsigned> In = numbers(Grid * Block, 1 << 20);
  std::vector<unsigned> Want(In.size());
  for (unsigned B = 0; B < Grid; ++B)
    mixHost(&In[B * Block], &Want[B * Block], Block);
  unsigned *Out = zeroed<unsigned>(In.size());
  Kernel<<<Grid, Block>>>(upload(In), Out);
  cudaFuncAttributes Has;
  CHECK(cudaFuncGetAttributes(&Has, (const void *)Kernel));
  int Fit;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&Fit, Kernel, Block, 0));
  const bool Right =
      isLaunched(Name, Block) &&
      matches(Out, In.size(), [&](size_t I) { return Want[I]; }) &&
      unsigned(Fit) >= Each &&
      (!Registers || unsigned(Has.numRegs) <= Registers);
  std::printf("%-16s %5u %s (%d registers, %d blocks at a time)\n", Name, Block,
              Right ? "ok" : "WRONG", Has.numRegs, Fit);
  return Right;
}

int main() {
  bool Right = tryBounds("upTo256", upTo256, 256, 1, 0);
  Right &= tryBounds("upTo1024", upTo1024, 1024, 1, 64);
  Right &= tryBounds("twoOf512", twoOf512, 512, 2, 64);
  Right &= tryBounds("twoOf1024", twoOf1024, 1024, 2, 32);
  Right &= tryBounds("fourOf256", fourOf256, 256, 4, 64);
  return finish(Right);
}
