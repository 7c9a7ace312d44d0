//===- Shadow.cpp - What metadata mode keeps for a context ----------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shadow/Shadow.h"

#include "common/Driver.h"
#include "common/Log.h"
#include "common/PinnedMemory.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace crsan {

AccessCounts sumWarps(const std::vector<abi::WarpState> &Warps) {
  AccessCounts Sum;
  for (const abi::WarpState &Warp : Warps) {
    // The device counts accesses before it looks for their shadow, and one that
    // spans pages may lack it more than once.
    Sum.Checked += Warp.Checked - std::min(Warp.Checked, Warp.Unchecked);
    Sum.Unchecked += Warp.Unchecked;
  }
  return Sum;
}

Shadow::Shadow(CUdevice Device, CUstream Stream, const Flags &Options)
    : Stream(Stream), WantsExact(Options.shadow != "cached"),
      Memory(Device,
             Options.shadow == "managed" ? ShadowMemory::Kind::Managed
                                         : ShadowMemory::Kind::Device,
             uint64_t(Options.shadow_limit) << 20) {}

//===----------------------------------------------------------------------===//
// The tables
//===----------------------------------------------------------------------===//

std::string Shadow::prepare(uint64_t SharedBytes) {
  Driver &D = theDriver();
  abi::Metadata M{};
  M.SharedBytes =
      std::bit_ceil(std::max<uint64_t>(SharedBytes, 1) / 4 * sizeof(abi::Cell));
  const uint64_t TableBytes = (abi::MetadataBytes + 4095) & ~uint64_t(4095);
  const uint64_t Size = TableBytes + M.SharedBytes;

  const char *Call = "cuMemAlloc";
  CUdeviceptr Base = 0;
  CUresult Result = D.cuMemAlloc(&Base, Size);
  if (Result == CUDA_SUCCESS) {
    M.SharedShadow = Base + TableBytes;
    Call = "cuMemsetD8Async";
    Result = D.cuMemsetD8Async(Base, 0, Size, Stream);
  }
  if (Result == CUDA_SUCCESS) {
    Call = "cuMemcpyHtoDAsync";
    Result = D.cuMemcpyHtoDAsync(Base, &M, sizeof(M), Stream);
  }
  if (Result == CUDA_SUCCESS)
    Result = D.cuStreamSynchronize(Stream);
  if (Result != CUDA_SUCCESS) {
    if (Base && D.cuMemFree)
      D.cuMemFree(Base);
    return fmt::format("no tables of {} MiB for metadata mode: {} failed: {}",
                       Size >> 20, Call, D.errorText(Result));
  }
  Tables = Base;
  Header = M;
  return {};
}

abi::StreamOrder *Shadow::shareOrder() {
  Driver &D = theDriver();
  if (HasOrder.exchange(true) || !D.cuStreamWriteValue32)
    return nullptr;
  std::string Error;
  const PinnedMemory Memory =
      PinnedMemory::make(sizeof(abi::StreamOrder), Error);
  if (!Memory.Host) {
    theLog().detail(2, "no order of launches: {}", Error);
    return nullptr;
  }
  auto *Order = new (Memory.Host) abi::StreamOrder{};
  CUresult Result =
      D.cuMemcpyHtoDAsync(Tables + offsetof(abi::Metadata, Streams),
                          &Memory.Device, sizeof(Memory.Device), Stream);
  if (Result == CUDA_SUCCESS)
    Result = D.cuStreamSynchronize(Stream);
  if (Result != CUDA_SUCCESS) {
    // The device may know the memory: it stays.
    theLog().detail(2, "no order of launches: {}", D.errorName(Result));
    return nullptr;
  }
  OrderAddress = Memory.Device;
  return Order;
}

//===----------------------------------------------------------------------===//
// Pages
//===----------------------------------------------------------------------===//

void Shadow::add(std::span<const MemoryRange> Ranges) {
  for (const MemoryRange &Range : Ranges) {
    if (Range.Size == 0)
      continue;
    uint64_t Last = (Range.Base + Range.Size - 1) >> abi::PageShift;
    const uint32_t Owner = makeOwner(Range);
    for (uint64_t Number = Range.Base >> abi::PageShift; Number <= Last;
         ++Number) {
      auto [Found, IsNew] = Pages.try_emplace(Number);
      Page &P = Found->second;
      ++P.Users;
      if (IsNew)
        P.Owner = Owner;
      else
        dropOwner(P.Owner);
      bool IsNewToHost = Range.isHosts() && P.HostUsers++ == 0;
      if (IsNew) {
        ++NumPages[size_t(Layout::None)];
        cover(*Found);
        continue;
      }
      // An index without shadow may be another page's.
      if (P.Kind == Layout::None)
        continue;
      forget(Range, *Found);
      if (IsNewToHost)
        change(*Found, P.Kind, P.Address);
    }
  }
  flush();
  retireForBare();
  if (!isRetiring())
    notePeak();
}

void Shadow::remove(const MemoryRange &Range) {
  if (Range.Size == 0)
    return;
  uint64_t Last = (Range.Base + Range.Size - 1) >> abi::PageShift;
  auto It = Pages.lower_bound(Range.Base >> abi::PageShift);
  // It was the only user of its pages, then.
  if (It != Pages.end() && It->first <= Last && It->second.Owner)
    Owners[It->second.Owner] = {};
  while (It != Pages.end() && It->first <= Last) {
    Page &P = It->second;
    bool WasHosts = Range.isHosts() && --P.HostUsers == 0;
    if (--P.Users != 0) {
      if (WasHosts && P.Kind != Layout::None)
        change(*It, P.Kind, P.Address);
      ++It;
      continue;
    }
    uncover(*It);
    --NumPages[size_t(Layout::None)];
    It = Pages.erase(It);
  }
  flush();
}

/// A number for an allocation that has its pages to itself, so far; 0 if it has
/// not, or there is no number left.
uint32_t Shadow::makeOwner(const MemoryRange &Range) {
  const uint64_t First = Range.Base >> abi::PageShift;
  const uint64_t Last = (Range.Base + Range.Size - 1) >> abi::PageShift;
  const auto It = Pages.lower_bound(First);
  if (Range.isHosts() || Range.HasVariables ||
      (It != Pages.end() && It->first <= Last))
    return 0;
  const auto Free = std::find_if(Owners.begin() + 1, Owners.end(),
                                 [](const auto &O) { return O.second == 0; });
  if (Free == Owners.end())
    return 0;
  *Free = {First, Last - First + 1};
  return Free - Owners.begin();
}

void Shadow::dropOwner(uint32_t Owner) {
  if (!Owner)
    return;
  const auto [First, Number] = std::exchange(Owners[Owner], {});
  for (auto It = Pages.find(First);
       It != Pages.end() && It->first < First + Number; ++It) {
    It->second.Owner = 0;
    if (It->second.Kind != Layout::None)
      change(*It, It->second.Kind, It->second.Address);
  }
}

void Shadow::noteOverlaps() {
  Driver &D = theDriver();
  Header.HasOverlaps = 1;
  CUresult Result = D.cuMemcpyHtoDAsync(
      Tables + offsetof(abi::Metadata, HasOverlaps), &Header.HasOverlaps,
      sizeof(Header.HasOverlaps), Stream);
  if (Result == CUDA_SUCCESS)
    Result = D.cuStreamSynchronize(Stream);
  note(Result, "cuMemcpyHtoDAsync");
}

/// What was there before is of no interest to whom the range is given.
void Shadow::forget(const MemoryRange &Range,
                    const PageMap::value_type &Entry) {
  const auto &[Number, P] = Entry;
  const uint64_t Start = Number << abi::PageShift;
  uint64_t First = std::max(Range.Base, Start) - Start;
  uint64_t Last =
      std::min(Range.Base + Range.Size, Start + abi::PageBytes) - Start;
  const uint64_t Granule = P.Kind == Layout::Exact ? 4 : 4 * abi::CacheWays;
  First /= Granule;
  Last = (Last + Granule - 1) / Granule;
  clear(P.Address + First * sizeof(abi::Cell),
        (Last - First) * sizeof(abi::Cell));
}

/// Gives a page the best shadow that there is.
void Shadow::cover(PageMap::value_type &Entry) {
  uint64_t Number = Entry.first;
  // Two pages 2 TiB apart have one index; the second has bad luck.
  if (!Indices.try_emplace(Number % abi::NumPages, Number).second)
    return;
  if (uint64_t Slot = WantsExact ? Memory.take() : 0) {
    ExactPages.insert(Number);
    clear(Slot, abi::ExactPageShadow);
    change(Entry, Layout::Exact, Slot);
  } else if (!coverCached(Entry)) {
    BarePages.insert(Number);
  }
}

bool Shadow::coverCached(PageMap::value_type &Entry) {
  uint64_t Part = takePart();
  if (!Part)
    return false;
  clear(Part, abi::CachedPageShadow);
  change(Entry, Layout::Cached, Part);
  return true;
}

/// Shadow for a cached page, or 0.
uint64_t Shadow::takePart() {
  if (Parts.empty()) {
    uint64_t Slot = Memory.take();
    if (!Slot)
      return 0;
    for (unsigned I = abi::CacheWays; I-- > 0;)
      Parts.push_back(Slot + I * abi::CachedPageShadow);
  }
  uint64_t Part = Parts.back();
  Parts.pop_back();
  return Part;
}

void Shadow::uncover(PageMap::value_type &Entry) {
  auto [Number, Was] = Entry;
  if (Was.Kind == Layout::None) {
    if (BarePages.erase(Number))
      Indices.erase(Number % abi::NumPages);
    return;
  }
  change(Entry, Layout::None, 0);
  Indices.erase(Number % abi::NumPages);
  // The entry is cleared before anything else is done with the shadow, for all
  // goes through one stream. Only a kernel that uses freed memory could still
  // have the old entry.
  if (Was.Kind == Layout::Cached)
    return Parts.push_back(Was.Address);
  ExactPages.erase(Number);
  Memory.put(Was.Address);
}

/// Takes the shadow of so many exact pages. Kernels that run may have found it
/// already, so it is not used again before they have ended.
void Shadow::retire(uint64_t Count) {
  if (isRetiring())
    return;
  while (Retired.size() < Count && !ExactPages.empty()) {
    const auto Last = std::prev(ExactPages.end());
    PageMap::value_type &Entry = *Pages.find(*Last);
    Retired.push_back(Entry.second.Address);
    change(Entry, Layout::None, 0);
    BarePages.insert(*Last);
    ExactPages.erase(Last);
  }
  flush();
}

/// Takes shadow of exact pages for those that have none, and for the exact
/// pages themselves: all of these become cached pages.
void Shadow::retireForBare() {
  constexpr uint64_t Gained = abi::CacheWays - 1; // With each slot.
  if (!BarePages.empty())
    retire((BarePages.size() + Gained - 1) / Gained);
}

void Shadow::settle() {
  const std::vector<uint64_t> Slots = std::exchange(Retired, {});
  // If the device could not be told, kernels may use the shadow for ever.
  if (HasFailed)
    return notePeak();
  for (uint64_t Slot : Slots)
    Memory.put(Slot);
  for (auto It = BarePages.begin(); It != BarePages.end();) {
    if (!coverCached(*Pages.find(*It)))
      break;
    It = BarePages.erase(It);
  }
  flush();
  retireForBare();
  notePeak();
}

uint64_t Shadow::release(uint64_t Bytes) {
  if (Memory.held() == 0)
    return 0;
  const ShadowMemory::Info Now = ShadowMemory::ask();
  const uint64_t Wanted = Bytes + ShadowMemory::reserve(Now.Total) / 2;
  if (Now.Total == 0 || Now.Free >= Wanted)
    return 0;
  // Some more than is needed, for taking shadow from pages may make the program
  // wait.
  const uint64_t Missing = Wanted - Now.Free + Memory.held() / 8;
  const uint64_t Released = Memory.release(Missing);
  notePeak();
  theLog().detail(2, "gave {} MiB of shadow back to the program",
                  Released >> 20);
  return Missing - std::min(Missing, Released);
}

void Shadow::makeRoom(uint64_t Bytes) {
  if (const uint64_t Missing = release(Bytes))
    retire(Missing / ShadowMemory::SlotBytes + 1);
}

//===----------------------------------------------------------------------===//
// Forgetting
//===----------------------------------------------------------------------===//

void Shadow::forgetAccesses() {
  for (const auto &[Number, P] : Pages) {
    if (P.Kind == Layout::Exact)
      clear(P.Address, abi::ExactPageShadow);
    else if (P.Kind == Layout::Cached)
      clear(P.Address, abi::CachedPageShadow);
  }
  clear(Header.SharedShadow, Header.SharedBytes);
  flush();
}

Shadow::Past Shadow::unwanted() {
  Driver &D = theDriver();
  constexpr size_t First = offsetof(abi::Metadata, HasLearned);
  static_assert(offsetof(abi::Metadata, IsUsedUp) == First + 4 &&
                offsetof(abi::Metadata, Foreign) == First + 8);
  std::array<uint32_t, 3> Flags{}; // HasLearned, IsUsedUp, Foreign.
  if (D.cuMemcpyDtoHAsync(Flags.data(), Tables + First, sizeof(Flags),
                          Stream) != CUDA_SUCCESS ||
      D.cuStreamSynchronize(Stream) != CUDA_SUCCESS)
    return Past::None;
  if (Flags[1])
    return Past::All;
  return Flags[0] || Flags[2] ? Past::Releases : Past::None;
}

void Shadow::forget(Past What) {
  if (What == Past::None)
    return;
  if (What == Past::All)
    forgetClocks();
  else
    clear(Tables + abi::SyncCellsAt, sizeof(abi::SyncCell) * abi::NumSyncCells);
  clear(Tables + offsetof(abi::Metadata, HasLearned),
        sizeof(Header.HasLearned) + sizeof(Header.IsUsedUp) +
            sizeof(Header.Foreign));
  flush();
}

void Shadow::forgetClocks() {
  Driver &D = theDriver();
  std::vector<abi::WarpState> Warps(abi::NumWarps);
  CUresult Result = D.cuMemcpyDtoHAsync(
      Warps.data(), warps(), Warps.size() * sizeof(abi::WarpState), Stream);
  if (Result == CUDA_SUCCESS)
    Result = D.cuStreamSynchronize(Stream);
  if (Result != CUDA_SUCCESS)
    return note(Result, "cuMemcpyDtoHAsync");
  AccessCounts Counted = sumWarps(Warps);
  CheckedBefore += Counted.Checked;
  UncheckedBefore += Counted.Unchecked;
  clear(warps(), abi::PairsAt - abi::WarpsAt);
  clear(Tables + abi::GridStartsAt, abi::MetadataBytes - abi::GridStartsAt);
  WasReset = true;
  forgetAccesses();
}

//===----------------------------------------------------------------------===//
// Telling the device
//===----------------------------------------------------------------------===//

void Shadow::clear(uint64_t Address, uint64_t Bytes) {
  ToClear.emplace_back(Address, Bytes);
}

void Shadow::change(PageMap::value_type &Entry, Layout Kind, uint64_t Address) {
  auto &[Number, P] = Entry;
  --NumPages[size_t(P.Kind)];
  ++NumPages[size_t(Kind)];
  P.Kind = Kind;
  P.Address = Address;
  uint64_t New = 0;
  if (Kind != Layout::None)
    New = abi::pageEntry(Number << abi::PageShift, Address,
                         (Kind == Layout::Cached ? abi::PageCached : 0) |
                             (P.HostUsers ? abi::PageHost : 0) |
                             P.Owner << abi::PageOwnerAt);
  ToWrite[Number % abi::NumPages] = New;
}

void Shadow::flush() {
  Driver &D = theDriver();
  if (ToClear.empty() && ToWrite.empty())
    return;
  CUresult Result = CUDA_SUCCESS;
  const char *Call = "cuMemsetD8Async";
  std::sort(ToClear.begin(), ToClear.end());
  for (size_t I = 0; I < ToClear.size() && Result == CUDA_SUCCESS;) {
    auto [Begin, Bytes] = ToClear[I++];
    while (I < ToClear.size() && ToClear[I].first == Begin + Bytes)
      Bytes += ToClear[I++].second;
    Result = D.cuMemsetD8Async(Begin, 0, Bytes, Stream);
  }
  std::vector<uint64_t> Run;
  for (auto It = ToWrite.begin();
       It != ToWrite.end() && Result == CUDA_SUCCESS;) {
    uint64_t First = It->first;
    Run.clear();
    for (; It != ToWrite.end() && It->first == First + Run.size(); ++It)
      Run.push_back(It->second);
    Call = "cuMemcpyHtoDAsync";
    Result = D.cuMemcpyHtoDAsync(Tables + abi::PagesAt + First * 8, Run.data(),
                                 Run.size() * 8, Stream);
    // The source is reused.
    if (Result == CUDA_SUCCESS)
      Result = D.cuStreamSynchronize(Stream);
  }
  if (Result == CUDA_SUCCESS && ToWrite.empty())
    Result = D.cuStreamSynchronize(Stream);
  ToClear.clear();
  ToWrite.clear();
  note(Result, Call);
}

void Shadow::note(CUresult Result, const char *Call) {
  if (Result == CUDA_SUCCESS || HasFailed)
    return;
  HasFailed = true;
  // A kernel that failed is said elsewhere.
  if (!isSticky(Result))
    theLog().say("metadata mode: {} failed: {}; memory that is allocated from "
                 "now on may be unchecked",
                 Call, theDriver().errorText(Result));
}

//===----------------------------------------------------------------------===//
// What is tracked
//===----------------------------------------------------------------------===//

void Shadow::notePeak() {
  for (size_t I = 0; I < NumPages.size(); ++I)
    Peak[I] = std::max(Peak[I].load(), NumPages[I]);
  HeldBytes = Memory.held();
}

Coverage Shadow::coverage() const {
  auto Bytes = [this](Layout Kind) {
    return Peak[size_t(Kind)] * abi::PageBytes;
  };
  return {Bytes(Layout::Exact), Bytes(Layout::Cached), Bytes(Layout::None)};
}

} // namespace crsan
