// Intent: thousands of kernels over the same memory, in each of which other threads
// have the words that some had before.
#include "../check.h"

constexpr unsigned Threads = 64, Blocks = 4, N = Threads * Blocks;
CONSTANT Scaled<5000, 300> Launches;

/// Moves all words along by one.
__global__ void shift(const unsigned *From, unsigned *To, unsigned Launch) {
  unsigned I = (blockIdx.x * Threads + threadIdx.x + Launch * 37) % N;
#ifdef RACY
  if (Launch == Launches - 1)
    I /= 2;
#endif
  To[I] = From[(I + 1) % N] + 1; // RACE
}

/// The same in place, with a block's own words.
__global__ void turn(unsigned *Words) {
  unsigned First = blockIdx.x * Threads, I = threadIdx.x;
  unsigned Word = Words[First + (I + 1) % Threads];
  __syncthreads();
  Words[First + I] = Word;
}

int main() {
  std::vector<unsigned> Want(N), Next(N);
  for (unsigned I = 0; I < N; ++I)
    Want[I] = I;
  unsigned *From = upload(Want), *To = zeroed<unsigned>(N);
  for (unsigned Launch = 0; Launch < Launches; ++Launch) {
    shift<<<Blocks, Threads>>>(From, To, Launch);
    turn<<<Blocks, Threads>>>(To);
    std::swap(From, To);
    for (unsigned I = 0; I < N; ++I)
      Next[I] = Want[(I + 1) % N] + 1;
    for (unsigned I = 0; I < N; ++I)
      Want[I] = Next[I / Threads * Threads + (I + 1) % Threads];
  }
  return finish(matches(From, N, [&](size_t I) { return Want[I]; }));
}
