// Intent: barriers that reduce a predicate (barrier.red.popc, .and, .or, and
// __syncthreads_count and its kin), with warps split before.
// CLEAN-ONLY
// ALSO-GPU: -O1
// ALSO-GPU: -O3
#include "split.h"

/// One thread in seven.
__device__ bool isChosen(unsigned R) { return (threadIdx.x + R) % 7 == 0; }
__device__ unsigned chosen(unsigned R) {
  return (Threads + R % 7 + 6) / 7 - (R % 7 + 6) / 7;
}

struct Count : Meeting {
  static constexpr bool CanReturn = false;
  template <typename B> __device__ bool meets(B &Cells, unsigned R) {
    unsigned Found;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0;\n\t"
                 "barrier.red.popc.u32 %0, 0, p; }"
                 : "=r"(Found)
                 : "r"(unsigned(isChosen(R)))
                 : "memory");
    return Found == chosen(R) && Cells.shows(B::partner(Threads, R), R);
  }
};

/// All but one thread, every other time all.
struct And : Meeting {
  static constexpr bool CanReturn = false;
  template <typename B> __device__ bool meets(B &Cells, unsigned R) {
    unsigned Found;
    const bool Mine = R % 2 || threadIdx.x != R % Threads;
    asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 0;\n\t"
                 "barrier.red.and.pred q, 1, 128, p; selp.u32 %0, 1, 0, q; }"
                 : "=r"(Found)
                 : "r"(unsigned(Mine))
                 : "memory");
    return Found == R % 2 && Cells.shows(B::partner(Threads, R), R);
  }
};

struct Or : Meeting {
  static constexpr bool CanReturn = false;
  template <typename B> __device__ bool meets(B &Cells, unsigned R) {
    unsigned Found;
    const bool Mine = R % 2 && threadIdx.x == R % Threads;
    asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 0;\n\t"
                 "barrier.red.or.pred q, 0, p; selp.u32 %0, 1, 0, q; }"
                 : "=r"(Found)
                 : "r"(unsigned(Mine))
                 : "memory");
    return Found == R % 2 && Cells.shows(B::partner(Threads, R), R);
  }
};

struct Aligned : Meeting {
  static constexpr bool CanReturn = false;
  template <typename B> __device__ bool meets(B &Cells, unsigned R) {
    bool Right = unsigned(__syncthreads_count(isChosen(R))) == chosen(R);
    Right &= Cells.shows(B::partner(Threads, R), R);
    Right &= __syncthreads_and(threadIdx.x != R % Threads) == 0;
    return Right & (__syncthreads_or(threadIdx.x == R % Threads) != 0);
  }
};

int main() {
  bool Right = RUN_SPLITS(Count);
  Right &= RUN_SPLITS(And);
  Right &= RUN_SPLITS(Or);
  Right &= RUN_SPLITS(Aligned);
  return finish(Right);
}
