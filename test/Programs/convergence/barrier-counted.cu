// Intent: threads meet at barriers with a number and a count: all of a block, two
// halves at two barriers, and halves that arrive at one and wait at the other.
// CLEAN-ONLY
// ALSO-GPU: -O1
// ALSO-GPU: -O3
#include "split.h"

struct Whole : Meeting {
  static constexpr bool CanReturn = false;
  template <typename B> __device__ bool meets(B &Cells, unsigned R) {
    asm volatile("barrier.sync 1, 128;" ::: "memory");
    return Cells.shows(B::partner(Threads, R), R);
  }
};

struct Halves : Meeting {
  static constexpr bool CanReturn = false;
  template <typename B> __device__ bool meets(B &Cells, unsigned R) {
    asm volatile("barrier.sync %0, 64;" ::"r"(1 + threadIdx.x / 64) : "memory");
    return Cells.shows(B::partner(64, R), R);
  }
};

struct AlignedHalves : Meeting {
  static constexpr bool CanReturn = false;
  template <typename B> __device__ bool meets(B &Cells, unsigned R) {
    asm volatile("bar.sync %0, 64;" ::"r"(1 + threadIdx.x / 64) : "memory");
    return Cells.shows(B::partner(64, R), R);
  }
};

/// The lower half arrives at 1 and waits at 2, the upper the other way round.
template <bool IsAligned> struct Arrive : Meeting {
  static constexpr bool CanReturn = false;
  template <typename B> __device__ bool meets(B &Cells, unsigned R) {
    const unsigned Other = (B::partner(64, R) + 64) % Threads;
    if (threadIdx.x < 64) {
      if (IsAligned)
        asm volatile("bar.arrive 1, 128; bar.sync 2, 128;" ::: "memory");
      else
        asm volatile("barrier.arrive 1, 128; barrier.sync 2, 128;" ::
                         : "memory");
      return Cells.shows(Other, R);
    }
    if (IsAligned)
      asm volatile("bar.sync 1, 128;" ::: "memory");
    else
      asm volatile("barrier.sync 1, 128;" ::: "memory");
    const bool Right = Cells.shows(Other, R);
    if (IsAligned)
      asm volatile("bar.arrive 2, 128;" ::: "memory");
    else
      asm volatile("barrier.arrive 2, 128;" ::: "memory");
    return Right;
  }
};

int main() {
  bool Right = RUN_SPLITS(Whole);
  Right &= RUN_SPLITS(Halves);
  Right &= RUN_SPLITS(AlignedHalves);
  Right &= RUN_SPLITS(Arrive<false>);
  Right &= RUN_SPLITS(Arrive<true>);
  return finish(Right);
}
