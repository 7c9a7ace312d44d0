// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What addresses mean.
//
// A generic address is one of:
//   * a host address, tag 0 (bits 56 to 63): global and constant memory. It
//   must
//     lie in the allocation table;
//   * tag 1: shared memory; bits 0 to 23 are the offset in the block's, bits 24
//     to 31 the block of the cluster plus one (0: the thread's own), so that
//     the low 32 bits are a shared::cluster address;
//   * tag 2: local memory; bits 0 to 31 are the offset in the thread's;
//   * tag 3: kernel parameters; bits 0 to 31 are the offset;
//   * tag 4: code; bits 4 to 31 are the number of a function in its image.
#ifndef CRSAN_SIM_MEMORY_H
#define CRSAN_SIM_MEMORY_H

#include "Observer.h"

#include <map>
#include <optional>
#include <vector>

namespace crsan::sim {

namespace window {
inline constexpr uint64_t Shared = uint64_t(1) << 56;
inline constexpr uint64_t Local = uint64_t(2) << 56;
inline constexpr uint64_t Param = uint64_t(3) << 56;
inline constexpr uint64_t Code = uint64_t(4) << 56;
inline uint64_t codeAddress(uint32_t Function) {
  return Code | uint64_t(Function + 1) << 4;
}
inline uint64_t tag(uint64_t Address) { return Address >> 56 << 56; }
} // namespace window

/// Addresses of shared memory: a block's number in its cluster, and an offset.
/// Those of one's own name it as well, as an H200's do.
struct ClusterAddress {
  static constexpr unsigned RankAt = 24, RankBits = 8;
  static uint32_t offset(uint64_t A) { return A & ((1u << RankAt) - 1); }
  static uint32_t rank(uint64_t A) {
    return uint32_t(A >> RankAt) & ((1u << RankBits) - 1);
  }
  static uint64_t withRank(uint64_t A, uint32_t Rank) {
    constexpr uint64_t Mask = uint64_t((1u << RankBits) - 1) << RankAt;
    return (A & ~Mask) | uint64_t(Rank) << RankAt;
  }
};

/// Shared memory that the system keeps of each block for libraries (cooperative
/// groups synchronise tiles of several warps there): beyond all that a program
/// may have, so that running over the end of the program's is still seen.
struct ReservedShared {
  static constexpr uint32_t Begin = 256 * 1024, Size = 1024;
  static constexpr uint32_t End = Begin + Size;
  /// Where its two parts begin.
  static constexpr uint32_t Parts[] = {Begin, Begin + Size / 2};

  static bool holds(uint32_t Offset, uint32_t Bytes) {
    return Offset >= Begin && Offset < End && Bytes <= End - Offset;
  }
};

/// Which host ranges device code may touch.
class AllocationTable {
public:
  struct Range {
    uint64_t Begin = 0, End = 0;
    bool IsReadOnly = false; ///< Constant memory.
    bool contains(uint64_t Address, uint64_t Size) const {
      return Address >= Begin && Address + Size <= End &&
             Address + Size >= Address;
    }
  };

  void add(uint64_t Begin, uint64_t Size, bool IsReadOnly);
  /// Of the range that begins here; false if there is none.
  bool remove(uint64_t Begin);
  void clear();

  /// The range that holds all of these bytes, or null.
  const Range *find(uint64_t Address, uint64_t Size) const {
    // Accesses of a kernel alternate between few arrays.
    for (const Range &R : Last)
      if (R.contains(Address, Size))
        return &R;
    return findSlow(Address, Size);
  }
  /// The range next below or around an address, for messages.
  const Range *nearest(uint64_t Address) const;
  /// As the other is, if it has changed.
  void follow(const AllocationTable &Other) {
    if (Changes != Other.Changes)
      *this = Other;
  }

private:
  const Range *findSlow(uint64_t Address, uint64_t Size) const;

  std::vector<Range> Ranges; ///< By Begin; disjoint.
  uint64_t Changes = 0;
  mutable Range Last[4];
  mutable unsigned NextLast = 0;
};

/// Device memory: one reservation at an address that is, where possible, the
/// same in every run, so that programs that compute with addresses replay.
/// Allocations are apart, so that running over the end of one is seen.
class Arena {
public:
  Arena() = default; ///< None.
  Arena(int Ordinal);
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  void *allocate(size_t Bytes, size_t Align);
  /// Bytes of the allocation, 0 if it is none.
  size_t free(void *);
  void clear();

private:
  static constexpr size_t Gap = 512;

  uint8_t *Base = nullptr;
  size_t Size = 0;
  struct Piece {
    size_t Start, Reserved, Bytes;
  };
  std::map<size_t, Piece> Used;   ///< By offset of the first usable byte.
  std::map<size_t, size_t> Holes; ///< Offset -> bytes.
};

} // namespace crsan::sim

#endif // CRSAN_SIM_MEMORY_H
