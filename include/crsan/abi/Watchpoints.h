// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of watchpoints: what threads that wait in a check are about to
// access.
#ifndef CRSAN_ABI_WATCHPOINTS_H
#define CRSAN_ABI_WATCHPOINTS_H

#include <cstddef>
#include <cstdint>

namespace crsan::abi {

/// What one thread is about to access in the shared memory of its block, or of
/// another block of its cluster. Word
/// is like an entry of Watchpoints::Global, except that bits 10-24 hold the
/// offset / 8 in shared memory and the bits above hold a version, which tells
/// two uses of the entry apart.
struct SharedWatchpoint {
  uint64_t Word;
  uint64_t Version;
  uint64_t Grid; ///< %gridid; the rank of the block in its cluster from bit 56.
  /// The index of the cluster: x in bits 0-31, y in 32-47, z in 48-63.
  uint64_t Cluster;
  /// Site::Id of the matrix product that is going to read the bytes. A thread
  /// that finds the watchpoint takes it away and reports the race, since the
  /// warp group goes on meanwhile. 0: a thread that waits in a check or for a
  /// copy.
  uint64_t Product;
  /// Which product: the number of the warp group in its block from bit 32, and
  /// how many products the warp group had come to before.
  uint64_t Turn;
};
static_assert(sizeof(SharedWatchpoint) == 48 &&
              offsetof(SharedWatchpoint, Word) == 0 &&
              offsetof(SharedWatchpoint, Version) == 8 &&
              offsetof(SharedWatchpoint, Grid) == 16 &&
              offsetof(SharedWatchpoint, Cluster) == 24 &&
              offsetof(SharedWatchpoint, Product) == 32 &&
              offsetof(SharedWatchpoint, Turn) == 40);

/// SharedWatchpoint::Word of an entry that a thread fills in.
inline constexpr uint64_t WatchpointClaimed = 2;
/// The bits of the word that say which 8 bytes it is about.
inline constexpr uint64_t SharedPlace = 0x1fffc00;
/// While warps of a warp group come to a product, the word is 2 in its two low
/// bits, and has a bit for each warp that has come from this one on. It does
/// not watch until all four have come.
inline constexpr unsigned ComersAt = 2;
inline constexpr uint64_t AllComers = 0xf << ComersAt;

/// A watchpoint on bytes of an asynchronous copy, from the copy's issue until
/// its thread waits for it. The thread goes on meanwhile.
struct CopyWatch {
  uint64_t Entry; ///< The address of the watchpoint's word; 0: free.
  uint64_t Word;  ///< What the thread has written there.
  uint64_t Site;  ///< The address of the copy's Site.
  uint64_t Address;
};
static_assert(sizeof(CopyWatch) == 32 && offsetof(CopyWatch, Entry) == 0 &&
              offsetof(CopyWatch, Word) == 8 &&
              offsetof(CopyWatch, Site) == 16 &&
              offsetof(CopyWatch, Address) == 24);

/// The thread has the number of its CopyWatch, from 1, in a variable; the bits
/// from this one on count the groups that it has committed since. Of a product:
/// the place of the watched bytes in shared memory, in units of 8 bytes,
/// from 1.
inline constexpr unsigned CommitsAt = 16;

/// What a thread has accessed in this grid, in a kernel whose blocks nothing
/// orders (RacesAnyTime). Its thread does not take it away. The key is in
/// Watchpoints::LastingKeys. Threads write the words one by one, and read them
/// so; words that do not belong together do not have the Sum.
struct alignas(16) LastingWatchpoint {
  uint64_t Block; ///< Linear index in the grid.
  /// The warp's index in its block from bit 32; below it, how many barriers of
  /// the block the thread has come through.
  uint64_t Moment;
  uint64_t Site; ///< Site::Id.
  uint64_t Sum;  ///< A hash of the grid's %gridid, the key and the above.
};
static_assert(sizeof(LastingWatchpoint) == 32 &&
              offsetof(LastingWatchpoint, Block) == 0 &&
              offsetof(LastingWatchpoint, Moment) == 8 &&
              offsetof(LastingWatchpoint, Site) == 16 &&
              offsetof(LastingWatchpoint, Sum) == 24);
/// Set in a key of LastingKeys that is about the block's own shared memory.
inline constexpr uint64_t LastingInShared = uint64_t(1) << 63;

/// Device memory, one per context, zeroed by the host: what threads that wait
/// in a check are about to access, for other threads to find. An entry watches
/// some of 8 aligned bytes. It is 0 while free, and odd while it watches; a
/// thread that is about to make a conflicting access exchanges it for the
/// address of its own Site, which is even.
struct Watchpoints {
  static constexpr uint32_t NumGlobal = 1 << 16, NumShared = 1 << 14,
                            NumCopies = 1 << 10, NumLasting = 1 << 17;
  /// Address / 8 in bits 10-63, a mask of the bytes in bits 2-9, bit 1 set for
  /// a write.
  uint64_t Global[NumGlobal];
  SharedWatchpoint Shared[NumShared];
  CopyWatch Copies[NumCopies];
  /// As Global, in the lower half of the table. In the upper half, for the
  /// block's own shared memory: the offset / 8 in bits 10-24, and
  /// LastingInShared.
  uint64_t LastingKeys[NumLasting];
  LastingWatchpoint Lasting[NumLasting];
};
static_assert(sizeof(Watchpoints) == 6586368 &&
              offsetof(Watchpoints, Global) == 0 &&
              offsetof(Watchpoints, Shared) == 524288 &&
              offsetof(Watchpoints, Copies) == 1310720 &&
              offsetof(Watchpoints, LastingKeys) == 1343488 &&
              offsetof(Watchpoints, Lasting) == 2392064);

/// In pinned memory of the host, one per context: what threads of the host that
/// wait in a check are about to access, for threads of kernels to find. A
/// thread of a kernel only reads it.
struct HostWatchpoints {
  static constexpr uint32_t Num = 8;
  uint64_t NumSet; ///< How many words are set, or about to be.
  /// As in Watchpoints::Global. 0: it watches nothing.
  uint64_t Words[Num];
  /// SiteEntry::Id of the host's access. Written before the word is set.
  uint64_t Sites[Num];
};
static_assert(sizeof(HostWatchpoints) == 136 &&
              offsetof(HostWatchpoints, NumSet) == 0 &&
              offsetof(HostWatchpoints, Words) == 8 &&
              offsetof(HostWatchpoints, Sites) == 72);

/// The word of a watchpoint on the bytes from `Address` on, at most `Size` of
/// them, that lie in the aligned 8 bytes around `Address`, in global memory.
inline constexpr uint64_t watchpointAt(uint64_t Address, uint64_t Size,
                                       bool IsWrite) {
  const uint32_t From = Address & 7;
  const uint32_t To = Size < 8 - From ? From + uint32_t(Size) : 8;
  const uint32_t Bytes = (1u << To) - (1u << From);
  return Address >> 3 << 10 | Bytes << 2 | uint32_t(IsWrite) << 1 | 1;
}

} // namespace crsan::abi

#endif // CRSAN_ABI_WATCHPOINTS_H
