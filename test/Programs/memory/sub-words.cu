// Intent: the bytes and shorts of a word are of different blocks; some overlap.
// FIXED: apart
// RACY: byte-in-short -DBYTE_IN_SHORT
// RACY: byte-in-word -DBYTE_IN_WORD
// RACY: short-in-word -DSHORT_IN_WORD
// RACY: one-byte -DONE_BYTE
#include <cstdint>

#include "../check.h"

constexpr unsigned Threads = 64, Blocks = 8, N = Threads * Blocks;

struct Memory {
  uint8_t *Bytes;
  uint16_t *Shorts;
};

__global__ void writeParts(Memory M, uint32_t *Out) {
  // Neighbours belong to neighbouring blocks.
  unsigned I = threadIdx.x * Blocks + blockIdx.x;
  M.Bytes[I] = uint8_t(I);   // RACE: byte-in-word one-byte
  M.Shorts[I] = uint16_t(I); // RACE: byte-in-short short-in-word
#ifdef BYTE_IN_SHORT
  Out[I] = reinterpret_cast<uint8_t *>(M.Shorts)[(2 * I + 3) % (2 * N)]; // RACE: byte-in-short
#elif defined(BYTE_IN_WORD)
  Out[I] = reinterpret_cast<uint32_t *>(M.Bytes)[I / 4]; // RACE: byte-in-word
#elif defined(SHORT_IN_WORD)
  Out[I] = reinterpret_cast<uint32_t *>(M.Shorts)[I / 2]; // RACE: short-in-word
#elif defined(ONE_BYTE)
  Out[I] = M.Bytes[I ^ 1]; // RACE: one-byte
#else
  Out[I] = M.Bytes[I] + M.Shorts[I];
#endif
}

int main() {
  uint32_t *Out = zeroed<uint32_t>(N);
  Memory M = {zeroed<uint8_t>(N), zeroed<uint16_t>(N)};
  writeParts<<<Blocks, Threads>>>(M, Out);
  return finish(matches(Out, N, [](size_t I) { return I % 256 + I; }) &&
                matches(M.Bytes, N, [](size_t I) { return uint8_t(I); }) &&
                matches(M.Shorts, N, [](size_t I) { return uint16_t(I); }));
}
