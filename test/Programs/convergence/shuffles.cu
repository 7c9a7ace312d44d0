// Intent: shuffles of every kind, with all lanes, with half of them in each branch,
// and with those that are together, after the warp was split.
// CLEAN-ONLY
// ALSO-GPU: -O1
// ALSO-GPU: -O3
#include "split.h"

__device__ unsigned mine(unsigned R) { return valueOf(threadIdx.x, R, 9); }
/// What lane \p Lane of this warp has.
__device__ unsigned theirs(unsigned Lane, unsigned R) {
  return valueOf(threadIdx.x / 32 * 32 + Lane, R, 9);
}

struct Index : Meeting {
  template <typename B> __device__ bool meets(B &, unsigned R) {
    const unsigned From = B::partner(32, R) % 32;
    return __shfl_sync(B::lanes(R), mine(R), From) == theirs(From, R);
  }
};

struct Neighbours : Meeting {
  static constexpr bool CanReturn = false;
  template <typename B> __device__ bool meets(B &, unsigned R) {
    const unsigned L = laneOf(), By = 1 + R % 31;
    bool Right =
        __shfl_up_sync(~0u, mine(R), By) == theirs(L < By ? L : L - By, R);
    Right &= __shfl_down_sync(~0u, mine(R), By) ==
             theirs(L + By < 32 ? L + By : L, R);
    return Right & (__shfl_xor_sync(~0u, mine(R), By) == theirs(L ^ By, R));
  }
};

/// Each half in a branch of its own.
struct Halves : Meeting {
  template <typename B> __device__ bool meets(B &, unsigned R) {
    const unsigned From = B::partner(16, R) % 32;
    unsigned Got;
    if (laneOf() < 16)
      Got = __shfl_sync(B::lanes(R) & 0x0000ffff, mine(R), From);
    else
      Got = __shfl_sync(B::lanes(R) & 0xffff0000, mine(R) + 1, From) - 1;
    return Got == theirs(From, R);
  }
};

/// Every third lane only.
struct Some : Meeting {
  static constexpr bool CanReturn = false;
  template <typename B> __device__ bool meets(B &, unsigned R) {
    if (laneOf() % 3)
      return true;
    const unsigned From = (laneOf() / 3 + R) % 11 * 3;
    return __shfl_sync(0x49249249, mine(R), From) == theirs(From, R);
  }
};

/// Whoever is together here.
struct Together : Meeting {
  template <typename B> __device__ bool meets(B &, unsigned R) {
    const unsigned Lanes = __activemask();
    const unsigned Above = Lanes & ~1u << laneOf();
    const unsigned From = __ffs(Above ? Above : Lanes) - 1;
    return __shfl_sync(Lanes, mine(R), From) == theirs(From, R);
  }
};

/// A sum over the warp by the tree that every reduction is made of.
struct Tree : Meeting {
  static constexpr bool CanReturn = false;
  template <typename B> __device__ bool meets(B &, unsigned R) {
    unsigned Sum = mine(R);
    for (unsigned By = 16; By; By /= 2)
      Sum += __shfl_xor_sync(~0u, Sum, By);
    return Sum == 32 * theirs(0, R) + 7 * (31 * 32 / 2);
  }
};

int main() {
  bool Right = RUN_SPLITS(Index);
  Right &= RUN_SPLITS(Neighbours);
  Right &= RUN_SPLITS(Halves);
  Right &= RUN_SPLITS(Some);
  Right &= RUN_SPLITS(Together);
  Right &= RUN_SPLITS(Tree);
  return finish(Right);
}
