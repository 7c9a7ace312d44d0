// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How lanes, blocks and grids end.
#include "Device.h"
#include "Footprint.h"

#include <algorithm>
#include <utility>

using namespace crsan::sim;

void Device::exitLanes(Execution &X, uint32_t Lanes) {
  Fragment &F = *X.F;
  Warp &W = *X.W;
  Block &B = *X.B;
  unsigned Count = std::popcount(Lanes);
  if (Watch && !X.G->IsHidden)
    for (uint32_t M = Lanes; M; M &= M - 1)
      Watch->threadExit(X.thread(std::countr_zero(M)));
  W.Live &= ~Lanes;
  B.LiveThreads -= Count;
  B.In->LiveThreads -= Count;
  leaveMeetings(F.Meets, nullptr, Lanes);
  F.Lanes &= ~Lanes;
  if (!F.Lanes)
    retire(&F);
  for (Fragment *Other : W.Fragments)
    if (Other->Is == Fragment::State::Meeting &&
        (Other->Meets->Expected & ~Other->Lanes) == 0)
      setState(*Other, Fragment::State::Ready);
  recheckCollectives(W);
  recheckBarriers(B);
  recheckClusterBarrier(*B.In);
  if (!B.LiveThreads)
    finishBlock(B);
}

void Device::finishBlock(Block &B) {
  Cluster &C = *B.In;
  letDependentsStart(B);
  if (--C.Live == 0 && !C.Pending)
    Doomed.push_back(&C);
}

bool Device::letsDependentsStart(uint64_t Id) const {
  auto G = Grids.find(Id);
  return G == Grids.end() || G->second->Letting == G->second->What.Grid.count();
}

void Device::letDependentsStart(Block &B) {
  if (!std::exchange(B.LetsDependentsStart, true))
    ++B.Of->Letting;
}

/// Wakes those who wait for the grid that theirs overlapped with.
static void wakeWaiting(Grid &G) {
  for (auto &C : G.Resident)
    for (auto &B : C->Blocks)
      for (auto &W : B->Warps)
        for (Fragment *F : W->Fragments)
          if (F->Is == Fragment::State::Grid)
            C->Home->setState(*F, Fragment::State::Ready);
}

/// A grid ends for its stream when the one that it overlapped with has.
void Device::finishGrid(Grid &G) {
  G.HasRun = true;
  if (G.Overlaps)
    return;
  const uint64_t Id = G.Id;
  const Stream S = G.Stream;
  if (Watch && !G.IsHidden)
    Watch->gridEnd(Id, S);
  if (G.Workspace)
    release(G.Workspace);
  Grids.erase(Id);
  finishFront(S);
  for (auto &[Number, Later] : Grids) {
    if (Later->Overlaps != Id)
      continue;
    Later->Overlaps = 0;
    wakeWaiting(*Later);
    if (Later->HasRun)
      finishGrid(*Later);
    return; // There is no other.
  }
}

void Device::buryClusters() {
  for (Cluster *C : std::exchange(Doomed, {})) {
    Grid &G = *C->In;
    for (auto &B : C->Blocks) {
      if (Watch &&
          !G.IsHidden) // Not before: its copies have been made until now.
        Watch->blockEnd(G.Id, B->Index, B->Uid);
      Multiprocessor &M = Multiprocessors[B->Multiprocessor];
      M.Threads -= threadsTaken(G.What);
      M.Blocks -= 1;
      M.Shared -= sharedTaken(G.What);
    }
    std::erase_if(G.Resident, [&](auto &Other) { return Other.get() == C; });
    MayDispatch = true;
    if (--G.LiveClusters == 0 && G.NextCluster == G.NumClusters)
      finishGrid(G);
  }
}

void Device::dropAll() {
  for (auto &[Id, G] : Grids)
    for (auto &C : G->Resident)
      for (auto &B : C->Blocks)
        for (auto &W : B->Warps)
          while (!W->Fragments.empty())
            C->Home->retire(W->Fragments.back());
  for (auto &[Id, G] : Grids)
    if (G->Workspace)
      release(G->Workspace);
  Grids.clear();
  Doomed.clear();
  Timers.clear();
  for (auto &D : Alone) {
    D->Doomed.clear();
    D->Timers.clear();
    D->Turns.clear();
    D->Resting.clear();
    D->Ending.clear();
  }
  for (Multiprocessor &M : Multiprocessors)
    M = {};
  for (auto &[Id, S] : Streams)
    S.Queue.clear();
  for (auto &[Id, E] : Events)
    E.Reached = E.Recorded;
}

Device::~Device() {
  Watch = nullptr;
  dropAll();
  for (Fragment *F : FreeFragments)
    delete F;
  for (Meeting *M : FreeMeetings)
    delete M;
  for (auto &[Fn, Frames] : FreeFrames)
    for (Frame *Fr : Frames)
      delete Fr;
}
