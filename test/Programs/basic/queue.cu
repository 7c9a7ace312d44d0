// Intent: threads append to a queue whose end they advance plainly.
#include "../check.h"

constexpr unsigned Threads = 64, Blocks = 32, Rounds = 8;

__global__ void append(unsigned *Queue, unsigned *End) {
  if (threadIdx.x % 32 != 0)
    return;
  for (unsigned R = 0; R < Rounds; ++R) {
    unsigned Value = (blockIdx.x * Threads + threadIdx.x) / 32 * Rounds + R;
#ifdef RACY
    unsigned Slot = *End; // RACE
    Queue[Slot] = Value;  // RACE
    *End = Slot + 1;      // RACE
#else
    Queue[atomicAdd(End, 1)] = Value;
#endif
  }
}

int main() {
  constexpr unsigned N = Threads / 32 * Blocks * Rounds;
  unsigned *Queue = zeroed<unsigned>(N), *End = zeroed<unsigned>(1);
  append<<<Blocks, Threads>>>(Queue, End);
  std::vector<bool> Seen(N);
  for (unsigned Value : download(Queue, N))
    Seen[Value % N] = true;
  bool Right = matches(End, 1, [](size_t) { return N; });
  for (unsigned I = 0; I < N; ++I)
    Right &= Seen[I];
  return finish(Right);
}
