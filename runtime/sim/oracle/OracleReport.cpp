//===- OracleReport.cpp - What the oracle found, as records
//-----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "OracleReport.h"

#include "Report/Demangle.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace crsan;
using namespace crsan::sim;

namespace {

/// Makes sites and records of races.
class Recorder {
public:
  Recorder(const Oracle &O, const LinesOf &Lines, const CallerOf &Caller,
           const IsBarrierAt &IsBarrier)
      : O(O), Lines(Lines), Caller(Caller), IsBarrier(IsBarrier) {}

  void add(const RaceFinding &Race);
  bool isDivergence(RaceFinding &Meeting) const;

  ReportFile File;

private:
  const SiteInfo &siteOf(const RaceSide &S, bool IsBarrier = false);
  std::vector<SourceFrame> framesOf(const RaceSide &S) const;
  bool isOfUpdate(int32_t Instruction) const;

  const Oracle &O;
  const LinesOf &Lines;
  const CallerOf &Caller;
  const IsBarrierAt &IsBarrier;
  using SiteKey = std::tuple<int32_t, std::string, uint8_t, MemoryOrder, Scope,
                             bool, uint32_t, uint32_t>;
  std::map<SiteKey, uint64_t> Ids;
};

} // namespace

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

std::vector<SourceFrame> Recorder::framesOf(const RaceSide &S) const {
  if (S.IsHost && Caller && !S.isHostCode())
    if (std::optional<SourceFrame> Line = Caller(S.MadeAt))
      return {std::move(*Line)};
  if (S.Instruction == -1 || !Lines)
    return {};
  std::vector<SourceFrame> Frames = Lines(S.Instruction);
  for (SourceFrame &F : Frames)
    F.Function = demangle(F.Function);
  return Frames;
}

/// Whether the instruction reads, or writes, in a statement that does both at
/// one place. The columns tell: where a thread merely happens to have read the
/// location before it writes, there is no update.
bool Recorder::isOfUpdate(int32_t Instruction) const {
  const auto PlaceOf = [&](int32_t I) {
    const std::vector<SourceFrame> Frames = Lines(I);
    const SourceFrame F = Frames.empty() ? SourceFrame() : Frames.front();
    return std::tuple(F.File, F.Line, F.Column);
  };
  if (!Lines || Instruction == -1)
    return false;
  const auto Here = PlaceOf(Instruction);
  if (std::get<2>(Here) == 0)
    return false;
  return std::any_of(O.updates().begin(), O.updates().end(), [&](auto &U) {
    return (U.first == Instruction && PlaceOf(U.second) == Here) ||
           (U.second == Instruction && PlaceOf(U.first) == Here);
  });
}

/// The site of a side; an instruction has several if it is executed by several
/// kernels or in several ways.
const SiteInfo &Recorder::siteOf(const RaceSide &S, bool IsBarrier) {
  // Copies by one call of the API are one site, whatever their sizes.
  const uint32_t Size = S.IsHost ? 0 : S.Size;
  const auto [It, IsNew] =
      Ids.try_emplace({S.Instruction, S.Name, S.Flags, S.Order, S.Within,
                       S.IsVolatile, Size, S.MadeAt},
                      Ids.size() + 1);
  if (IsNew) {
    SiteInfo Site;
    Site.Id = It->second;
    // An atomic of which nobody uses the result updates as well.
    Site.Access = IsBarrier      ? abi::AccessKind::Barrier
                  : S.isAtomic() ? abi::AccessKind::Update
                                 : abi::kindOf(S.Flags);
    Site.Flags = S.Flags | (S.isStrong() ? abi::IsStrong : 0) |
                 (S.IsAsync ? abi::IsCopy : 0) |
                 (isOfUpdate(S.Instruction) ? abi::IsOfUpdate : 0);
    Site.Scope = S.Within;
    Site.Order = S.Order;
    Site.IsVolatile = S.IsVolatile;
    Site.Size = S.Size;
    Site.IsHost = S.isHostCode();
    if (!Site.IsHost)
      (S.IsHost ? Site.Operation : Site.Kernel) = demangle(S.Name);
    Site.Frames = framesOf(S);
    File.Sites.add(std::move(Site));
  }
  return *File.Sites.find(It->second);
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

/// Whether two barriers are surely different for a reader of the source, or
/// were come to in different iterations: not if they may be copies of one, or
/// of unknown places, or of inline assembly, which knows barriers by number.
/// The same line in two functions may be two copies, of which one was inlined.
/// AreIterations remains for copies of one barrier only.
bool Recorder::isDivergence(RaceFinding &Meeting) const {
  const auto A = framesOf(Meeting.Earlier), B = framesOf(Meeting.Later);
  if (!IsBarrier || !IsBarrier(A) || !IsBarrier(B))
    return false;
  const auto IsUnknown = [](const SourceFrame &F) {
    return F.Line == 0 || F.Column == 0;
  };
  const auto IsSame = [](const SourceFrame &F, const SourceFrame &G) {
    return F.File == G.File && F.Line == G.Line && F.Column == G.Column;
  };
  if (A.empty() || B.empty() || std::ranges::any_of(A, IsUnknown) ||
      std::ranges::any_of(B, IsUnknown))
    return false;
  const bool IsOneFunction = A.back().Function == B.back().Function;
  if (IsOneFunction && std::ranges::equal(A, B, IsSame))
    return Meeting.AreIterations;
  Meeting.AreIterations = false;
  return IsOneFunction || !IsSame(A.front(), B.front());
}

static bool hasHost(const RaceFinding &R) {
  return R.Earlier.IsHost || R.Later.IsHost;
}
static bool hasHostCode(const RaceFinding &R) {
  return R.Earlier.isHostCode() || R.Later.isHostCode();
}
static bool hasAsync(const RaceFinding &R) {
  return R.Earlier.IsAsync || R.Later.IsAsync;
}

/// As metadata mode classifies races.
static abi::RaceKind kindOf(const RaceFinding &R) {
  using enum abi::RaceKind;
  const abi::RaceKind ByDistance =
      R.Width == Distance::Grid ? InterBlock : IntraBlock;
  const bool IsStrong = R.Earlier.isStrong();
  if (R.AreBarriers)
    return BarrierDivergence;
  if (R.LacksProxyFence)
    return ProxyFence;
  if (hasHostCode(R))
    return HostAccess;
  if (hasHost(R))
    return StreamOperation;
  if (R.Width == Distance::Device)
    return InterKernel;
  if (hasAsync(R))
    return ByDistance;
  if (IsStrong && R.Later.isStrong())
    return R.OverlapsCompletely ? AtomicScope : ByDistance;
  // What lacks a fence does not lack a barrier of the warp.
  if (R.Width == Distance::Warp && R.ToldAt.empty())
    return WarpBarrier;
  return IsStrong != R.Later.isStrong() ? NotStrong : ByDistance;
}

static uint64_t reasonsOf(const RaceFinding &R) {
  const uint64_t Told =
      (R.ToldAt.empty() ? 0 : uint64_t(abi::LaterUnfenced)) |
      (R.AreIterations ? uint64_t(abi::OtherIteration) : 0) |
      (R.LacksProxyFence ? uint64_t(abi::LacksProxyFence) : 0);
  if (hasHost(R) || hasHostCode(R))
    return abi::OtherGrid;
  switch (R.Width) {
  case Distance::Warp:
    return Told | abi::SameWarp | abi::SameBlock;
  case Distance::Block:
    return Told | abi::SameBlock;
  case Distance::Grid:
    return Told;
  case Distance::Device:
    break;
  }
  return abi::OtherGrid;
}

/// Whether kind, reasons and sites say more of the race than the oracle's own
/// sentence.
static bool isExplained(const RaceFinding &R, const SiteInfo &Earlier,
                        const SiteInfo &Later) {
  if (R.LacksProxyFence)
    return true;
  if (hasHost(R) || hasHostCode(R) || hasAsync(R) ||
      R.Width == Distance::Device)
    return false;
  const bool AreUpdates = Earlier.isOfUpdate() && Later.isOfUpdate() &&
                          !(Earlier.isAtomic() && Later.isAtomic());
  return AreUpdates ||
         (!R.ToldAt.empty() && kindOf(R) != abi::RaceKind::AtomicScope);
}

static Index3 indexOf(const Dim3 &D) { return {D.X, D.Y, D.Z}; }

static uint64_t linearIn(const Dim3 &Extent, const Dim3 &Index) {
  return (uint64_t(Index.Z) * Extent.Y + Index.Y) * Extent.X + Index.X;
}

void Recorder::add(const RaceFinding &Race) {
  const RaceSide &Later = Race.Later, &Earlier = Race.Earlier;
  const SiteInfo &Site = siteOf(Later, Race.AreBarriers),
                 &Other = siteOf(Earlier, Race.AreBarriers);
  Occurrence &New = File.Occurrences.emplace_back();
  abi::Record &Rec = New.Rec;
  Rec.Site = Site.Id;
  Rec.Other = Other.Id;
  Rec.Kind = kindOf(Race);
  Rec.Flags = abi::TwoSided;
  Rec.MemorySpace = Race.Space;
  Rec.Address = Race.Space == Space::Shared && SharedAddress::is(Race.Address)
                    ? SharedAddress::offset(Race.Address)
                    : Race.Address;
  Rec.Size = uint8_t(std::min(Later.Size, 255u));
  std::ranges::copy(indexOf(Later.Block), Rec.Block);
  Rec.Thread = Later.Thread.X | Later.Thread.Y << 10 | Later.Thread.Z << 20;
  Rec.Before =
      abi::earlierThread(linearIn(Earlier.GridDim, Earlier.Block),
                         uint32_t(linearIn(Earlier.BlockDim, Earlier.Thread)));
  Rec.After = reasonsOf(Race);
  New.Count = Race.Count;
  New.Device = int(Race.Device);
  New.Grid = indexOf(Later.GridDim);
  New.BlockShape = indexOf(Later.BlockDim);
  New.EarlierGrid = indexOf(Earlier.GridDim);
  New.EarlierBlockShape = indexOf(Earlier.BlockDim);
  New.Memory = Race.Memory;
  if (!isExplained(Race, Other, Site))
    New.Explanation = Race.Missing;
  for (const StrongRead &Read : Race.ToldAt) {
    RaceSide Side;
    Side.Flags = ReadsMemory | (Read.IsAtomic ? abi::IsAtomic : 0);
    Side.Order = MemoryOrder::Relaxed;
    Side.Name = Later.Name;
    Side.Instruction = Read.Instruction;
    New.Told.push_back(siteOf(Side).Id);
  }
}

ReportFile sim::oracleRecords(const Oracle &O, const LinesOf &Lines,
                              const CallerOf &Caller,
                              const IsBarrierAt &IsBarrier) {
  Recorder R(O, Lines, Caller, IsBarrier);
  for (const RaceFinding &Race : O.findings())
    R.add(Race);
  for (RaceFinding Meeting : O.meetings())
    if (R.isDivergence(Meeting))
      R.add(Meeting);
  R.File.Summary.IsSimulated = true;
  R.File.Summary.Oracle = O.counts();
  return std::move(R.File);
}
