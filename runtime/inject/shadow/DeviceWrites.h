// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shadow to clear, and pages to enter.
#ifndef CRSAN_INJECT_SHADOW_DEVICEWRITES_H
#define CRSAN_INJECT_SHADOW_DEVICEWRITES_H

#include <cuda.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace crsan {

/// Writes to the memory of the device that metadata mode has, collected so that
/// neighbors are written together.
class DeviceWrites {
public:
  explicit DeviceWrites(CUstream Stream) : Stream(Stream) {}

  /// Where the table of pages is. To be set before the first flush().
  void setPages(CUdeviceptr Table) { Pages = Table; }

  void clear(uint64_t Address, uint64_t Bytes);
  /// Writes `Value` so many times.
  void fill(uint64_t Address, uint16_t Value, uint64_t Number) {
    ToFill.push_back({Address, Value, Number});
  }
  /// The entry of the table of pages.
  void setEntry(uint64_t Index, uint64_t Entry) { Entries[Index] = Entry; }
  /// Clears first, then fills, and enters pages then. Returns when that is
  /// done.
  void flush();

  /// Says once that a call has failed.
  void note(CUresult Result, const char *Call);
  /// The device may not know what was written.
  bool hasFailed() const { return HasFailed; }

private:
  CUresult clearAll();
  CUresult fillAll();
  CUresult writeEntries();

  const CUstream Stream;
  CUdeviceptr Pages = 0;
  std::vector<std::pair<uint64_t, uint64_t>> ToClear;
  struct Fill {
    uint64_t Address;
    uint16_t Value;
    uint64_t Number;
  };
  std::vector<Fill> ToFill;
  std::map<uint64_t, uint64_t> Entries; ///< By index.
  bool HasFailed = false;
};

} // namespace crsan

#endif // CRSAN_INJECT_SHADOW_DEVICEWRITES_H
