// Intent: two warps update neighbouring bit-fields, which share one word; as
// members of their own they do not.
#include "../check.h"

constexpr unsigned Blocks = 16, Rounds = 100;

struct Flags {
#ifdef RACY
  unsigned A : 12;
  unsigned B : 20;
#else
  unsigned short A;
  unsigned short B;
#endif
};

__device__ __noinline__ void setA(Flags *F, unsigned Value) {
  F->A = Value; // RACE
}

__device__ __noinline__ void setB(Flags *F, unsigned Value) {
  F->B = Value; // RACE
}

__global__ void update(unsigned *Out) {
  __shared__ Flags All[32];
  unsigned Lane = threadIdx.x % 32;
  for (unsigned R = 1; R <= Rounds; ++R) {
    if (threadIdx.x < 32)
      setA(&All[Lane], R);
    else
      setB(&All[Lane], 2 * R);
    __syncthreads();
  }
  if (threadIdx.x < 32)
    Out[blockIdx.x * 32 + Lane] = All[Lane].A + All[Lane].B;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Blocks * 32);
  update<<<Blocks, 64>>>(Out);
  return finish(matches(Out, Blocks * 32, [](size_t) { return 3 * Rounds; }));
}
