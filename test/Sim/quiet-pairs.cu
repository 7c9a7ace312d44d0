// Intent: once a pair of lines has raced often, most of its further races are left
// alone and its count is a lower bound; a line that races once with one of the pair
// is found, and all its races are counted.
// REQUIRES: plugin, ptxas, sim, host-runtime
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 %s -o %t -lcudart -L%cuda_path/lib64 -DRACY
// RUN: not env CRSAN_OPTIONS=source=0 %crsan run --device=sim %t > %t.log 2>&1
// RUN: FileCheck %s --check-prefix=WRITES --input-file=%t.log
// RUN: FileCheck %s --check-prefix=QUADS --input-file=%t.log
// RUN: FileCheck %s --check-prefix=READS --input-file=%t.log
// RUN: FileCheck %s --check-prefix=ONCE --input-file=%t.log
// RUN: FileCheck %s --check-prefix=ALL --input-file=%t.log
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 %s -o %t -lcudart -L%cuda_path/lib64
// RUN: %crsan run --device=sim %t 2>&1 | FileCheck %s --check-prefix=CLEAN

// CLEAN: metadata mode checked
// CLEAN: SUMMARY: CRSan: no data races found

#include <cstdio>

using Quad = unsigned __attribute__((ext_vector_type(4)));
constexpr unsigned Rounds = 800;
#ifdef RACY
constexpr unsigned Apart = 0;
#else
constexpr unsigned Apart = 1;
#endif

__global__ void touch(unsigned *Words, Quad *Quads, unsigned *Read,
                      unsigned *Out) {
  // With RACY, both warps have the same places.
  const unsigned Warp = threadIdx.x / 32, Lane = threadIdx.x % 32,
                 I = Lane + Warp * Apart * 32;
  for (unsigned R = 0; R < Rounds; ++R) {
    // WRITES: {{write of 4 bytes at .*quiet-pairs.cu:}}[[@LINE+2]]
    // WRITES: occurrences: at least {{[0-9]{4,}$}}
    Words[I] = R;
    // QUADS: {{write of 16 bytes at .*quiet-pairs.cu:}}[[@LINE+2]]
    // QUADS: occurrences: at least {{[0-9]{4,}$}}
    Quads[I] = Quad(R);
  }
  unsigned Sum = 0;
  if (Warp == 0) {
    for (unsigned R = 0; R < Rounds; ++R)
      Sum += Read[(Lane + R) % 32];
  } else {
    for (unsigned R = 0; R < Rounds; ++R)
      // READS: {{(write|read) of 4 bytes at .*quiet-pairs.cu:}}[[@LINE+2]]
      // READS: occurrences: at least {{[0-9]{4,}$}}
      Read[I] = R;
  }
  // ONCE: {{read of 4 bytes at .*quiet-pairs.cu:}}[[@LINE+4]]
  // Perhaps two: the word may have had two writers.
  // ONCE: occurrences: {{[0-9]{1,3}$}}
  if (threadIdx.x == 63)
    Sum += Words[Apart ? I : 5];
  Out[threadIdx.x] = Sum;
}
// ALL: SUMMARY: CRSan: 4 data races

template <typename T> static T *zeroed(size_t Number) {
  T *P;
  cudaMalloc((void **)&P, Number * sizeof(T));
  cudaMemset(P, 0, Number * sizeof(T));
  return P;
}

int main() {
  touch<<<1, 64>>>(zeroed<unsigned>(64), zeroed<Quad>(64), zeroed<unsigned>(64),
                   zeroed<unsigned>(64));
  return cudaDeviceSynchronize() != cudaSuccess;
}
