// Intent: lanes exchange values by shuffles, votes, matches and reductions, with
// no memory to race on.
// CLEAN-ONLY
// ARCH: sm_80
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 8, N = Threads * Blocks;

__global__ void exchange(unsigned *Cells) {
  unsigned I = blockIdx.x * Threads + threadIdx.x, Lane = threadIdx.x % 32;
  unsigned Value = Cells[I];
  for (unsigned Offset = 16; Offset > 0; Offset /= 2)
    Value += __shfl_xor_sync(~0u, Value, Offset);
  Cells[I] = Value;
  unsigned Odd = __ballot_sync(~0u, Cells[I] % 2 || Lane % 2);
  Cells[I] += __popc(__match_any_sync(~0u, Lane / 4));
  Cells[I] += __popc(Odd) + __shfl_down_sync(~0u, Cells[I], 8, 16);
  if (Lane < 16)
    Cells[I] += __reduce_add_sync(0xffff, Lane);
}

int main() {
  unsigned *Cells = upload(std::vector<unsigned>(N, 2));
  exchange<<<Blocks, Threads>>>(Cells);
  // 64 from the butterfly, 4 that match, 16 odd lanes, 68 from a neighbour.
  return finish(matches(Cells, N, [](size_t I) -> unsigned {
    return 64 + 4 + 16 + 68 + (I % 32 < 16 ? 120 : 0);
  }));
}
