// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a run found, ready to be printed.
#include "Report/Finding.h"

#include <algorithm>

using namespace crsan;

bool crsan::isIntraWarp(abi::RaceKind Kind) {
  return Kind == abi::RaceKind::IntraWarpLostUpdate ||
         Kind == abi::RaceKind::IntraWarpConflict;
}

bool crsan::hasTwoSides(abi::RaceKind Kind) {
  switch (Kind) {
  case abi::RaceKind::None:
  case abi::RaceKind::ClobberedRead:
  case abi::RaceKind::LostUpdate:
  case abi::RaceKind::IntraWarpLostUpdate:
  case abi::RaceKind::IntraWarpConflict:
  case abi::RaceKind::Conflict:
    return false;
  case abi::RaceKind::ImproperLock:
  case abi::RaceKind::AtomicScope:
  case abi::RaceKind::WarpBarrier:
  case abi::RaceKind::IntraBlock:
  case abi::RaceKind::InterBlock:
  case abi::RaceKind::NotStrong:
  case abi::RaceKind::InterKernel:
  case abi::RaceKind::StreamOperation:
  case abi::RaceKind::HostAccess:
  case abi::RaceKind::BarrierDivergence:
  case abi::RaceKind::ProxyFence:
    return true;
  }
  return false;
}

Index3 crsan::threadIndex(const abi::Record &Rec) {
  return {Rec.Thread & 0x3ff, Rec.Thread >> 10 & 0x3ff,
          Rec.Thread >> 20 & 0x3f};
}

Index3 Finding::thread() const { return threadIndex(First); }

uint64_t Finding::reasons() const {
  if (!isTwoSided())
    return 0;
  uint64_t Reasons = First.After;
  if (kind() == abi::RaceKind::InterKernel ||
      kind() == abi::RaceKind::StreamOperation ||
      kind() == abi::RaceKind::HostAccess)
    Reasons |= abi::OtherGrid;
  if (Reasons & abi::SameWarp)
    Reasons |= abi::SameBlock;
  return Reasons;
}

/// The three indices of the `Linear`-th of a box, or nothing if that is not
/// known or lies outside.
static std::optional<Index3> indexIn(const Index3 &Extent, uint64_t Linear) {
  const uint64_t X = Extent[0], Y = Extent[1], Z = Extent[2];
  if (X == 0 || Y == 0 || Linear / X / Y >= Z)
    return std::nullopt;
  return Index3{uint32_t(Linear % X), uint32_t(Linear / X % Y),
                uint32_t(Linear / X / Y)};
}

EarlierThread Finding::earlierThread() const {
  EarlierThread T;
  const bool OtherGrid = reasons() & abi::OtherGrid;
  T.Linear = First.Before & 0xffff;
  T.Index = indexIn(OtherGrid ? EarlierBlockShape : BlockShape, T.Linear);
  if (reasons() & abi::SameBlock) {
    T.BlockIndex = {First.Block[0], First.Block[1], First.Block[2]};
    return T;
  }
  const uint64_t Block = First.Before >> 16;
  if (Block == abi::UnknownBlock)
    return T;
  T.Block = Block;
  T.BlockIndex = indexIn(OtherGrid ? EarlierGrid : Grid, Block);
  return T;
}

abi::Space Finding::space() const {
  if (First.MemorySpace == abi::Space::Generic && Site)
    return Site->Space;
  return First.MemorySpace;
}

uint32_t Finding::size() const {
  return Site && Site->Size ? Site->Size : First.Size;
}

bool Finding::sizeIsLowerBound() const {
  return !(Site && Site->Size) && First.Size == 255;
}

bool Report::hasRaces() const {
  return !std::all_of(Findings.begin(), Findings.end(),
                      [](const Finding &F) { return F.isFault(); });
}

Verdict Report::verdict() const {
  if (!Findings.empty())
    return Verdict::Racy;
  if (Summary.Oracle && Summary.KernelsLaunched == 0)
    return Summary.Oracle->Accesses || Summary.Oracle->HostAccesses
               ? Verdict::Clean
               : Verdict::NothingChecked;
  if (Summary.Checks == 0) {
    if (Summary.Host && Summary.Host->Checked)
      return Verdict::Clean;
    if (Summary.KernelsLaunched == 0)
      return Verdict::NothingChecked;
    // Code that shares memory by atomics alone has nothing to check.
    if (Summary.Sites == 0 && Summary.SkippedAccesses == 0 &&
        Summary.ExemptAccesses == 0)
      return Verdict::Clean;
    const bool Lost = Summary.Sites && !Summary.CountsComplete;
    return Lost ? Verdict::NotKnown : Verdict::NothingChecked;
  }
  if (Summary.KernelsLaunched == 0)
    return Summary.KernelsLeftOut ? Verdict::NothingChecked : Verdict::NotKnown;
  return Verdict::Clean;
}

bool Report::hasWarnings() const {
  return Summary.KernelsFailed || Summary.KernelsNotInstrumented ||
         Summary.KernelsSwitchedOff || Summary.DroppedRecords ||
         Summary.OperationsUnchecked || Summary.SkippedAccesses ||
         Summary.Suppressed ||
         (Summary.Metadata && Summary.Metadata->Unchecked) ||
         !Summary.Notes.empty();
}
