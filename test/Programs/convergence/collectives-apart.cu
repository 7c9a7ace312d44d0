// Intent: lanes of one mask execute a collective by different instructions, as PTX allows where these have the same
// qualifiers.
// CLEAN-ONLY
// ALSO: -O0
#include "../check.h"

constexpr unsigned Threads = 32, All = ~0u;

/// A collective at two places, with registers of different names.
template <typename F> __device__ unsigned atTwoPlaces(unsigned *Scratch, unsigned T, F Collective) {
  unsigned Result;
  if (T < 8) {
    Result = Collective(T);
    Scratch[T] = Result;
  } else {
    Result = Collective(2 * T) * 3;
  }
  return Result;
}

__global__ void apart(unsigned *Results, unsigned *Scratch) {
  const unsigned T = threadIdx.x;
  unsigned *Row = Results + T * 8;
  Row[0] = atTwoPlaces(Scratch, T, [](unsigned V) { return __shfl_sync(All, V, 20); });
  Row[1] = atTwoPlaces(Scratch, T, [](unsigned V) { return __shfl_sync(All, V, 3); });
  Row[2] = atTwoPlaces(Scratch, T, [](unsigned V) { return __shfl_xor_sync(All, V, 16); });
  Row[3] = atTwoPlaces(Scratch, T, [](unsigned V) { return __ballot_sync(All, V & 1); });
  Row[4] = atTwoPlaces(Scratch, T, [](unsigned V) { return unsigned(__any_sync(All, V == 62)); });
  Row[5] = atTwoPlaces(Scratch, T, [](unsigned V) { return __match_any_sync(All, V / 16); });
  // A tile of the lanes that part.
  Row[6] = atTwoPlaces(Scratch, T, [](unsigned V) { return __shfl_down_sync(0xffffu << (threadIdx.x & 16), V, 5, 16); });
  // In a loop of each side's own.
  unsigned Sum = T;
  if (T & 1)
    for (unsigned I = 0; I < 10; ++I)
      Sum += __shfl_sync(All, Sum, I + 2);
  else
    for (unsigned I = 0; I < 10; ++I)
      Sum ^= __shfl_sync(All, Sum, I + 2);
  Row[7] = Sum;
}

/// What lane T gives in a collective, and what becomes of its result R.
static unsigned given(unsigned T) { return T < 8 ? T : 2 * T; }
static unsigned kept(unsigned T, unsigned R) { return T < 8 ? R : 3 * R; }

static std::vector<unsigned> expected() {
  std::vector<unsigned> Rows(Threads * 8), Sums(Threads);
  unsigned Odd = 0;
  for (unsigned T = 0; T < Threads; ++T) {
    Odd |= (given(T) & 1) << T;
    Sums[T] = T;
  }
  for (unsigned I = 0; I < 10; ++I) {
    const unsigned From = Sums[I + 2];
    for (unsigned T = 0; T < Threads; ++T)
      Sums[T] = T & 1 ? Sums[T] + From : Sums[T] ^ From;
  }
  for (unsigned T = 0; T < Threads; ++T) {
    unsigned *Row = &Rows[T * 8], Same = 0;
    for (unsigned Other = 0; Other < Threads; ++Other)
      Same |= unsigned(given(Other) / 16 == given(T) / 16) << Other;
    Row[0] = kept(T, given(20));
    Row[1] = kept(T, given(3));
    Row[2] = kept(T, given(T ^ 16));
    Row[3] = kept(T, Odd);
    Row[4] = kept(T, 1);
    Row[5] = kept(T, Same);
    Row[6] = kept(T, given(T % 16 < 11 ? T + 5 : T));
    Row[7] = Sums[T];
  }
  return Rows;
}

int main() {
  unsigned *Results = zeroed<unsigned>(Threads * 8), *Scratch = zeroed<unsigned>(Threads);
  apart<<<1, Threads>>>(Results, Scratch);
  const std::vector<unsigned> Want = expected();
  return finish(matches(Results, Threads * 8, [&](size_t I) { return Want[I]; }));
}
