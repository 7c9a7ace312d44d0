// Intent: votes, matches, reductions of a warp in one instruction and elections, with
// all lanes and with some, after the warp was split.
// CLEAN-ONLY
// ALSO-GPU: -O1
// ALSO-GPU: -O3
// ARCH: sm_90
#include "split.h"

/// What lane \p Lane votes.
__device__ bool votes(unsigned Lane, unsigned R) {
  return (Lane * 5 + R * 3) % 8 < 3;
}
__device__ unsigned ballot(unsigned R) {
  unsigned Lanes = 0;
#pragma unroll 1
  for (unsigned L = 0; L < 32; ++L)
    Lanes |= unsigned(votes(L, R)) << L;
  return Lanes;
}

struct Ballot : Meeting {
  template <typename B> __device__ bool meets(B &, unsigned R) {
    const bool Mine = votes(laneOf(), R);
    return __ballot_sync(B::lanes(R), Mine) == (ballot(R) & B::lanes(R));
  }
};

struct AnyAll : Meeting {
  template <typename B> __device__ bool meets(B &, unsigned R) {
    const unsigned Lanes = B::lanes(R), L = laneOf();
    bool Right = bool(__any_sync(Lanes, L == R % 32)) == (Lanes >> R % 32 & 1);
    Right &= bool(__all_sync(Lanes, L != R % 32)) == !(Lanes >> R % 32 & 1);
    return Right & (__uni_sync(Lanes, R % 2) != 0);
  }
};

/// Each half in a branch of its own.
struct Halves : Meeting {
  template <typename B> __device__ bool meets(B &, unsigned R) {
    const bool Mine = votes(laneOf(), R);
    const unsigned Low = B::lanes(R) & 0xffff, High = B::lanes(R) & ~0xffffu;
    if (laneOf() < 16)
      return __ballot_sync(Low, Mine) == (ballot(R) & Low);
    return __ballot_sync(High, !Mine) == (~ballot(R) & High);
  }
};

struct Match : Meeting {
  template <typename B> __device__ bool meets(B &, unsigned R) {
    const unsigned Lanes = B::lanes(R), Quad = laneOf() / 4;
    bool Right =
        __match_any_sync(Lanes, Quad + R) == (Lanes & 0xfu << Quad * 4);
    const unsigned long long Wide = (laneOf() & 1ull) << 40 | R;
    Right &= __match_any_sync(Lanes, Wide) ==
             (Lanes & (laneOf() % 2 ? 0xaaaaaaaa : 0x55555555));
    int Same;
    Right &= __match_all_sync(Lanes, R, &Same) == Lanes && Same;
    return Right & (__match_all_sync(Lanes, Quad, &Same) == 0 && !Same);
  }
};

struct Reduce : Meeting {
  template <typename B> __device__ bool meets(B &, unsigned R) {
    const unsigned Lanes = B::lanes(R), Bit = 1u << laneOf();
    bool Right = __reduce_add_sync(Lanes, Bit) == Lanes;
    Right &= __reduce_or_sync(Lanes, Bit) == Lanes;
    Right &= __reduce_and_sync(Lanes, ~Bit) == ~Lanes;
    Right &= __reduce_xor_sync(Lanes, Bit ^ R) ==
             (Lanes ^ (__popc(Lanes) % 2 ? R : 0));
    Right &= __reduce_min_sync(Lanes, laneOf() + R) == R;
    return Right &
           (__reduce_max_sync(Lanes, laneOf() + R) == R + 31 - __clz(Lanes));
  }
};

struct Elect : Meeting {
  template <typename B> __device__ bool meets(B &, unsigned R) {
    const unsigned Lanes = B::lanes(R);
    unsigned Leader, Mine;
    asm volatile("{ .reg .pred p; elect.sync %0|p, %2; selp.u32 %1, 1, 0, p; }"
                 : "=r"(Leader), "=r"(Mine)
                 : "r"(Lanes));
    const unsigned Elected = __ballot_sync(Lanes, Mine);
    return Elected == 1u << Leader && (Elected & Lanes);
  }
};

/// Whoever is together here counts for one another.
struct Aggregate : Meeting {
  template <typename B> __device__ bool meets(B &Cells, unsigned R) {
    const unsigned Lanes = __activemask();
    const unsigned Leader = __ffs(Lanes) - 1;
    unsigned Rank = 100;
    if (laneOf() == Leader)
      Rank = 0;
    Rank = __shfl_sync(Lanes, Rank, Leader) +
           __popc(Lanes & ((1u << laneOf()) - 1));
    return __ballot_sync(Lanes, true) == Lanes &&
           Rank == unsigned(__popc(Lanes << (31 - laneOf()))) - 1;
  }
};

int main() {
  bool Right = RUN_SPLITS(Ballot);
  Right &= RUN_SPLITS(AnyAll);
  Right &= RUN_SPLITS(Halves);
  Right &= RUN_SPLITS(Match);
  Right &= RUN_SPLITS(Reduce);
  Right &= RUN_SPLITS(Elect);
  Right &= RUN_SPLITS(Aggregate);
  return finish(Right);
}
