// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What sleeping threads will access.
#ifndef CRSAN_ABI_WATCHPOINTS_H
#define CRSAN_ABI_WATCHPOINTS_H

#include <cstddef>
#include <cstdint>

namespace crsan::abi {

/// What one thread is about to access in the shared memory of its block. Word
/// is like an entry of Watchpoints::Global, except that bits 10-24 hold the
/// offset / 8 in shared memory and the bits above hold a version, which tells
/// two uses of the entry apart.
struct SharedWatchpoint {
  uint64_t Word;
  uint64_t Version;
  uint64_t Grid;  ///< %gridid.
  uint64_t Block; ///< x in bits 0-31, y in 32-47, z in 48-63.
};
static_assert(sizeof(SharedWatchpoint) == 32 &&
              offsetof(SharedWatchpoint, Word) == 0 &&
              offsetof(SharedWatchpoint, Version) == 8 &&
              offsetof(SharedWatchpoint, Grid) == 16 &&
              offsetof(SharedWatchpoint, Block) == 24);

/// Device memory, one per context, zeroed by the host: what threads that sleep
/// in a check are about to access, for other threads to find. An entry watches
/// some of 8 aligned bytes. It is 0 while free, and odd while it watches; a
/// thread that is about to make a conflicting access exchanges it for the
/// address of its own Site, which is even.
struct Watchpoints {
  static constexpr uint32_t NumGlobal = 1 << 15, NumShared = 1 << 12;
  /// Address / 8 in bits 10-63, a mask of the bytes in bits 2-9, bit 1 set for
  /// a write.
  uint64_t Global[NumGlobal];
  SharedWatchpoint Shared[NumShared];
};
static_assert(sizeof(Watchpoints) == 393216 &&
              offsetof(Watchpoints, Global) == 0 &&
              offsetof(Watchpoints, Shared) == 262144);

} // namespace crsan::abi

#endif // CRSAN_ABI_WATCHPOINTS_H
