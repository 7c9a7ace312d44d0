// Intent: lanes meet at __syncwarp() with all lanes and with half of them, and at
// the sync of tiles and of coalesced groups.
// CLEAN-ONLY
// ALSO-GPU: -O1
// ALSO-GPU: -O3
#include "split.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

struct Warp : Meeting {
  template <typename B> __device__ bool meets(B &Cells, unsigned R) {
    __syncwarp(B::lanes(R));
    return Cells.shows(B::partner(32, R), R);
  }
};

/// Each half in a branch of its own.
struct Half : Meeting {
  template <typename B> __device__ bool meets(B &Cells, unsigned R) {
    if (laneOf() < 16)
      __syncwarp(B::lanes(R) & 0x0000ffff);
    else
      __syncwarp(B::lanes(R) & 0xffff0000);
    return Cells.shows(B::partner(16, R), R);
  }
};

/// Half of the lanes only, in a branch.
struct OneHalf : Meeting {
  template <typename B> __device__ bool meets(B &Cells, unsigned R) {
    if (laneOf() >= 16)
      return true;
    __syncwarp(B::lanes(R) & 0x0000ffff);
    return Cells.shows(B::partner(16, R), R);
  }
};

template <unsigned Size> struct Tile : Meeting {
  static constexpr bool CanReturn = false;
  template <typename B> __device__ bool meets(B &Cells, unsigned R) {
    cg::tiled_partition<Size>(cg::this_thread_block()).sync();
    return Cells.shows(B::partner(Size, R), R);
  }
};

/// Whoever is together here: all look at the first of them.
struct Coalesced : Meeting {
  template <typename B> __device__ bool meets(B &Cells, unsigned R) {
    cg::coalesced_group Group = cg::coalesced_threads();
    Group.sync();
    const bool Right = Cells.shows(Group.shfl(threadIdx.x, 0), R);
    // The groups of the next rounds may be others.
    __syncwarp(B::lanes(R));
    return Right;
  }
};

/// A group that was formed in a branch before the warp was split.
struct Kept : Meeting {
  unsigned Lanes;
  static constexpr bool CanReturn = false;
  __device__ void begin() { Lanes = 0x11111111u << threadIdx.x % 4; }
  template <typename B> __device__ bool meets(B &Cells, unsigned R) {
    __syncwarp(Lanes);
    const unsigned T = threadIdx.x, Base = T / 32 * 32;
    return Cells.shows(Base + (T - Base + 4 * (1 + R % 7)) % 32, R);
  }
};

int main() {
  bool Right = RUN_SPLITS(Warp);
  Right &= RUN_SPLITS(Half);
  Right &= RUN_SPLITS(OneHalf);
  Right &= RUN_SPLITS(Tile<32>);
  Right &= RUN_SPLITS(Tile<8>);
  Right &= RUN_SPLITS(Coalesced);
  Right &= RUN_SPLITS(Kept);
  return finish(Right);
}
