// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hash table with open addressing: a thread per entry claims a slot for its key
// by atomicCAS, or finds the one that has it, and the greatest value of each
// key remains, by atomicMax. Another launch looks keys up. The planted variant
// reads a slot's key before the atomicCAS, to spare it when the slot is taken.

#include "Suite.h"

constexpr int Threads = 256;
constexpr uint32_t Free = 0;

struct Table {
  uint32_t Mask; // The number of slots, a power of two, less 1.
  uint32_t *Keys;
  int *Values;
};

__device__ uint32_t slotOf(const Table &T, uint32_t Key) {
  Key *= 0x85ebca6b;
  return (Key ^ Key >> 15) & T.Mask;
}

__global__ void insert(int N, const uint32_t *Keys, Table T) {
  const int I = blockIdx.x * Threads + threadIdx.x;
  if (I >= N)
    return;
  const uint32_t Key = Keys[I];
  uint32_t Slot = slotOf(T, Key);
  for (;; Slot = (Slot + 1) & T.Mask) {
    uint32_t Found = VARIANT(Free, T.Keys[Slot]); // RACE
    if (Found == Free)
      Found = atomicCAS(&T.Keys[Slot], Free, Key); // RACE
    if (Found == Free || Found == Key)
      break;
  }
  atomicMax(&T.Values[Slot], I);
}

__global__ void lookUp(int N, const uint32_t *Keys, Table T, int *Values) {
  const int I = blockIdx.x * Threads + threadIdx.x;
  if (I >= N)
    return;
  uint32_t Slot = slotOf(T, Keys[I]);
  while (T.Keys[Slot] != Keys[I] && T.Keys[Slot] != Free)
    Slot = (Slot + 1) & T.Mask;
  Values[I] = T.Keys[Slot] == Free ? -1 : T.Values[Slot];
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int N = Small ? 1 << 11 : 1 << 23, Blocks = (N + Threads - 1) / Threads;
  const uint32_t Slots = 2 * N, Range = N / 2;
  // Of the numbers below Range, keys are those that are drawn; multiplication
  // by an odd number spreads them, and makes none of them 0.
  const auto KeyOf = [](uint32_t Number) { return (Number + 1) * 2654435769u; };
  std::vector<uint32_t> Entries(N), Asked(N);
  std::vector<int> Last(2 * Range, -1), Want(N);
  for (int I = 0; I < N; ++I) {
    const uint32_t Number = draw() % Range;
    Entries[I] = KeyOf(Number);
    Last[Number] = I;
  }
  for (int I = 0; I < N; ++I) {
    const uint32_t Number = I * 7u % (2 * Range);
    Asked[I] = KeyOf(Number);
    Want[I] = Last[Number];
  }
  DeviceArray<uint32_t> Keys(Entries), Questions(Asked), TableKeys(Slots);
  DeviceArray<int> TableValues(Slots), Answers(N);
  const Table T{Slots - 1, TableKeys, TableValues};
  insert<<<Blocks, Threads>>>(N, Keys, T);
  lookUp<<<Blocks, Threads>>>(N, Questions, T, Answers);
  return finish(Answers.download() == Want);
}
