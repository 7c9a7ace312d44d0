// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a report calls things.
#include "Report/Words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

using namespace crsan;
using abi::RaceKind;

static constexpr KindWords Kinds[] = {
    {RaceKind::ClobberedRead, "clobbered_read", "", "clobbered read",
     "clobbered reads"},
    {RaceKind::LostUpdate, "lost_update", "", "lost update", "lost updates"},
    {RaceKind::IntraWarpLostUpdate, "intra_warp_lost_update", "",
     "intra-warp lost update", "intra-warp lost updates"},
    {RaceKind::IntraWarpConflict, "intra_warp_conflict", "",
     "intra-warp conflict", "intra-warp conflicts"},
    {RaceKind::Conflict, "conflict", "", "conflicting accesses",
     "conflicting accesses"},
    {RaceKind::ImproperLock, "improper_lock", "IL", "improper lock",
     "improper locks"},
    {RaceKind::AtomicScope, "atomic_scope", "AS", "insufficient atomic scope",
     "insufficient atomic scopes"},
    {RaceKind::WarpBarrier, "warp_barrier", "ITS", "missing warp barrier",
     "missing warp barriers"},
    {RaceKind::IntraBlock, "intra_block", "BR", "race within a block",
     "races within a block"},
    {RaceKind::InterBlock, "inter_block", "DR", "race between blocks",
     "races between blocks"},
    {RaceKind::NotStrong, "not_strong", "", "access that is not strong",
     "accesses that are not strong"},
    {RaceKind::InterKernel, "inter_kernel", "", "race between kernels",
     "races between kernels"},
    {RaceKind::StreamOperation, "stream_operation", "",
     "race with an operation of a stream", "races with operations of streams"},
    {RaceKind::HostAccess, "host_access", "", "race with the host",
     "races with the host"},
    {RaceKind::BarrierDivergence, "barrier_divergence", "",
     "barrier divergence", "barrier divergences"},
    {RaceKind::ProxyFence, "proxy_fence", "", "missing proxy fence",
     "missing proxy fences"},
    {KernelFault, "kernel_fault", "", "kernel fault", "kernel faults"},
};

std::span<const KindWords> crsan::allKindWords() { return Kinds; }

const KindWords &crsan::wordsOf(RaceKind Kind) {
  static constexpr KindWords Unknown = {RaceKind::None, "unknown", "",
                                        "race of unknown kind",
                                        "races of unknown kinds"};
  const auto *It = std::find_if(std::begin(Kinds), std::end(Kinds),
                                [=](auto &W) { return W.Kind == Kind; });
  return It == std::end(Kinds) ? Unknown : *It;
}

bool crsan::isDataRace(RaceKind Kind) {
  return Kind != RaceKind::BarrierDivergence && Kind != KernelFault;
}

const char *crsan::nameOf(abi::Space Space) {
  switch (Space) {
  case abi::Space::Generic:
    return "generic";
  case abi::Space::Global:
    return "global";
  case abi::Space::Shared:
    return "shared";
  case abi::Space::Constant:
    return "constant";
  case abi::Space::Cluster:
    return "cluster";
  }
  return "unknown";
}

const char *crsan::nameOf(abi::Scope Scope) {
  switch (Scope) {
  case abi::Scope::Block:
    return "block";
  case abi::Scope::Cluster:
    return "cluster";
  case abi::Scope::Device:
    return "device";
  case abi::Scope::System:
    return "system";
  }
  return "unknown";
}

const char *crsan::nameOf(abi::MemoryOrder Order) {
  switch (Order) {
  case abi::MemoryOrder::Weak:
    return "weak";
  case abi::MemoryOrder::Relaxed:
    return "relaxed";
  case abi::MemoryOrder::Acquire:
    return "acquire";
  case abi::MemoryOrder::Release:
    return "release";
  case abi::MemoryOrder::AcquireRelease:
    return "acquire-release";
  case abi::MemoryOrder::SequentiallyConsistent:
    return "sequentially consistent";
  }
  return "unknown";
}

std::string crsan::counted(uint64_t N, std::string_view One,
                           std::string_view Many) {
  return fmt::format("{} {}", N, N == 1 ? One : Many);
}

std::string crsan::seedList(std::span<const uint32_t> Indices,
                            std::span<const RunInfo> Runs) {
  std::set<uint32_t> Seeds;
  for (uint32_t I : Indices)
    Seeds.insert(Runs[I].Seed);
  std::string List;
  for (auto It = Seeds.begin(); It != Seeds.end();) {
    const uint32_t First = *It;
    uint32_t Last = First;
    while (++It != Seeds.end() && *It == Last + 1)
      ++Last;
    List += List.empty() ? "" : ", ";
    List += First == Last ? fmt::format("{}", First)
                          : fmt::format("{}-{}", First, Last);
  }
  return List;
}

std::string crsan::counted(uint64_t N, std::string_view One) {
  return counted(N, One, fmt::format("{}s", One));
}

//===----------------------------------------------------------------------===//
// Accesses and places
//===----------------------------------------------------------------------===//

static const char *nameOf(abi::AccessKind Access) {
  switch (Access) {
  case abi::AccessKind::Load:
    return "read";
  case abi::AccessKind::Store:
    return "write";
  case abi::AccessKind::Update:
    return "update";
  case abi::AccessKind::Barrier:
    return "barrier";
  }
  return "access";
}

/// A strong access of which all is known: "volatile read", "device-scope
/// relaxed atomic update".
static std::string orderedWords(const SiteInfo &Site, const char *Verb) {
  if (Site.IsVolatile)
    return fmt::format("volatile {}", Verb);
  return fmt::format("{}-scope {} {}{}", nameOf(Site.Scope), nameOf(Site.Order),
                     Site.isAtomic() ? "atomic " : "", Verb);
}

std::string crsan::accessWords(const SiteInfo *Site) {
  if (!Site)
    return "access";
  if (Site->IsFault)
    return "fault";
  const char *Verb = ::nameOf(Site->Access);
  if (Site->isCopy())
    return Site->Access == abi::AccessKind::Store
               ? "asynchronous copy"
               : fmt::format("{} by an asynchronous copy", Verb);
  if (!Site->isStrong() && !Site->isAtomic())
    return Site->Access == abi::AccessKind::Update ? "read-modify-write" : Verb;
  if (Site->Order != abi::MemoryOrder::Weak)
    return orderedWords(*Site, Verb);
  // Volatile accesses have the scope of the system (PTX ISA, "Volatile
  // Operation"), so any other scope is that of an atomic.
  const bool MayBeVolatile = !Site->isAtomic() &&
                             Site->Access != abi::AccessKind::Update &&
                             Site->Scope == abi::Scope::System;
  const char *How = MayBeVolatile ? "volatile or atomic" : "atomic";
  // The two wide scopes include every thread of the device.
  if (Site->Scope < abi::Scope::Device)
    return fmt::format("{}-scope {} {}", nameOf(Site->Scope), How, Verb);
  return fmt::format("{} {}", How, Verb);
}

const char *crsan::accessWords(const CompanionInfo &Companion) {
  return ::nameOf(Companion.Access);
}

std::string crsan::position(const SourceFrame &F, std::string_view Strip) {
  if (F.File.empty())
    return "an unknown line (compile with -gline-tables-only or -g; with nvcc: "
           "-lineinfo)";
  std::string_view File = F.File;
  if (File.starts_with(Strip))
    File.remove_prefix(Strip.size());
  if (F.Line == 0)
    return fmt::format("{}, unknown line", File);
  if (F.Column == 0)
    return fmt::format("{}:{}", File, F.Line);
  return fmt::format("{}:{}:{}", File, F.Line, F.Column);
}

/// Where the access goes, for the heading.
static const char *spacePhrase(abi::Space Space) {
  switch (Space) {
  case abi::Space::Generic:
    return "through a generic address";
  case abi::Space::Global:
    return "in global memory";
  case abi::Space::Shared:
    return "in shared memory";
  case abi::Space::Constant:
    return "in constant memory";
  case abi::Space::Cluster:
    return "in shared memory of the cluster";
  }
  return "in memory";
}

std::string crsan::heading(const Finding &F) {
  std::string Text = wordsOf(F.kind()).Name;
  if (F.isFault())
    return Text + ": " + F.Fault;
  if (!isDataRace(F.kind()))
    return Text +
           (F.reasons() & abi::OtherIteration
                ? ": threads of a block wait at one barrier in different "
                  "iterations"
                : ": threads of a block wait at different barriers");
  if (!F.isTwoSided() && F.Site && F.Site->IsHost)
    Text += " by the host";
  if (F.size())
    // A missing barrier has no bytes; what was accessed has.
    Text += (F.isTwoSided() ? ", " : " of ") + counted(F.size(), "byte") +
            (F.sizeIsLowerBound() ? " or more" : "");
  return Text + ' ' + spacePhrase(F.space());
}

std::string crsan::headingAndPlace(const Finding &F, std::string_view Strip) {
  const bool HasPlace = F.Site && !F.Site->Frames.empty();
  return heading(F) +
         (HasPlace ? " at " + position(frameToName(F.Site->Frames), Strip)
                   : "");
}

//===----------------------------------------------------------------------===//
// Sides
//===----------------------------------------------------------------------===//

static std::string indexWords(const Index3 &I) {
  return fmt::format("({},{},{})", I[0], I[1], I[2]);
}

std::string crsan::launchWords(const Finding &F) {
  return F.Grid[0] && F.BlockShape[0]
             ? fmt::format("<<<{}, {}>>>", indexWords(F.Grid),
                           indexWords(F.BlockShape))
             : "";
}

static std::string laterThread(const Finding &F) {
  const abi::Record &R = F.First;
  return fmt::format("block {} thread {}",
                     indexWords({R.Block[0], R.Block[1], R.Block[2]}),
                     indexWords(F.thread()));
}

static std::string earlierBlock(const Finding &F) {
  const EarlierThread T = F.earlierThread();
  return T.BlockIndex ? "block " + indexWords(*T.BlockIndex)
         : T.Block    ? fmt::format("block {}", *T.Block)
                      : "a block that is no longer known";
}

static std::string earlierThread(const Finding &F) {
  const EarlierThread T = F.earlierThread();
  return fmt::format("{}{} thread {}{}", earlierBlock(F),
                     T.BlockIndex || T.Block ? "" : ",",
                     T.Index ? indexWords(*T.Index) : fmt::to_string(T.Linear),
                     F.reasons() & abi::OtherGrid && !(F.Site && F.Site->IsHost)
                         ? " of another kernel"
                         : "");
}

std::string crsan::threadWords(const Finding &F, Side Which) {
  const std::optional<SiteInfo> &Site = Which == Side::Later ? F.Site : F.Other;
  if (Site && !Site->Operation.empty())
    return Site->Operation + " in a stream";
  if (Site && Site->IsHost)
    return "the host";
  if (!F.knowsThread())
    return "a thread that is not known";
  return Which == Side::Later ? laterThread(F) : earlierThread(F);
}

std::string crsan::blockWords(const Finding &F, Side Which) {
  if (Which == Side::Earlier)
    return earlierBlock(F);
  const auto &Block = F.First.Block;
  return "block " + indexWords({Block[0], Block[1], Block[2]});
}

std::string crsan::faultWords(const Finding &F) {
  std::string Text;
  const auto Add = [&](const char *What, const std::string &Words) {
    if (!Words.empty())
      Text += (Text.empty() ? "" : ", ") + (What + Words);
  };
  Add("kernel ", F.Site ? F.Site->Kernel : "");
  Add("launched as ", launchWords(F));
  Add("launched at ", F.LaunchedAt);
  if (F.knowsThread())
    Add("", threadWords(F, Side::Later));
  return Text;
}

std::string crsan::sideWords(const Finding &F, Side Which,
                             std::string_view Strip) {
  const bool IsLater = Which == Side::Later;
  const std::optional<SiteInfo> &Site = IsLater ? F.Site : F.Other;
  std::string Text = IsLater                ? ""
                     : isDataRace(F.kind()) ? "earlier "
                                            : "other ";
  Text += accessWords(Site ? &*Site : nullptr);
  // The record has the bytes of the later access alone.
  const uint32_t Size = IsLater ? F.size() : Site ? Site->Size : 0;
  if (Size)
    Text += " of " + counted(Size, "byte");
  if (IsLater && F.sizeIsLowerBound())
    Text += " or more";
  if (Site && !Site->Frames.empty())
    Text += " at " + position(frameToName(Site->Frames), Strip);
  Text += " by " + threadWords(F, Which);
  if (!IsLater && F.reasons() & abi::SeveralReaders)
    Text += " (one of several reads)";
  return Text;
}

//===----------------------------------------------------------------------===//
// What was seen first
//===----------------------------------------------------------------------===//

/// Lanes as a list of ranges: 0-3,7.
static std::string laneList(uint32_t Mask) {
  std::string List;
  for (unsigned First = 0; First < 32; ++First) {
    if (!(Mask >> First & 1))
      continue;
    unsigned Last = First;
    while (Last < 31 && (Mask >> (Last + 1) & 1))
      ++Last;
    List += List.empty() ? "" : ",";
    List += First == Last ? fmt::format("{}", First)
                          : fmt::format("{}-{}", First, Last);
    First = Last;
  }
  return List;
}

/// A value of the access's width, or the hash that stands for a wider one.
static std::string valueText(uint64_t Value, const Finding &F) {
  if (F.First.Flags & abi::ValuesAreHashes)
    return fmt::format("0x{:016x} (hash)", Value);
  const uint32_t Bytes = std::min<uint32_t>(F.size() ? F.size() : 8, 8);
  if (Bytes < 8)
    Value &= (uint64_t(1) << 8 * Bytes) - 1;
  return fmt::format("0x{:0{}x}", Value, 2 * Bytes);
}

std::string crsan::firstSeenWords(const Finding &F) {
  const abi::Record &Rec = F.First;
  if (F.isFault())
    return threadWords(F, Side::Later) +
           (Rec.Address ? fmt::format(" address 0x{:x}", Rec.Address) : "");
  if (!isDataRace(F.kind()))
    return blockWords(F, Side::Later);
  std::string Where;
  // Else the sides have said it.
  if (!F.isTwoSided() && !(F.Site && F.Site->IsHost))
    Where = threadWords(F, Side::Later) + ' ';
  if (isIntraWarp(F.kind()) && Rec.Lanes) {
    const bool One = (Rec.Lanes & (Rec.Lanes - 1)) == 0;
    Where += fmt::format("lane{} {} ", One ? "" : "s", laneList(Rec.Lanes));
  }
  Where += fmt::format("address 0x{:x} ({})", Rec.Address, nameOf(F.space()));
  if (F.kind() == RaceKind::ClobberedRead || F.kind() == RaceKind::LostUpdate)
    Where += fmt::format(" value {} became {}", valueText(Rec.Before, F),
                         valueText(Rec.After, F));
  return Where;
}

std::string crsan::valueWords(const Finding &F) {
  const abi::Record &Rec = F.First;
  if (F.kind() != RaceKind::IntraWarpLostUpdate)
    return {};
  if (Rec.Flags & abi::SameValue)
    return valueText(Rec.Before, F) + " in every lane (same value)";
  return fmt::format("{} in this lane, {} in the other lane",
                     valueText(Rec.Before, F), valueText(Rec.After, F));
}
