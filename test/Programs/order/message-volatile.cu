// Intent: a block passes messages to another through plain memory, ordered by
// __threadfence and a volatile flag; that is not racy.
// CLEAN-ONLY
#include "../check.h"

constexpr unsigned Threads = 128, Rounds = 50;

__global__ void exchange(volatile unsigned *Flag, unsigned *Messages,
                         unsigned *Out) {
  unsigned Sum = 0;
  for (unsigned R = 1; R <= Rounds; ++R) {
    unsigned *Message = Messages + R * Threads + threadIdx.x;
    if (blockIdx.x == 0) {
      *Message = R + threadIdx.x;
      __syncthreads();
      if (threadIdx.x == 0) {
        __threadfence();
        *Flag = R;
      }
    } else {
      if (threadIdx.x == 0) {
        while (*Flag < R)
          ;
        __threadfence();
      }
      __syncthreads();
      Sum += *Message;
    }
  }
  if (blockIdx.x != 0)
    Out[threadIdx.x] = Sum;
}

int main() {
  unsigned *Flag = zeroed<unsigned>(1), *Out = zeroed<unsigned>(Threads);
  unsigned *Messages = zeroed<unsigned>((Rounds + 1) * Threads);
  exchange<<<2, Threads>>>(Flag, Messages, Out);
  return finish(matches(Out, Threads, [](size_t I) {
    return Rounds * (Rounds + 1) / 2 + Rounds * I;
  }));
}
