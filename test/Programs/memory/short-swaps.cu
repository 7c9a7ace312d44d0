// Intent: two 16-bit counters in one word, one raised by compare-and-swap and one read
// and written plainly by a thread of its own. The racy twin's thread takes the first.
#include "../check.h"

constexpr unsigned Threads = 32, Blocks = 2;

__global__ void count(unsigned short *Counters) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
#ifdef RACY
    Counters[0] += 1; // RACE
#else
    Counters[1] += 1;
#endif
    return;
  }
  // Not atomicCAS, which has the line of a header of Clang's.
  unsigned short Old = 0;
  while (!__atomic_compare_exchange_n(Counters, &Old, (unsigned short)(Old + 1), false, // RACE
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
}

int main() {
  auto *Counters = zeroed<unsigned short>(2);
  count<<<Blocks, Threads>>>(Counters);
  return finish(matches(Counters, 2,
                        [](size_t I) { return I ? 1 : Threads * Blocks - 1; }));
}
