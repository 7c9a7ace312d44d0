// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where host code wrote last.
#ifndef CRSAN_INJECT_HOST_HOSTWRITES_H
#define CRSAN_INJECT_HOST_HOSTWRITES_H

#include <array>
#include <atomic>
#include <cstdint>

namespace crsan {

/// By word of memory, the site that wrote it last; of two words that share an
/// entry, one is forgotten. No function takes a lock.
class HostWrites {
public:
  /// `Site`: abi::HostSite::Number.
  void note(uint64_t Address, uint64_t Size, uint32_t Site);
  /// The site that has written some of the bytes; 0: none is known.
  uint32_t writerOf(uint64_t Address, uint64_t Size) const;

private:
  /// Written by several threads: an entry counts if both halves are of one
  /// address.
  struct Entry {
    std::atomic<uint64_t> Word{0};
    std::atomic<uint64_t> Writer{0}; ///< The site, and a hash of the word.
  };
  static constexpr unsigned WordBytes = 4, MostWords = 16;
  std::array<Entry, 1 << 14> Entries;
};

} // namespace crsan

#endif // CRSAN_INJECT_HOST_HOSTWRITES_H
