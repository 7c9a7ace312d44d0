// Intent: a whole block meets at barrier.sync (not aligned), as a statement and as
// cooperative groups' sync, and at __syncthreads(), with its warps split before.
// CLEAN-ONLY
// ALSO-GPU: -O1
// ALSO-GPU: -O3
#include "split.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

struct Statement : Meeting {
  template <typename B> __device__ bool meets(B &Cells, unsigned R) {
    asm volatile("barrier.sync 0;" ::: "memory");
    return Cells.shows(B::partner(Threads, R), R);
  }
};

struct GroupSync : Meeting {
  template <typename B> __device__ bool meets(B &Cells, unsigned R) {
    cg::sync(cg::this_thread_block());
    return Cells.shows(B::partner(Threads, R), R);
  }
};

struct Aligned : Meeting {
  template <typename B> __device__ bool meets(B &Cells, unsigned R) {
    __syncthreads();
    return Cells.shows(B::partner(Threads, R), R);
  }
};

/// Two barriers one after the other, of which only one orders the cells.
struct Twice : Meeting {
  template <typename B> __device__ bool meets(B &Cells, unsigned R) {
    cg::thread_block Block = cg::this_thread_block();
    Block.sync();
    const bool Right = Cells.shows(B::partner(Threads, R), R);
    Block.sync();
    return Right & Cells.shows(B::partner(Threads, R + 1), R);
  }
};

int main() {
  bool Right = RUN_SPLITS(Statement);
  Right &= RUN_SPLITS(GroupSync);
  Right &= RUN_SPLITS(Aligned);
  Right &= RUN_SPLITS(Twice);
  return finish(Right);
}
