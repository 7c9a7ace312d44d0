// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chains of SHA-256: a thread hashes a message of 32 bytes, and again the
// digest in the next launch. The block's threads share a table of the round
// constants. The planted variant counts in half digests where it stores them,
// so neighbours overwrite each other's.

#include "Suite.h"
#include <utility>

constexpr int Threads = 256, Rounds = 64, Words = 8; // of a digest

__host__ __device__ uint32_t rotate(uint32_t X, int By) {
  return X >> By | X << (32 - By);
}

/// \p Constants are those of the rounds, and behind them the initial state.
__host__ __device__ void hash(const uint32_t *Constants,
                              const uint32_t *Message, uint32_t *Digest) {
  uint32_t W[16] = {};
  for (int I = 0; I < Words; ++I)
    W[I] = Message[I];
  W[Words] = 1u << 31;
  W[15] = 32 * Words; // The length in bits.
  uint32_t S[Words];
  for (int I = 0; I < Words; ++I)
    S[I] = Constants[Rounds + I];
  for (int R = 0; R < Rounds; ++R) {
    const uint32_t Sum1 = rotate(S[4], 6) ^ rotate(S[4], 11) ^ rotate(S[4], 25);
    const uint32_t Choice = (S[4] & S[5]) ^ (~S[4] & S[6]);
    const uint32_t Sum0 = rotate(S[0], 2) ^ rotate(S[0], 13) ^ rotate(S[0], 22);
    const uint32_t Majority = (S[0] & S[1]) ^ (S[0] & S[2]) ^ (S[1] & S[2]);
    const uint32_t New = S[7] + Sum1 + Choice + Constants[R] + W[0];
    for (int I = Words - 1; I > 0; --I)
      S[I] = S[I - 1];
    S[4] += New;
    S[0] = New + Sum0 + Majority;

    const uint32_t Mixed0 = rotate(W[1], 7) ^ rotate(W[1], 18) ^ W[1] >> 3;
    const uint32_t Mixed1 = rotate(W[14], 17) ^ rotate(W[14], 19) ^ W[14] >> 10;
    const uint32_t Next = W[0] + Mixed0 + W[9] + Mixed1;
    for (int I = 0; I < 15; ++I)
      W[I] = W[I + 1];
    W[15] = Next;
  }
  for (int I = 0; I < Words; ++I)
    Digest[I] = S[I] + Constants[Rounds + I];
}

__global__ void hashAll(const uint32_t *Constants, const uint32_t *Messages,
                        uint32_t *Digests) {
  __shared__ uint32_t Table[Rounds + Words];
  if (threadIdx.x < Rounds + Words)
    Table[threadIdx.x] = Constants[threadIdx.x];
  __syncthreads();
  const size_t I = blockIdx.x * Threads + threadIdx.x;
  uint32_t Digest[Words];
  hash(Table, Messages + I * Words, Digest);
  for (int W = 0; W < Words; ++W)
    Digests[I * VARIANT(Words, Words / 2) + W] = Digest[W]; // RACE
}

/// The first 32 bits of the fractions of the primes' cube roots, and then those
/// of the square roots.
static std::vector<uint32_t> makeConstants() {
  std::vector<int> Primes;
  for (int N = 2; Primes.size() < Rounds; ++N) {
    bool IsPrime = true;
    for (int Prime : Primes)
      IsPrime = IsPrime && N % Prime;
    if (IsPrime)
      Primes.push_back(N);
  }
  const auto FractionOf = [](double Root) {
    return static_cast<uint32_t>((Root - std::floor(Root)) * 0x1p32);
  };
  std::vector<uint32_t> Constants;
  for (int Prime : Primes)
    Constants.push_back(FractionOf(std::cbrt(Prime)));
  for (int I = 0; I < Words; ++I)
    Constants.push_back(FractionOf(std::sqrt(Primes[I])));
  return Constants;
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int N = Small ? 2 * Threads : 1 << 20, Launches = Small ? 2 : 20;
  std::vector<uint32_t> Messages(N * Words);
  for (uint32_t &Word : Messages)
    Word = draw();
  const std::vector<uint32_t> HostConstants = makeConstants();
  DeviceArray<uint32_t> Constants(HostConstants);
  DeviceArray<uint32_t> First(Messages), Second(Messages.size());
  uint32_t *From = First, *To = Second;
  for (int Launch = 0; Launch < Launches; ++Launch) {
    hashAll<<<N / Threads, Threads>>>(Constants, From, To);
    std::swap(From, To);
  }
  const std::vector<uint32_t> Got = First.download(); // Launches is even.

  bool Right = true;
  for (int Sample = 0; Sample < 1024; ++Sample) {
    const size_t I = draw() % N;
    uint32_t Want[Words];
    memcpy(Want, &Messages[I * Words], sizeof(Want));
    for (int Launch = 0; Launch < Launches; ++Launch)
      hash(HostConstants.data(), Want, Want);
    Right = Right && !memcmp(Want, &Got[I * Words], sizeof(Want));
  }
  return finish(Right);
}
