// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels that check what a copy or a fill is about to access, and what
// host code has accessed (metadata/HostAccess.h).
//
// The library launches the former into the stream of the operation, directly in
// front of it (runtime/inject/operations). What is ordered before the operation
// is ordered before this kernel, and what is ordered after the operation comes
// after this kernel (docs/metadata-proof.md, docs/soundness.md). So the threads
// of this kernel enter the words of the operation into the cells as their own
// accesses, and look twice at its values as at those of their own windows.
//
// CMake makes a fat binary of this file, which the library embeds.

#define CRSAN_ENTRY static __attribute__((unused))

#include "collider/SlowPath.h"
#include "crsan/abi/Operation.h"
#include "metadata/HostAccess.h"
#include "metadata/entry/Access.h"
#include "metadata/entry/Kernel.h"

// The kernel is launched without clusters.
extern "C" __attribute__((device)) uint32_t __crsan_cluster_extent(uint32_t) {
  return 1;
}
extern "C" __attribute__((device)) uint32_t __crsan_cluster_index(uint32_t D) {
  return D == 0 ? __nvvm_read_ptx_sreg_ctaid_x() : 0;
}
extern "C" __attribute__((device)) uint32_t __crsan_cluster_rank() { return 0; }
extern "C" __attribute__((device)) uint32_t __crsan_is_shared(uint64_t) {
  return 0; // Operations access global memory.
}

namespace crsan::device {

/// The rows of one side, cut into units of `Bytes` aligned bytes.
template <uint32_t Bytes> struct Units {
  const OperationSide &S;
  /// Units of a row: as many as it can touch wherever it begins.
  uint64_t InRow;

  DEVICE explicit Units(const OperationSide &S)
      : S(S), InRow((S.Width + 2 * (Bytes - 1)) / Bytes) {}

  DEVICE uint64_t count() const { return InRow * S.Height * S.Depth; }

  /// The bytes of unit `I` that are the operation's; none: Begin is not below
  /// End.
  struct Part {
    Address Begin, End;
    DEVICE uint32_t size() const {
      return Begin < End ? uint32_t(End - Begin) : 0;
    }
  };
  DEVICE Part at(uint64_t I) const {
    Address Row = S.Base;
    if (uint64_t(S.Height) * S.Depth != 1) {
      const uint64_t R = I / InRow;
      I -= R * InRow;
      Row += R / S.Height * S.Slice + R % S.Height * S.Pitch;
    }
    const Address Unit = (Row & ~Address(Bytes - 1)) + I * Bytes;
    const Address End = Row + S.Width;
    return {Unit > Row ? Unit : Row, Unit + Bytes < End ? Unit + Bytes : End};
  }
};

/// Warps of this grid, and this warp's index among them.
DEVICE uint64_t warpsHere() {
  return uint64_t(__nvvm_read_ptx_sreg_nctaid_x()) * warpsOfBlock();
}
DEVICE uint64_t warpHere() {
  return uint64_t(__nvvm_read_ptx_sreg_ctaid_x()) * warpsOfBlock() +
         linearThread() / 32;
}

//===----------------------------------------------------------------------===//
// Metadata mode
//===----------------------------------------------------------------------===//

/// Checks the words of one side and enters them into their cells. All of the
/// side's accesses are weak, none of them holds a lock, and no two lanes access
/// the same word, so that one Check does for all words of a lane.
DEVICE void checkCells(const OperationSide &Side, const Self &Me) {
  const Units<4> Words(Side);
  auto &S = *reinterpret_cast<AccessSite *>(Side.Access);
  const uint32_t Index = indexOf(S);
  const WarpState &W = Me.warp();
  const uint32_t Clock = loadNear(W.Clock);
  const Accessor Mine = Accessor::make(Index, Me.Lane, Me.number(), Clock);
  const Quick Test{Me, loadNear(W.Barrier), loadNear(W.Floor)};
  const bool Writes = S.Flags & WritesMemory;
#pragma unroll 1
  for (uint64_t First = warpHere() * 32; First < Words.count();
       First += warpsHere() * 32) {
    // Neighbours come together, since their cells are neighbours.
    __nvvm_bar_warp_sync(~0u);
    const uint64_t I = First + lane();
    if (I >= Words.count())
      continue;
    const auto Part = Words.at(I);
    if (Part.size() == 0)
      continue;
    const PageRef Page(Part.Begin);
    if (!Page.isTracked() || Index >= MaxSites) {
      countUnchecked(Me);
      continue;
    }
    const Check C{Me,
                  S,
                  Test,
                  Mine,
                  Writes,
                  /*Remembers=*/true,
                  /*IsInFlight=*/false,
                  takeThorough(Me.warp()),
                  /*IsDrawn=*/false,
                  /*OnlyReplaced=*/false,
                  /*Replaced=*/Accessor(0)};
    checkWord(C, W, Page, Part.Begin, Part.End, Clock, /*InShared=*/false);
  }
}

DEVICE void checkCells(const Operation &O) {
  constexpr uint32_t Tag =
      kernelTag(OperationKernel, sizeof(OperationKernel) - 1);
  const WindowState Window =
      enterKernel({/*Flags=*/0, Tag, O.Run, /*Arguments=*/0});
  const uint32_t Clock = Window[0], Place = Window[3];
#pragma unroll 1
  for (uint32_t I = 0; I < 2; ++I)
    if (const OperationSide &S = I == 0 ? O.Reads : O.Writes;
        S.Access && PlaceOf{Place}.isFollowed())
      checkCells(S, Self(PlaceOf{Place}));
  __nvvm_bar_warp_sync(~0u);
  __crsan_md_leave(0, Clock, Place);
}

//===----------------------------------------------------------------------===//
// The collider
//===----------------------------------------------------------------------===//

/// How many units a lane looks at between two delays.
constexpr uint32_t UnitsPerLook = 4;

/// Reads the bytes of a part of 8 aligned bytes, as one value.
template <bool Strong> DEVICE uint64_t readPart(Address A, uint32_t Size) {
  if (Size == 8)
    return readUnit<Strong>(A, 8);
  uint64_t Value = 0;
#pragma unroll 1
  for (uint32_t I = 0; I < Size; ++I)
    Value |= readUnit<Strong>(A + I, 1) << 8 * I;
  return Value;
}

/// Waits, while one lane of the warp watches one of its parts. Before that,
/// each lane looks for watchpoints of other threads at its parts.
DEVICE void watchAndWait(const Warp &W, Site &S, const Address *At,
                         const uint32_t *Size) {
  const bool Writes = S.Access == AccessKind::Store;
  Watched Mine{nullptr, 0, false, 0};
  const uint32_t Chosen = below(mix(W.Random + 5), UnitsPerLook);
  const uint32_t Watcher = below(mix(W.Random + 4), 32);
  const Origin From = Origin::here(/*Barriers=*/0);
  Address There = 0;
  uint32_t Bytes = 0;
#pragma unroll
  for (uint32_t J = 0; J < UnitsPerLook; ++J) {
    if (!(__crsan_config.Flags & Watch) || Size[J] == 0)
      continue;
    const Watched Part = watchedAt(At[J], Size[J], Writes, From);
    tellWatcher(S, Part, At[J], From);
    if (J == Chosen && lane() == Watcher) {
      Mine = Part;
      There = At[J];
      Bytes = Size[J];
    }
  }
  const uint64_t Word = watch(Mine, From);
  delay(W, /*Accesses=*/0); // Operations are counted, not what they access.
  if (Site *Other = unwatch(Mine, Word))
    __crsan_race(&S, There, Other->Id, 0,
                 uint64_t(1u << lane()) << 32 | Bytes << 16 |
                     uint32_t(RaceKind::Conflict));
}

/// Looks at the parts of this lane among the units from `First` on, waits, and
/// looks again. A change is a race.
DEVICE void look(const Warp &W, Site &S, const Units<8> &All, uint64_t First) {
  Address At[UnitsPerLook];
  uint32_t Size[UnitsPerLook];
  uint64_t Before[UnitsPerLook];
#pragma unroll
  for (uint32_t J = 0; J < UnitsPerLook; ++J) {
    const uint64_t I = First + J * 32 + lane();
    const auto Part = All.at(I);
    At[J] = Part.Begin;
    Size[J] = I < All.count() ? Part.size() : 0;
    Before[J] = Size[J] ? readPart<false>(At[J], Size[J]) : 0;
  }
  watchAndWait(W, S, At, Size);
#pragma unroll
  for (uint32_t J = 0; J < UnitsPerLook; ++J) {
    if (Size[J] == 0)
      continue;
    const uint64_t After = readPart<true>(At[J], Size[J]);
    if (Before[J] != After)
      __crsan_race(&S, At[J], Before[J], After, Size[J] << 16);
  }
}

/// Looks at the values of one side, as often as its Sampling says.
DEVICE void checkValues(const OperationSide &Side) {
  const Units<8> All(Side);
  auto &S = *reinterpret_cast<Site *>(Side.Site);
  auto *Window = reinterpret_cast<struct Sampling *>(Side.Sampling);
  constexpr uint32_t Step = 32 * UnitsPerLook;
#pragma unroll 1
  for (uint64_t First = warpHere() * Step; First < All.count();
       First += warpsHere() * Step) {
    __nvvm_bar_warp_sync(~0u);
    const Warp W = gather();
    uint32_t Interval = loadNear(Window->Interval);
    if (Interval > 1 && below(mix(W.Random + 6), Interval) != 0)
      continue;
    const Decision Mine = decide(W, Window, /*Groups=*/1);
    if (Mine.checks()) {
      look(W, S, All, First);
      charge(Mine);
    }
  }
}

} // namespace crsan::device

/// Waits, so that kernels of other streams come first.
extern "C" __attribute__((global, launch_bounds(1))) void
__crsan_pause(uint32_t Ns) {
  static_assert(sizeof(crsan::abi::PauseKernel) == sizeof("__crsan_pause"));
  crsan::device::pause(2 * Ns); // A GPU's clock has about two cycles a ns.
}

/// Judges accesses of host code. The grid has one dimension.
extern "C"
    __attribute__((global, launch_bounds(crsan::abi::HostNotesBlock, 4))) void
    __crsan_host_notes(const __attribute__((grid_constant))
                       crsan::abi::HostNotes Notes) {
  using namespace crsan::device;
  static_assert(sizeof(crsan::abi::HostNotesKernel) ==
                sizeof("__crsan_host_notes"));
  if ((__crsan_config.Flags & Enabled) && isShadowed() &&
      !(__crsan_config.Flags & Paused))
    judgeHostNotes(Notes);
}

/// The kernel. Blocks have OperationBlock threads, and the grid has one
/// dimension.
extern "C"
    __attribute__((global, launch_bounds(crsan::abi::OperationBlock, 4))) void
    __crsan_operation(crsan::abi::Operation O) {
  using namespace crsan::device;
  static_assert(sizeof(OperationKernel) == sizeof("__crsan_operation"));
  if (!(__crsan_config.Flags & Enabled))
    return;
  if (O.Reads.Access || O.Writes.Access)
    checkCells(O);
  if (__crsan_config.Flags & Paused)
    return;
#pragma unroll 1
  for (uint32_t I = 0; I < 2; ++I)
    if (const OperationSide &S = I == 0 ? O.Reads : O.Writes; S.Site)
      checkValues(S);
}
