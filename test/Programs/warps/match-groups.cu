// Intent: lanes with equal keys find each other by a match, and the first of them adds
// for all to a plain counter of its warp. In the racy twin each does so for itself.
#include "../check.h"

constexpr unsigned Threads = 64, Blocks = 2, Keys = 5, Rounds = 4;

__host__ __device__ unsigned keyOf(unsigned I, unsigned Round) {
  return (I * I + Round) % Keys;
}

__global__ void count(unsigned *Out) {
  __shared__ unsigned Counters[Threads / 32][Keys];
  unsigned Lane = threadIdx.x % 32, *Mine = Counters[threadIdx.x / 32];
  if (Lane < Keys)
    Mine[Lane] = 0;
  __syncwarp();
  for (unsigned R = 0; R < Rounds; ++R) {
    unsigned Key = keyOf(threadIdx.x, R);
    unsigned Peers = __match_any_sync(~0u, Key);
#ifdef RACY
    Mine[Key] += 1; // RACE
#else
    if (Lane == __ffs(Peers) - 1)
      Mine[Key] += __popc(Peers);
#endif
    __syncwarp();
  }
  __syncthreads();
  if (threadIdx.x < Keys)
    Out[blockIdx.x * Keys + threadIdx.x] =
        Counters[0][threadIdx.x] + Counters[1][threadIdx.x];
}

int main() {
  unsigned *Out = zeroed<unsigned>(Blocks * Keys), Want[Keys] = {};
  count<<<Blocks, Threads>>>(Out);
  for (unsigned R = 0; R < Rounds; ++R)
    for (unsigned I = 0; I < Threads; ++I)
      ++Want[keyOf(I, R)];
  return finish(matches(Out, Blocks * Keys, [&](size_t I) { return Want[I % Keys]; }));
}
