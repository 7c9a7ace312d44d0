// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the oracle knows of a race.
#include "Oracle.h"

using namespace crsan::sim;

static Dim3 indexIn(const Dim3 &Extent, uint32_t Linear) {
  return {Linear % Extent.X, Linear / Extent.X % Extent.Y,
          Linear / Extent.X / Extent.Y};
}

RaceSide Oracle::sideOf(ActorId Id) const {
  const ActorNote &Note = Who.noteOf(Id);
  RaceSide S;
  if (Note.What == ActorNote::Kind::Host)
    return S;
  if (Note.What == ActorNote::Kind::StreamWork) {
    S.Name = Note.Operation;
    S.IsHost = true;
    S.MadeAt = Note.MadeAt;
    return S;
  }
  const GridState &G = Grids.at(Note.Where.Grid);
  S.Name = G.Kernel;
  S.IsAsync = Note.What == ActorNote::Kind::Async;
  S.GridDim = G.GridDim;
  S.BlockDim = G.BlockDim;
  S.Block = indexIn(G.GridDim, Note.Where.Block);
  S.Thread =
      indexIn(G.BlockDim, S.IsAsync ? Note.Thread : uint32_t(Id - Note.First));
  return S;
}

bool Oracle::mayOverlap(uint64_t A, uint64_t B) const {
  const auto Overlaps = [&](uint64_t One, uint64_t Other) {
    const auto G = Grids.find(One);
    return G != Grids.end() && Other && G->second.Overlaps == Other;
  };
  return Overlaps(A, B) || Overlaps(B, A);
}

std::vector<StrongRead> Oracle::toldAt(const EarlierAccess &Earlier,
                                       const Op &Later) const {
  if (!Later.Block)
    return {};
  for (size_t I = 0; I < Later.Block->Threads.size(); ++I) {
    const PatternState *P = Later.Block->Threads[I].Patterns.get();
    const ActorId Reader = Later.Block->First + I;
    if (!P || P->ReadAt.empty() ||
        (Reader != Later.Id && Later.Known->get(Reader) < P->ReadTime))
      continue;
    for (const Clock &Pending : P->Pending)
      if (Pending.get(Earlier.Id) >= Earlier.Time)
        return P->ReadAt;
  }
  return {};
}

void Oracle::race(const EarlierAccess &Earlier, const Op &Later,
                  uint64_t Address, uint64_t Count) {
  // Of a race with the host, the kernel counts.
  const ActorId Counts =
      isHostInstruction(Later.A.Instruction) ? Earlier.Id : Later.Id;
  if (Options.Takes && !Options.Takes(Who.noteOf(Counts).Where.Grid))
    return;
  const auto NameOf = [&](ActorId Id, int32_t Instruction) {
    if (Instruction != -1)
      return std::string();
    const RaceSide S = sideOf(Id);
    return S.IsHost ? S.Name + " " + std::to_string(S.MadeAt) : S.Name;
  };
  RaceFinding &F =
      Found.of(Earlier.Instruction, NameOf(Earlier.Id, Earlier.Instruction),
               Later.A.Instruction, NameOf(Later.Id, Later.A.Instruction),
               Earlier.LacksProxyFence);
  const ActorNote &A = Who.noteOf(Earlier.Id), &B = Who.noteOf(Later.Id);
  const bool SameWarp = A.First == B.First &&
                        A.What == ActorNote::Kind::Threads &&
                        Earlier.Id / Clock::Fan == Later.Id / Clock::Fan;
  const Distance Width = SameWarp                       ? Distance::Warp
                         : A.Where.Grid != B.Where.Grid ? Distance::Device
                         : A.Where.blockKey() == B.Where.blockKey()
                             ? Distance::Block
                             : Distance::Grid;
  F.Count += Count;
  if (F.Count != Count && Width <= F.Width)
    return;
  F.Width = Width;
  F.LacksProxyFence = Earlier.LacksProxyFence;
  F.Address = Address;
  F.Space = Later.A.Space;
  F.Device = (B.Where.Grid ? B : A).Where.device();
  F.Earlier = sideOf(Earlier.Id);
  F.Earlier.Flags = Earlier.Flags;
  F.Earlier.IsVolatile = Earlier.IsVolatile;
  F.Earlier.Order = Earlier.Order;
  F.Earlier.Within = Earlier.Within;
  F.Earlier.Size = Earlier.Size;
  F.Earlier.Instruction = Earlier.Instruction;
  F.Later = sideOf(Later.Id);
  F.Later.Flags = Later.A.Flags;
  F.Later.IsVolatile = Later.A.IsVolatile;
  F.Later.Order = Later.A.Order;
  F.Later.Within = Later.A.Within;
  F.Later.Size = Later.A.Size;
  F.Later.Instruction = Later.A.Instruction;

  F.ToldAt = toldAt(Earlier, Later);
  if (Options.Describe)
    F.Memory = Options.Describe(Address, F.Space, F.Later.Name);
  if (Options.MadeAt && F.Space == Space::Global)
    F.MadeAt = Options.MadeAt(Address);
  RaceCircumstances C;
  C.Earlier = A.Where;
  C.Later = B.Where;
  C.SameWarp = SameWarp;
  C.CompletelyOverlap = F.OverlapsCompletely = Earlier.OverlapsCompletely;
  C.LacksProxyFence = Earlier.LacksProxyFence;
  C.MayOverlap = mayOverlap(A.Where.Grid, B.Where.Grid);
  if (Later.Block) {
    C.Narrow = Later.Block->Narrow.get(Earlier.Id) >= Earlier.Time;
    C.Unfenced = Later.Block->Unfenced.get(Earlier.Id) >= Earlier.Time;
  }
  F.Missing = explainRace(F.Earlier, F.Later, C);
}

/// Two threads of a block are at one barrier, and at two instructions or in two
/// iterations.
void Oracle::meeting(const BarrierState &Barrier, ActorId Other,
                     int32_t OtherAt, bool IsOtherIteration) {
  const ActorId First = Barrier.First;
  const int32_t FirstAt = Barrier.FirstAt;
  const ActorNote &Note = Who.noteOf(Other);
  if (Options.Takes && !Options.Takes(Note.Where.Grid))
    return;
  RaceFinding &F = Met.of(FirstAt, "", OtherAt, "", IsOtherIteration);
  if (F.Count++)
    return;
  F.AreBarriers = true;
  F.AreIterations = IsOtherIteration;
  F.Space = Space::Generic;
  F.Width = First / Clock::Fan == Other / Clock::Fan ? Distance::Warp
                                                     : Distance::Block;
  F.Device = Note.Where.device();
  F.Earlier = sideOf(First);
  F.Earlier.Instruction = FirstAt;
  F.Later = sideOf(Other);
  F.Later.Instruction = OtherAt;
}
