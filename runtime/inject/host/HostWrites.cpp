// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where host code wrote last.

#include "host/HostWrites.h"

#include "host/HostRanges.h"

#include <algorithm>

namespace crsan {

static uint64_t hashOf(uint64_t Word) {
  return (Word * 0x9e3779b97f4a7c15u) >> 32;
}

/// The words that the bytes are in; of very many, the first ones.
static uint64_t endOf(uint64_t Address, uint64_t Size, unsigned WordBytes,
                      unsigned Most) {
  const uint64_t First = Address / WordBytes;
  return std::min((Address + Size + WordBytes - 1) / WordBytes, First + Most);
}

void HostWrites::note(uint64_t Address, uint64_t Size, uint32_t Site) {
  const uint64_t End = endOf(Address, Size, WordBytes, MostWords);
  for (uint64_t Word = Address / WordBytes; Word < End; ++Word) {
    const uint64_t Hash = hashOf(Word);
    Entry &E = Entries[Hash % Entries.size()];
    E.Word.store(Word, Relaxed);
    E.Writer.store(Hash << 32 | Site, Relaxed);
  }
}

uint32_t HostWrites::writerOf(uint64_t Address, uint64_t Size) const {
  const uint64_t End = endOf(Address, Size, WordBytes, MostWords);
  for (uint64_t Word = Address / WordBytes; Word < End; ++Word) {
    const uint64_t Hash = hashOf(Word);
    const Entry &E = Entries[Hash % Entries.size()];
    const uint64_t Writer = E.Writer.load(Relaxed);
    if (E.Word.load(Relaxed) == Word && Writer >> 32 == Hash)
      return uint32_t(Writer);
  }
  return 0;
}

} // namespace crsan
