// Intent: a block meets at an mbarrier: arrive, then a loop of try_wait or test_wait,
// by parity or by the state that the arrival gave; lanes that return drop out.
// CLEAN-ONLY
// ALSO-GPU: -O1
// ALSO-GPU: -O3
// ARCH: sm_90
#include "split.h"

enum class Wait { TryParity, TestParity, TryState, TestState };

__device__ unsigned addressOf(unsigned long long *Barrier) {
  return unsigned(__cvta_generic_to_shared(Barrier));
}

template <Wait How>
__device__ bool isOver(unsigned Barrier, unsigned long long State, unsigned R) {
  unsigned Over;
#define ASK(Instruction, Constraint, Operand)                                  \
  asm volatile("{ .reg .pred p; mbarrier." Instruction                         \
               ".shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"              \
               : "=r"(Over)                                                    \
               : "r"(Barrier), Constraint(Operand)                             \
               : "memory")
  if (How == Wait::TryParity)
    ASK("try_wait.parity", "r", R % 2);
  else if (How == Wait::TestParity)
    ASK("test_wait.parity", "r", R % 2);
  else if (How == Wait::TryState)
    ASK("try_wait", "l", State);
  else
    ASK("test_wait", "l", State);
#undef ASK
  return Over;
}

template <Wait How> struct Barrier : Meeting {
  unsigned Address;
  __device__ void begin() {
    __shared__ unsigned long long Word;
    Address = addressOf(&Word);
    if (threadIdx.x == 0)
      asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(Address),
                   "r"(Threads)
                   : "memory");
    __syncthreads();
  }
  __device__ void leave() {
    asm volatile(
        "{ .reg .b64 s; mbarrier.arrive_drop.shared.b64 s, [%0]; }" ::"r"(
            Address)
        : "memory");
  }
  template <typename B> __device__ bool meets(B &Cells, unsigned R) {
    unsigned long long State;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];"
                 : "=l"(State)
                 : "r"(Address)
                 : "memory");
    while (!isOver<How>(Address, State, R))
      ;
    return Cells.shows(B::partner(Threads, R), R);
  }
};

int main() {
  bool Right = RUN_SPLITS(Barrier<Wait::TryParity>);
  Right &= RUN_SPLITS(Barrier<Wait::TestParity>);
  Right &= RUN_SPLITS(Barrier<Wait::TryState>);
  Right &= RUN_SPLITS(Barrier<Wait::TestState>);
  return finish(Right);
}
