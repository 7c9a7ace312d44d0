// Intent: strong accesses written in inline assembly pass a message; that is not
// racy.
// CLEAN-ONLY
#include "../check.h"

constexpr unsigned Rounds = 100;

__device__ void release(unsigned *Flag, unsigned Value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(Flag), "r"(Value)
               : "memory");
}

__device__ unsigned acquire(unsigned *Flag) {
  unsigned Value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
               : "=r"(Value)
               : "l"(Flag)
               : "memory");
  return Value;
}

__global__ void exchange(unsigned *Flag, unsigned *Messages, unsigned *Out) {
  unsigned Sum = 0;
  for (unsigned R = 1; R <= Rounds; ++R) {
    // A message and its acknowledgement: one cell serves all rounds.
    if (blockIdx.x == 0) {
      *Messages = 3 * R;
      release(Flag, 2 * R - 1);
      while (acquire(Flag) != 2 * R)
        ;
    } else {
      while (acquire(Flag) != 2 * R - 1)
        ;
      Sum += *Messages;
      release(Flag, 2 * R);
    }
    asm volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(Out + 1)
                 : "memory");
  }
  if (blockIdx.x != 0)
    Out[0] = Sum;
}

int main() {
  unsigned *Flag = zeroed<unsigned>(1), *Messages = zeroed<unsigned>(1);
  unsigned *Out = zeroed<unsigned>(2);
  exchange<<<2, 1>>>(Flag, Messages, Out);
  return finish(matches(Out, 2, [](size_t I) {
    return I ? 2 * Rounds : 3 * Rounds * (Rounds + 1) / 2;
  }));
}
