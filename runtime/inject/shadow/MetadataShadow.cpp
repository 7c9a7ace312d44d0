// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What metadata mode keeps for a context.

#include "shadow/MetadataShadow.h"

#include "common/Driver.h"
#include "common/Log.h"
#include "common/PinnedMemory.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <new>

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

MetadataShadow::MetadataShadow(CUdevice Device, CUstream Stream,
                               const Flags &Options)
    : Stream(Stream), WantsExact(Options.shadow != "cached"),
      Memory(Device,
             Options.shadow == "managed" ? ShadowMemory::Kind::Managed
                                         : ShadowMemory::Kind::Device,
             uint64_t(Options.shadow_limit) << 20),
      Writes(Stream) {}

//===----------------------------------------------------------------------===//
// The tables
//===----------------------------------------------------------------------===//

std::string MetadataShadow::prepare(uint64_t SharedBytes, Sample Grids) {
  Driver &D = theDriver();
  abi::Metadata M{};
  M.FollowOneIn = Grids.FollowOneIn;
  M.Salt = Grids.Salt;
  M.Limit.KernelTime = Grids.FollowOneIn > 1 ? 0 : Grids.KernelTime;
  // Where grids are stopped, they have to ask for the kernel's time, too.
  if (Grids.FollowOneIn == 1 && Grids.KernelTime == 0 && Grids.GridTime)
    M.Limit.KernelTime = std::numeric_limits<uint32_t>::max();
  M.Limit.Percent = Grids.Percent;
  M.Limit.GridTime = Grids.GridTime;
  M.Limit.From = ~uint64_t(0);
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
  Writes.setPages(Tables + abi::PagesAt);
  Header = M;
  return {};
}

abi::StreamOrder *MetadataShadow::shareOrder() {
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
// Forgetting
//===----------------------------------------------------------------------===//

void MetadataShadow::forgetAccesses() {
  for (const auto &[Number, P] : Pages) {
    if (P.Kind == Layout::Exact)
      Writes.clear(P.Address, abi::ExactPageShadow);
    else if (P.Kind == Layout::Cached)
      Writes.clear(P.Address, abi::CachedPageShadow);
  }
  Writes.clear(Header.SharedShadow, Header.SharedBytes);
  Writes.clear(Tables + abi::VictimsAt, sizeof(abi::Victim) * abi::NumVictims);
  Writes.clear(Tables + abi::MeetingsAt,
               sizeof(uint64_t) * abi::NumMeetings * abi::NumWarps);
  Writes.flush();
}

MetadataShadow::Past MetadataShadow::unwanted() {
  Driver &D = theDriver();
  abi::Metadata Now;
  if (D.cuMemcpyDtoHAsync(&Now, Tables, sizeof(Now), Stream) != CUDA_SUCCESS ||
      D.cuStreamSynchronize(Stream) != CUDA_SUCCESS)
    return Past::None;
  if (Now.IsUsedUp)
    return Past::All;
  if (Now.HasLearned || Now.Foreign)
    return Past::Releases;
  return Now.Limit.Latest & abi::IsLeftOut ? Past::LeftOut : Past::None;
}

void MetadataShadow::forget(Past What) {
  if (What == Past::None)
    return;
  if (What == Past::All)
    forgetClocks();
  else if (What == Past::Releases)
    Writes.clear(Tables + abi::SyncCellsAt,
                 sizeof(abi::SyncCell) * abi::NumSyncCells);
  Writes.clear(Tables + offsetof(abi::Metadata, HasLearned),
               sizeof(Header.HasLearned) + sizeof(Header.IsUsedUp) +
                   sizeof(Header.Foreign));
  static_assert(offsetof(abi::FollowLimit, Latest) == 0);
  Writes.clear(Tables + offsetof(abi::Metadata, Limit),
               sizeof(Header.Limit.Latest));
  Writes.flush();
}

void MetadataShadow::forgetClocks() {
  Driver &D = theDriver();
  std::vector<abi::WarpState> Warps(abi::NumWarps);
  CUresult Result = D.cuMemcpyDtoHAsync(
      Warps.data(), warps(), Warps.size() * sizeof(abi::WarpState), Stream);
  if (Result == CUDA_SUCCESS)
    Result = D.cuStreamSynchronize(Stream);
  if (Result != CUDA_SUCCESS)
    return Writes.note(Result, "cuMemcpyDtoHAsync");
  AccessCounts Counted = sumWarps(Warps);
  CheckedBefore += Counted.Checked;
  UncheckedBefore += Counted.Unchecked;
  Writes.clear(warps(), abi::PairsAt - abi::WarpsAt);
  Writes.clear(Tables + abi::GridStartsAt,
               abi::MetadataBytes - abi::GridStartsAt);
  WasReset = true;
  forgetAccesses();
}

//===----------------------------------------------------------------------===//
// What is tracked
//===----------------------------------------------------------------------===//

void MetadataShadow::notePeak() {
  for (size_t I = 0; I < NumPages.size(); ++I)
    Peak[I] = std::max(Peak[I].load(), NumPages[I]);
  HeldBytes = Memory.held();
}

TrackedMemory MetadataShadow::tracked() const {
  auto Bytes = [this](Layout Kind) {
    return Peak[size_t(Kind)] * abi::PageBytes;
  };
  return {Bytes(Layout::Exact), Bytes(Layout::Cached), Bytes(Layout::None)};
}

} // namespace crsan
