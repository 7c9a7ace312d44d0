// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device memory -> occurrences.
#ifndef CRSAN_INJECT_SESSION_COLLECTOR_H
#define CRSAN_INJECT_SESSION_COLLECTOR_H

#include "Report/Finding.h"
#include "crsan/abi/Metadata.h"
#include "crsan/abi/Record.h"

#include <span>
#include <vector>

namespace crsan {

/// Complete records in the buffer, which the device may still be filling.
/// `Sites` are copies of the context's Site arrays, `Pairs` one of its racing
/// pairs, taken when `Exact` is true after its last kernel, else before: their
/// counts are then lower bounds, as are those that the device published in the
/// buffer, and the greater is taken. Block indices come out as the program saw
/// them, shuffled by `Seed` or not.
std::vector<Occurrence>
collectOccurrences(const abi::RecordBuffer &Buffer,
                   std::span<const abi::Site> Sites, bool Exact, int Device,
                   uint32_t Seed, std::span<const abi::RacingPair> Pairs = {});

/// How many complete records there are.
size_t countRecords(const abi::RecordBuffer &Buffer);

/// Sums of the shards.
struct CheckCounts {
  uint64_t Checks = 0, Windows = 0, DelayNs = 0;
};
CheckCounts sumShards(const abi::Counters &Counters);

} // namespace crsan

#endif // CRSAN_INJECT_SESSION_COLLECTOR_H
