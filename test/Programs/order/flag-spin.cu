// Intent: a message is passed through a plain flag; the fixed variant releases
// and acquires it.
#include "../check.h"
#include <cuda/atomic>

constexpr unsigned Rounds = 200;

__device__ void publish(unsigned *Flag, unsigned R) {
#ifdef RACY
  *Flag = R; // RACE
  // A fence makes the compiler store in each round; it orders nothing alone.
  __threadfence();
#else
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> Atomic(*Flag);
  Atomic.store(R, cuda::memory_order_release);
#endif
}

__device__ unsigned published(unsigned *Flag) {
#ifdef RACY
  __threadfence();
  return *Flag; // RACE
#else
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> Atomic(*Flag);
  return Atomic.load(cuda::memory_order_acquire);
#endif
}

__global__ void exchange(unsigned *Flag, unsigned *Messages, unsigned *Out) {
  unsigned Sum = 0;
#ifdef RACY
  unsigned Tries = 0;
#endif
  for (unsigned R = 1; R <= Rounds; ++R) {
    if (blockIdx.x == 0) {
      Messages[R] = 3 * R; // RACE
      publish(Flag, R);
      continue;
    }
    while (published(Flag) < R) {
#ifdef RACY
      // Nothing makes a plain flag arrive.
      if (++Tries > 2000)
        break;
#endif
    }
    Sum += Messages[R]; // RACE
  }
  if (blockIdx.x != 0)
    *Out = Sum;
}

int main() {
  unsigned *Flag = zeroed<unsigned>(1), *Out = zeroed<unsigned>(1);
  unsigned *Messages = zeroed<unsigned>(Rounds + 1);
  exchange<<<2, 1>>>(Flag, Messages, Out);
  return finish(matches(
      Out, 1, [](size_t) { return 3 * Rounds * (Rounds + 1) / 2; }));
}
