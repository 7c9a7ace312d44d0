// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels whose threads have nothing to do with each other.

#include "Device.h"

static void vectorAdd(Program &P) {
  constexpr int N = 3000;
  Array<float> X(N), Y(N), Out(N);
  Numbers Random;
  Random.fill(X);
  Random.fill(Y);
  P.launch({dim3(3)}, X, Y, Out, N);
  for (int I = 0; I < N; ++I)
    expect(Out[I], X[I] + Y[I], 0, "out", I);
}

/// The first word of Philox 4x32-10 with this seed and counter.
static uint32_t philox(uint32_t Seed, uint32_t Counter) {
  uint32_t C[4] = {Counter, 0, 0}, Key[2] = {Seed, 0};
  for (int Round = 0; Round < 10; ++Round) {
    const uint64_t P0 = uint64_t(C[0]) * 0xD2511F53;
    const uint64_t P2 = uint64_t(C[2]) * 0xCD9E8D57;
    const uint32_t New[4] = {uint32_t(P2 >> 32) ^ C[1] ^ Key[0], uint32_t(P2),
                             uint32_t(P0 >> 32) ^ C[3] ^ Key[1], uint32_t(P0)};
    std::copy(New, New + 4, C);
    Key[0] += 0x9E3779B9;
    Key[1] += 0xBB67AE85;
  }
  return C[0];
}

static void dropout(Program &P) {
  constexpr int N = 900, Seed = 42;
  constexpr float Chance = 0.25f;
  Array<float> X(N), Out(N);
  Numbers Random;
  Random.fill(X);
  P.launch({dim3(2)}, X, Out, N, Chance, Seed);
  for (int I = 0; I < N; ++I) {
    const int32_t Word = int32_t(philox(Seed, I));
    const bool IsKept = float(Word < 0 ? ~Word : Word) * 4.6566127342e-10f > Chance;
    expect(Out[I], IsKept ? X[I] / (1 - Chance) : 0, 1e-6, "out", I);
  }
}

const std::vector<Case> ElementCases = {{"vector_add", vectorAdd},
                                        {"dropout", dropout}};
