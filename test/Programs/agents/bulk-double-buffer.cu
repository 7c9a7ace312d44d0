// Intent: a block smooths a long row of which bulk copies bring the next part while the
// block works on the last one. A part comes by two copies, each with an mbarrier of its
// own that counts bytes. The racy twins wait for one of them only, or refill a buffer that
// is still read.
// FIXED: fixed
// RACY: half-awaited -DHALF
// RACY: refills-too-early -DEARLY
// UNSEEN: collider (refills-too-early): the accesses meet where lanes of one warp are apart, and checks keep them together
// ARCH: sm_90
#include "asynchronous.h"

constexpr unsigned Threads = 64, Blocks = 2, Part = 2 * Threads, Buffers = 2;
CONSTANT Scaled<64, 8> Parts;

struct Buffer {
  alignas(128) int Cells[Part];
  uint64_t Full[2]; ///< A half each.
};

/// By one thread.
__device__ __forceinline__ void begin(Buffer &B, const int *From) {
  constexpr unsigned Bytes = Part / 2 * sizeof(int);
  fenceForCopies();
  for (unsigned Half = 0; Half < 2; ++Half) {
    expect(&B.Full[Half], Bytes);
    BULK_LOAD(B.Cells + Half * Part / 2, From + Half * Part / 2, Bytes, // RACE
              &B.Full[Half]);
  }
}

__global__ void smooth(const int *In, int *Out) {
  __shared__ Buffer All[Buffers];
  const unsigned T = threadIdx.x;
  const int *Mine = In + blockIdx.x * Parts * Part;
  int *To = Out + blockIdx.x * Parts * Part;
  if (T < 2 * Buffers)
    initBarrier(&All[T / 2].Full[T % 2], 1);
  __syncthreads();
  if (T == 0)
    begin(All[0], Mine);
  for (unsigned P = 0; P < Parts; ++P) {
    Buffer &B = All[P % Buffers];
    if (T == 0 && P + 1 < Parts)
      begin(All[(P + 1) % Buffers], Mine + (P + 1) * Part);
    const unsigned Parity = P / Buffers % 2;
    wait(&B.Full[0], Parity);
#ifndef HALF
    wait(&B.Full[1], Parity);
#endif
#ifdef EARLY
    __syncthreads();
#endif
    for (unsigned I = T; I < Part; I += Threads) {
      const int Left = B.Cells[I ? I - 1 : 0];                // RACE
      const int Right = B.Cells[I + 1 < Part ? I + 1 : I];    // RACE
      To[P * Part + I] = Left + 2 * B.Cells[I] + Right;       // RACE
    }
#ifdef HALF
    wait(&B.Full[1], Parity);
#endif
#ifndef EARLY
    __syncthreads(); // All have read; the buffer may be refilled.
#endif
  }
}

int main() {
  const unsigned N = Blocks * Parts * Part;
  std::vector<int> In;
  for (unsigned I = 0; I < N; ++I)
    In.push_back(int(I * 11 % 97) + 1);
  int *Out = zeroed<int>(N);
  smooth<<<Blocks, Threads>>>(upload(In), Out);
  return finish(matches(Out, N, [&](size_t I) {
    const size_t Left = I % Part ? I - 1 : I, Right = (I + 1) % Part ? I + 1 : I;
    return In[Left] + 2 * In[I] + In[Right];
  }));
}
