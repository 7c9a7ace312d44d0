// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which blocks run at the same time.

#include "session/Occupancy.h"

#include <fmt/format.h>

#include <algorithm>

namespace crsan {

static constexpr int64_t WarpSize = 32;
/// A multiprocessor has so many register files; a warp lives in one of them.
static constexpr int64_t RegisterFiles = 4;
/// Registers are given out to a warp in these units: 8 for each thread.
static constexpr int64_t RegisterUnit = 256;
/// The ABI of calls, and ptxas, need so many.
static constexpr int64_t LeastRegisters = 24, MostRegisters = 255;

static int64_t divideUp(int64_t Value, int64_t By) {
  return (Value + By - 1) / By;
}

static int64_t roundUp(int64_t Value, int64_t To) {
  return divideUp(Value, To) * To;
}

static int64_t warpsOf(const BlockNeeds &Needs) {
  return divideUp(Needs.Threads, WarpSize);
}

static bool isKnown(const Multiprocessors &Device, const BlockNeeds &Needs) {
  return Device.Count > 0 && Device.Threads > 0 && Device.Blocks > 0 &&
         Device.Registers > 0 && Device.SharedBytes > 0 &&
         Device.ReservedSharedBytes >= 0 && Device.SharedUnit > 0 &&
         Needs.Threads > 0 && Needs.Registers > 0 && Needs.SharedBytes >= 0;
}

/// Blocks that one multiprocessor holds, as far as registers allow.
static int64_t blocksByRegisters(const Multiprocessors &Device,
                                 const BlockNeeds &Needs) {
  int64_t PerWarp = roundUp(Needs.Registers * WarpSize, RegisterUnit);
  int64_t Warps = Device.Registers / RegisterFiles / PerWarp * RegisterFiles;
  return Warps / warpsOf(Needs);
}

/// Blocks that one multiprocessor holds, as far as all the rest allows.
static int64_t blocksByOthers(const Multiprocessors &Device,
                              const BlockNeeds &Needs) {
  int64_t Shared = roundUp(Needs.SharedBytes + Device.ReservedSharedBytes,
                           Device.SharedUnit);
  int64_t ByShared = Shared ? Device.SharedBytes / Shared : Device.Blocks;
  int64_t ByThreads = Device.Threads / WarpSize / warpsOf(Needs);
  return std::min({int64_t(Device.Blocks), ByThreads, ByShared});
}

Residency computeResidency(const Multiprocessors &Device,
                           const BlockNeeds &Needs, int BlocksEach) {
  Residency Found;
  Found.Needs = Needs;
  Found.Actual = uint64_t(std::max(BlocksEach, 0)) * std::max(Device.Count, 0);
  Found.IfRegistersWereFree = Found.Actual;
  // With fewer blocks than registers allow, something else is the limit: shared
  // memory that is set aside for the cache, say.
  if (BlocksEach > 0 && isKnown(Device, Needs) &&
      blocksByRegisters(Device, Needs) <= BlocksEach)
    Found.IfRegistersWereFree = std::max(
        Found.Actual, uint64_t(blocksByOthers(Device, Needs)) * Device.Count);
  return Found;
}

int registersThatFit(const Multiprocessors &Device, const BlockNeeds &Needs,
                     uint64_t Blocks) {
  if (!isKnown(Device, Needs) || Blocks == 0)
    return 0;
  // More blocks than these do not fit, and the arithmetic below stays small.
  if (Blocks > uint64_t(Device.Count) * Device.Blocks)
    return 0;
  int64_t BlocksEach = divideUp(int64_t(Blocks), Device.Count);
  int64_t WarpsInFile = divideUp(BlocksEach * warpsOf(Needs), RegisterFiles);
  int64_t PerWarp = Device.Registers / RegisterFiles / WarpsInFile;
  int64_t PerThread = PerWarp / RegisterUnit * (RegisterUnit / WarpSize);
  if (PerThread < LeastRegisters)
    return 0;
  return int(std::min(PerThread, MostRegisters / 8 * 8));
}

std::string describeShortage(const Multiprocessors &Device,
                             const Residency &Found, uint64_t Blocks) {
  const BlockNeeds &Needs = Found.Needs;
  std::string Text = fmt::format(
      "only {} of its {} blocks run at a time, for want of registers ({} a "
      "thread, some of them for the checks); if its blocks wait for each "
      "other, ",
      Found.Actual, Blocks, Needs.Registers);
  if (int Fit = registersThatFit(Device, Needs, Blocks))
    return Text + fmt::format("compile with -Xcuda-ptxas --maxrregcount={} or "
                              "give it __launch_bounds__({}, {})",
                              Fit, Needs.Threads,
                              (Blocks + Device.Count - 1) / Device.Count);
  return Text + fmt::format("launch at most {} of them", Found.Actual);
}

} // namespace crsan
