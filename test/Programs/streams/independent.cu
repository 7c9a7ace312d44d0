// Intent: two streams that never wait for each other each launch a kernel again and again, on memory of
// their own. Later blocks of a launch get the numbers that the first blocks of the stream's last launch had, and begin
// while the first blocks judge what those did. (That takes more than 4,400 warps.)
// CLEAN-ONLY
#include "../check.h"
#include "streams.h"

constexpr unsigned Threads = 128;
CONSTANT Scaled<2048, 32> Blocks;
CONSTANT Scaled<16, 4> PerThread;
CONSTANT Scaled<300, 8> Launches;

template <unsigned Step> __global__ void add(unsigned *Sums) {
  const unsigned All = Blocks * Threads;
  const unsigned First = blockIdx.x * Threads + threadIdx.x;
  for (unsigned I = First; I < All * PerThread; I += All)
    Sums[I] += Step;
}

int main() {
  const unsigned Number = Blocks * Threads * PerThread;
  unsigned *Here = zeroed<unsigned>(Number), *There = zeroed<unsigned>(Number);
  cudaStream_t One = makeStream(), Other = makeStream();
  for (unsigned I = 0; I < Launches; ++I) {
    add<1><<<Blocks, Threads, 0, One>>>(Here);
    add<2><<<Blocks, Threads, 0, Other>>>(There);
  }
  CHECK(cudaDeviceSynchronize());
  return finish(matches(Here, Number, [](size_t) { return unsigned(Launches); }) &
                matches(There, Number, [](size_t) { return 2 * unsigned(Launches); }));
}
