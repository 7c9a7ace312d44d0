// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What host code has accessed, against the cells.
//
// An access of the host races with an access that a cell names if the latter's
// grid was launched before the host's access, and the host had not waited for
// that grid (docs/metadata-design.md, "Host code"). The host's access is not
// entered into the cell: whatever is launched later comes after it.
#ifndef CRSAN_DEVICE_METADATA_HOSTACCESS_H
#define CRSAN_DEVICE_METADATA_HOSTACCESS_H

#include "crsan/abi/HostNote.h"
#include "metadata/CellCheck.h"

namespace crsan::device {

/// Whether streams and events say what the host had waited for: it may have
/// learned nothing otherwise, neither by memory nor by what is not followed.
DEVICE bool isHostKnown(const StreamOrder *S) {
  return S && !loadSystem(S->IsOff) && !loadSystem(S->HasToldHost) &&
         !foreign();
}

/// The notes of host code that this kernel judges.
struct HostJudge {
  const StreamOrder &S;
  const HostNotes &All;

  DEVICE bool isUnawaited(const HostNote &N, uint32_t Number) const;
  DEVICE bool races(const HostNote &N, Accessor Earlier) const;
  DEVICE void tell(const HostNote &N, Address A, Accessor Earlier) const;
  DEVICE void word(const HostNote &N, Address A, Address End) const;
};

/// Whether the run was given to the GPU before the access, and the host had not
/// waited for it.
DEVICE bool HostJudge::isUnawaited(const HostNote &N, uint32_t Number) const {
  const RunRef R(S, Number);
  if (Number >= N.Limit || !R.isThere())
    return false;
  const bool Is = R.sequence() > All.Known[R.stream()];
  fenceSystem();
  return Is && R.isThere();
}

/// Whether all runs that the grid of `Earlier` may be of are such runs.
DEVICE bool HostJudge::races(const HostNote &N, Accessor Earlier) const {
  const WarpState &W = Self::stateOf(Earlier.warp());
  const uint32_t Start = loadRelaxed(W.Start), Then = Earlier.made();
  fenceDevice();
  // A state that is older than the access, or of a later block, says nothing.
  if (Then < Start || Then > loadRelaxed(W.Clock) ||
      (loadRelaxed(W.Alive) & (Mixed | BeginsMask)) ||
      (loadRelaxed(W.Flags) & (Leaky | Opaque)))
    return false;
  const uint64_t Grid = loadRelaxed(W.Grid);
  const GridRuns &G = runsOf(Grid);
  if (loadRelaxed(G.Grid) != Grid + 2)
    return false;
  fenceDevice();
  bool IsSure = false;
#pragma unroll 1
  for (uint32_t I = 0; I < NumStreams; ++I)
    if (const uint32_t Run = loadRelaxed(G.Runs[I])) {
      if (!isUnawaited(N, Run))
        return false;
      IsSure = true;
    }
  fenceDevice();
  return IsSure && loadRelaxed(G.Grid) == Grid + 2 &&
         loadRelaxed(W.Start) == Start && isHostKnown(&S);
}

/// Tells the library of the race with `Earlier`, of which the other side is at
/// `A`. As tellRace does, judges the first race of a pair again when what other
/// warps have written must have arrived.
DEVICE void HostJudge::tell(const HostNote &N, Address A,
                            Accessor Earlier) const {
  auto &Site = reinterpret_cast<AccessSite *>(All.Sites)[N.Number - 1];
  const AccessSite *Other = siteAt(Earlier.site());
  const uint32_t Index = indexOf(Site);
  if (Index >= MaxSites || !Other)
    return;
  RacingPair *P = pairOf(Index, Earlier.site(), Distance::Device);
  if (!P)
    return countDroppedPair();
  if (!claim(*P)) {
    countRace(*P);
    return;
  }
  pause(20000);
  if (!races(N, Earlier))
    return giveBack(*P);
  countRace(*P);
  publish(*P, RaceKind::HostAccess, [&](volatile Record &R) {
    const WarpState &W = Self::stateOf(Earlier.warp());
    R.Site = N.Id;
    R.Other = Other->Id;
    R.Address = A;
    R.Before = threadOf(Earlier, W, loadRelaxed(W.Block));
    R.After = OtherGrid;
    R.Lanes = 0;
    R.Flags = TwoSided;
    R.Size = N.Bytes < 255 ? N.Bytes : 255;
    *reinterpret_cast<volatile uint8_t *>(&R.MemorySpace) =
        uint8_t(Space::Global);
  });
}

/// Judges the bytes from `A` to `End` - 1, which lie in one word.
DEVICE void HostJudge::word(const HostNote &N, Address A, Address End) const {
  const PageRef Page(A);
  if (!Page.isTracked())
    return;
  const Address Word = A & ~Address(3);
  const uint32_t Mask =
      maskOf(bytesOf(uint32_t(A - Word), uint32_t(End - Word)));
  const Victims Forgotten(Word);
  const CellRef C = Page.cell(Word);
  const Cell Found = C.load(/*IsNear=*/false);
  const Accessor Writer = C.decode(Found.Writer);
  const Accessor Reader = C.decode(Found.Reader);
#pragma unroll 1
  for (uint32_t I = 0; I < 2 + VictimWays; ++I) {
    const Accessor Earlier = I == 0   ? Writer
                             : I == 1 ? Reader
                                      : Forgotten.at(I - 2);
    if (Earlier.isNobody() || !(maskOf(Earlier.bytes()) & Mask))
      continue;
    // The cell has not forgotten it.
    if (I >= 2 && (Earlier.Bits == Writer.Bits || Earlier.Bits == Reader.Bits))
      continue;
    const AccessSite *Other = siteAt(Earlier.site());
    if (Other && (N.Writes || surelyWrites(*Other)) && races(N, Earlier))
      tell(N, A, Earlier);
  }
}

/// The kernel's warps take notes in turn, and their lanes words.
DEVICE void judgeHostNotes(const HostNotes &All) {
  const StreamOrder *S = streamOrder();
  if (!isHostKnown(S))
    return;
  const HostJudge Judge{*S, All};
  const uint32_t Warps = __nvvm_read_ptx_sreg_nctaid_x() * warpsOfBlock();
  const uint32_t First =
      __nvvm_read_ptx_sreg_ctaid_x() * warpsOfBlock() + linearThread() / 32;
  if (First == 0 && lane() == 0)
    __nvvm_atom_add_gen_ll(reinterpret_cast<long long *>(&metadata().HostNotes),
                           All.Count);
#pragma unroll 1
  for (uint32_t I = First; I < All.Count; I += Warps) {
    const HostNote &N = All.Notes[I];
    const Address Begin = N.Address, End = Begin + N.Bytes;
#pragma unroll 1
    for (Address A = (Begin & ~Address(3)) + 4 * lane(); A < End; A += 4 * 32)
      Judge.word(N, A < Begin ? Begin : A, A + 4 < End ? A + 4 : End);
  }
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_HOSTACCESS_H
