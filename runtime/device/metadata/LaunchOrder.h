// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decides whether one launch of a kernel is ordered before another.
//
// A grid does not know its stream. But each stream writes to memory which run
// of launches it has begun, and begins the next only when the former has ended;
// so the run of a running grid is among these values. Runs in which the grid's
// kernel was not launched, or not with its shape or its arguments, are dropped.
// Two grids count as unordered only if every remaining run of the one is
// unordered with every remaining run of the other (docs/metadata-design.md,
// "Between grids").
#ifndef CRSAN_DEVICE_METADATA_LAUNCHORDER_H
#define CRSAN_DEVICE_METADATA_LAUNCHORDER_H

#include "metadata/ClockRow.h"

namespace crsan::device {

/// The host's description of launches; null if there is one stream only.
DEVICE StreamOrder *streamOrder() {
  return reinterpret_cast<StreamOrder *>(loadRelaxed(metadata().Streams));
}

/// One run as the host describes it. The host reuses the element for a later
/// run eventually.
struct RunRef {
  const StreamRun &R;
  uint32_t Number;

  DEVICE RunRef(const StreamOrder &S, uint32_t Number)
      : R(S.Runs[Number % NumRuns]), Number(Number) {}
  /// Whether the element still describes this run. To be asked before and after
  /// the element is read.
  DEVICE bool isThere() const {
    const bool Is = loadSystem(R.Number) == Number;
    fenceSystem();
    return Is;
  }
  DEVICE uint32_t stream() const { return loadSystem(R.Stream) % NumStreams; }
  DEVICE uint32_t sequence() const { return loadSystem(R.Sequence); }
  DEVICE uint32_t before(uint32_t Stream) const {
    return loadSystem(R.Before[Stream]);
  }
  DEVICE bool hasKernel(uint32_t Bit) const { return has(R.Kernels, Bit); }
  DEVICE bool hasArguments(uint32_t Bit) const { return has(R.Arguments, Bit); }

private:
  DEVICE static bool has(const uint64_t (&Bits)[4], uint32_t Bit) {
    const auto *Words = reinterpret_cast<const uint32_t *>(Bits);
    return loadSystem(Words[Bit / 32]) >> (Bit % 32) & 1;
  }
};

/// What a kernel says of itself when it begins.
struct KernelHere {
  uint32_t Flags; ///< EnterFlags.
  uint32_t Tag;   ///< kernelTag.
  uint32_t Run;   ///< The number of its StreamRun; 0: the kernel is not told.
  uint32_t Arguments; ///< A hash (finishArguments); 0: not known.
};

/// The shapeHash of the running kernel. `Tag` is its kernelTag.
DEVICE uint32_t shapeHere(uint32_t Tag) {
  return shapeHash(
      Tag, __nvvm_read_ptx_sreg_nctaid_x(), __nvvm_read_ptx_sreg_nctaid_y(),
      __nvvm_read_ptx_sreg_nctaid_z(), __nvvm_read_ptx_sreg_ntid_x(),
      __nvvm_read_ptx_sreg_ntid_y(), __nvvm_read_ptx_sreg_ntid_z());
}

/// The element for the runs of `Grid`.
DEVICE GridRuns &runsOf(uint64_t Grid) {
  return table<GridRuns>(GridRunsAt)[Grid & (NumGridRuns - 1)];
}

/// Where the clocks of the first grid of a run began, by stream and sequence of
/// the run: a RunClock, as one word.
DEVICE uint64_t &runClockOf(uint32_t Stream, uint32_t Sequence) {
  return table<uint64_t>(
      RunClocksAt)[Stream * NumRunClocks + Sequence % NumRunClocks];
}
/// A grid of the run `Sequence` begins at `Clock`. The least clock of the run
/// stays, and a later run's.
DEVICE void noteRunClock(uint64_t &Where, uint32_t Sequence, uint32_t Clock) {
  static_assert(offsetof(RunClock, Sequence) == 0 &&
                offsetof(RunClock, Clock) == 4);
  uint64_t Was = loadRelaxed(Where);
  while (true) {
    const int32_t Later = int32_t(uint32_t(Was) - Sequence);
    if (Was && (Later > 0 || (Later == 0 && uint32_t(Was >> 32) <= Clock)))
      return;
    const uint64_t Found =
        compareAndSwap(Where, Was, uint64_t(Clock) << 32 | Sequence);
    if (Found == Was)
      return;
    Was = Found;
  }
}

/// Writes down which runs the grid `G` may be of, and where its clocks begin
/// for those runs. `Here` is the mask of the lanes that call together; each
/// handles its share of the streams. `Clock` is the clock at which the grid
/// begins. Returns the least clock at which an access may race with the grid,
/// as far as this lane's streams say.
DEVICE uint32_t noteRuns(const StreamOrder &S, GridRuns &G, uint32_t Here,
                         const KernelHere &K, uint32_t Clock) {
  const uint32_t Shape = shapeHere(K.Tag);
  const uint32_t Bit = kernelBit(Shape);
  const uint32_t OfArguments = argumentsBit(Shape, K.Arguments);
  const uint32_t Lanes = __builtin_popcount(Here);
  const uint32_t Rank = __builtin_popcount(Here & ((1u << lane()) - 1));
#pragma unroll 1
  for (uint32_t I = Rank; I < NumStreams; I += Lanes) {
    const uint32_t Number = loadSystem(S.Current[I]);
    uint32_t Run = 0;
    if (Number && (!K.Run || K.Run == Number)) {
      const RunRef R(S, Number);
      // An element that was reused may have described any run.
      const bool IsThere = R.isThere();
      const bool IsOfRun =
          R.hasKernel(Bit) && (!K.Arguments || R.hasArguments(OfArguments));
      if (!IsThere || IsOfRun || !R.isThere())
        Run = Number;
      if (IsThere && Run) {
        const uint32_t Sequence = R.sequence();
        noteRunClock(runClockOf(I, Sequence), Sequence, Clock);
      }
    }
    storeRelaxed(G.Runs[I], Run);
  }
  __nvvm_bar_warp_sync(Here);
  // For each stream, find the first run that no run of this grid comes after.
  uint32_t Least = Clock;
#pragma unroll 1
  for (uint32_t I = Rank; I < NumStreams; I += Lanes) {
    const uint32_t Number = loadSystem(S.Current[I]);
    if (!Number)
      continue;
    const RunRef Current(S, Number);
    const uint32_t Last = Current.sequence();
    if (!Current.isThere())
      continue;
    uint32_t Known = 0;
    bool IsAny = false;
#pragma unroll 1
    for (uint32_t J = 0; J < NumStreams; ++J)
      if (const uint32_t Mine = loadRelaxed(G.Runs[J])) {
        const RunRef R(S, Mine);
        const uint32_t OfThis = I == J ? R.sequence() : R.before(I);
        Known = OfThis > Known ? OfThis : Known;
        IsAny = true;
      }
    if (!IsAny)
      continue;
    if (Last > Known + NumRunClocks)
      Known = Last - NumRunClocks;
#pragma unroll 1
    for (uint32_t Sequence = Known + 1; Sequence <= Last; ++Sequence) {
      const uint64_t First = loadRelaxed(runClockOf(I, Sequence));
      if (uint32_t(First) != Sequence)
        continue;
      const uint32_t Then = uint32_t(First >> 32);
      Least = Then < Least ? Then : Least;
      break;
    }
  }
  return Least;
}

/// Notes what a grid that begins may tell others and the host. `Flags`: its
/// EnterFlags.
DEVICE void noteSignals(StreamOrder &S, uint32_t Flags) {
  constexpr uint32_t Unknown = EnterLeaky | EnterOpaque;
  if ((Flags & (EnterSignals | Unknown)) && !loadSystem(S.HasSignalled))
    storeSystem(S.HasSignalled, 1);
  if ((Flags & (EnterTellsHost | Unknown)) && !loadSystem(S.HasToldHost))
    storeSystem(S.HasToldHost, 1);
}

/// Called by each warp of a new grid that does not find its GridStart; the
/// first of them sets the `Horizon` of the GridStart. `Clock` is the clock of
/// the grid's first accesses. Lanes in `Here` call together.
DEVICE void beginGrid(GridStart &Start, uint64_t Grid, const KernelHere &K,
                      uint32_t Here, uint32_t Clock) {
  StreamOrder *S = streamOrder();
  const uint32_t Leader = __builtin_ctz(Here);
  if (!S) {
    if (lane() == Leader)
      storeRelaxed(Start.Horizon, ~0u);
    return;
  }
  if (lane() == Leader)
    noteSignals(*S, K.Flags);
  GridRuns &G = runsOf(Grid);
  const uint64_t Key = Grid + 2;
  // One warp writes; the others wait, since they need the result.
  uint32_t Writes = 0;
  if (lane() == Leader) {
#pragma unroll 1
    for (uint32_t Tries = 0; Tries < 10000 && !Writes; ++Tries) {
      const uint64_t Found = loadRelaxed(G.Grid);
      if (Found == Key)
        break;
      if (Found != 1)
        Writes = exchangeIf(G.Grid, Found, 1);
      else
        pause(100);
    }
    fenceDevice();
  }
  if (!__nvvm_shfl_sync_idx_i32(Here, Writes, Leader, 31))
    return;
  const uint32_t Least = noteRuns(*S, G, Here, K, Clock);
  // The value ~0 means that there is no horizon yet.
  if (lane() == Leader)
    storeRelaxed(Start.Horizon, ~0u);
  __nvvm_bar_warp_sync(Here);
  asm volatile("red.relaxed.gpu.min.u32 [%0], %1;" ::"l"(&Start.Horizon),
               "r"(Least)
               : "memory");
  __nvvm_bar_warp_sync(Here);
  fenceDevice();
  if (lane() == Leader)
    storeRelaxed(G.Grid, Key);
}

/// Whether a grid of run `Later` may be ordered after another grid of run
/// `Earlier`.
DEVICE bool mayFollow(const RunRef &Earlier, const RunRef &Later) {
  if (!Earlier.isThere() || !Later.isThere())
    return true;
  const uint32_t Stream = Earlier.stream(), Sequence = Earlier.sequence();
  const bool Follows = Earlier.Number == Later.Number
                           ? loadSystem(Earlier.R.Launches) > 1
                           : Later.before(Stream) >= Sequence;
  fenceSystem();
  return Follows || !Earlier.isThere() || !Later.isThere();
}

/// Whether nothing orders the accesses of grid `Other` at the clock `Then`
/// before grid `Mine`, which is running: neither streams and events, nor
/// anything that the host may have learned meanwhile.
DEVICE bool areUnordered(uint64_t Other, uint64_t Mine, uint32_t Then) {
  StreamOrder *S = streamOrder();
  if (!S)
    return false;
  const uint64_t Pair = Other * 0x9e3779b97f4a7c15ull ^ Mine;
  uint64_t &Known =
      table<uint64_t>(OrderedGridsAt)[hashOf(Pair) % NumOrderedGrids];
  if (loadRelaxed(Known) == Pair)
    return false;
  if (loadSystem(S->IsOff) || loadSystem(S->HasSignalled) ||
      loadRelaxed(metadata().HasLearned) || foreign())
    return false;
#pragma unroll 1
  // A release beyond a block at a larger clock may have reached the host: a
  // grid ordered after the access may have told it.
  for (uint32_t I = 0; I < NumAnyWide; ++I) {
    const Row<KnownEntries> Told(SyncCells::at(I).Known);
    uint32_t Largest = 0;
#pragma unroll
    for (uint32_t J = 0; J < KnownEntries; ++J)
      Largest = Told.Of[J] > Largest ? Told.Of[J] : Largest;
    if (Largest > Then)
      return false;
  }
  const GridRuns &Theirs = runsOf(Other), &Ours = runsOf(Mine);
  auto AreThere = [&] {
    const bool Are = loadRelaxed(Theirs.Grid) == Other + 2 &&
                     loadRelaxed(Ours.Grid) == Mine + 2;
    fenceDevice();
    return Are;
  };
  if (!AreThere())
    return false;
  bool IsSure = false;
#pragma unroll 1
  for (uint32_t I = 0; I < NumStreams; ++I) {
    const uint32_t Later = loadRelaxed(Ours.Runs[I]);
    // A stream that has begun another run is not the stream of this grid.
    if (!Later || loadSystem(S->Current[I]) != Later)
      continue;
#pragma unroll 1
    for (uint32_t J = 0; J < NumStreams; ++J)
      if (const uint32_t Earlier = loadRelaxed(Theirs.Runs[J])) {
        if (mayFollow({*S, Earlier}, {*S, Later})) {
          storeRelaxed(Known, Pair);
          return false;
        }
        IsSure = true;
      }
  }
  fenceDevice();
  return IsSure && AreThere();
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_LAUNCHORDER_H
