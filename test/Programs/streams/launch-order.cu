// Intent: short kernels of several streams, which end before the host launches the next
// one: so nothing overlaps unless a launch is held back. Each kernel adds to a word of its
// stream's; the racy twin's last stream adds to the first stream's word. A chain of events
// and a copy behind each kernel show that the order of a stream stays.
// OPTIONS: launch_delay_us=300
// UNSEEN-GPU: collider metadata: the kernels are short, and seldom overlap
#include "streams.h"

#include <vector>

constexpr unsigned Streams = 4, Turns = 6;

__global__ void add(unsigned *Word, const unsigned *Before) {
  *Word = *Word + (Before ? *Before : 1); // RACE
}

int main() {
  std::vector<cudaStream_t> All;
  unsigned *Words = zeroed<unsigned>(Streams), *Chain = zeroed<unsigned>(Turns + 1);
  unsigned *Copies = zeroed<unsigned>(Turns * Streams);
  for (unsigned S = 0; S < Streams; ++S) {
    All.push_back(makeStream());
    add<<<1, 1, 0, All[S]>>>(Words + S, nullptr);
  }
  CHECK(cudaDeviceSynchronize());
  for (unsigned Turn = 0; Turn < Turns; ++Turn)
    for (unsigned S = 0; S < Streams; ++S) {
#ifdef RACY
      const unsigned Where = S % (Streams - 1);
#else
      const unsigned Where = S;
#endif
      add<<<1, 1, 0, All[S]>>>(Words + Where, nullptr);
      if (S == Turn % Streams) {
        // The next link is added by the next stream, when this one's is there.
        add<<<1, 1, 0, All[S]>>>(Chain + Turn + 1, Turn ? Chain + Turn : nullptr);
        order(All[S], All[(S + 1) % Streams]);
      }
      CHECK(cudaMemcpyAsync(&Copies[Turn * Streams + S], Words + S, sizeof(unsigned), // RACE
                            cudaMemcpyDeviceToDevice, All[S]));
    }
  CHECK(cudaDeviceSynchronize());
  bool IsRight = matches(Chain + 1, Turns, [](size_t) { return 1u; });
#ifndef RACY
  IsRight &= matches(Words, Streams, [](size_t) { return Turns + 1; });
  IsRight &= matches(Copies, Turns * Streams,
                     [](size_t I) { return unsigned(I / Streams + 2); });
#endif
  return finish(IsRight);
}
