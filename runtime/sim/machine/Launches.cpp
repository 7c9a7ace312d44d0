// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Grids, and blocks that become resident.
#include "Device.h"
#include "Footprint.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

using namespace crsan::sim;

static Dim3 coordinatesOf(uint64_t Linear, const Dim3 &In) {
  return {uint32_t(Linear % In.X), uint32_t(Linear / In.X % In.Y),
          uint32_t(Linear / In.X / In.Y)};
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

void Device::startGrid(Stream S, Operation &Op, uint64_t Overlaps) {
  auto G = std::make_unique<Grid>();
  // Observers count the program's grids.
  constexpr uint64_t FirstHidden = uint64_t(1) << 48;
  G->IsHidden = Op.IsHidden;
  G->Id = Op.Grid = G->IsHidden ? FirstHidden + NextGridId : NextGrid++;
  G->Stream = S;
  G->What = std::move(Op.Code);
  G->Overlaps = Overlaps;
  uint64_t *OfNode = G->What.GridId.get();
  if (OfNode && *OfNode == 0)
    *OfNode = NextGridId;
  G->GridId = OfNode ? *OfNode : NextGridId;
  ++NextGridId;
  const KernelInfo &Info = *G->What.Kernel;
  auto Found = Images.find(Info.Module);
  if (Found == Images.end() ||
      Found->second->KernelsByName.count(Info.Name) == 0) {
    Fault Bad;
    Bad.What = Fault::Kind::Unsupported;
    Bad.Message = "a kernel of a module that has been unloaded was launched";
    Bad.Kernel = Info.Name;
    raise(std::move(Bad));
    return;
  }
  G->In = Found->second.get();
  G->Code = G->In->KernelsByName.at(Info.Name);
  const Dim3 &Grid = G->What.Grid, &Cl = G->What.Cluster;
  G->Clusters = {Grid.X / Cl.X, Grid.Y / Cl.Y, Grid.Z / Cl.Z};
  G->NumClusters = G->Clusters.count();
  if (G->What.IsCooperative) {
    G->Workspace = allocate(64, 256);
    if (G->Workspace) {
      std::memset(G->Workspace, 0, 64);
      uint32_t Size = 64;
      std::memcpy(G->Workspace, &Size, 4); // wsSize; the barrier follows.
    }
  }
  if (Watch && !G->IsHidden)
    Watch->gridStart({G->Id, S, Info.Name, Grid, G->What.Block, Cl,
                      G->What.IsCooperative, G->What.MayOverlap});
  G->What.Params.resize(
      std::max<size_t>(G->What.Params.size(), Info.ParamBytes));
  Grids[G->Id] = std::move(G);
  MayDispatch = true;
}

/// A multiprocessor with room for one more block, besides those of Taken.
std::optional<uint32_t>
Device::multiprocessorFor(const Grid &G,
                          const std::vector<uint32_t> &Taken) const {
  std::optional<uint32_t> Best;
  uint32_t BestThreads = 0;
  for (uint32_t M = 0; M < Multiprocessors.size(); ++M) {
    const Multiprocessor &On = Multiprocessors[M];
    uint32_t More = Taken.empty() ? 0 : Taken[M];
    uint32_t Threads = On.Threads + More * threadsTaken(G.What);
    if (Threads + threadsTaken(G.What) > Machine::MaxThreadsPerMultiprocessor ||
        On.Blocks + More + 1 > Machine::MaxBlocksPerMultiprocessor ||
        On.Shared + (More + 1) * sharedTaken(G.What) >
            Machine::MaxSharedPerMultiprocessor)
      continue;
    if (!Best || Threads < BestThreads) {
      Best = M;
      BestThreads = Threads;
    }
  }
  return Best;
}

bool Device::makeResident(Grid &G) {
  const uint64_t Size = G.What.Cluster.count();
  // Cooperative grids all at once, others cluster by cluster.
  const uint64_t Clusters = G.What.IsCooperative ? G.NumClusters : 1;
  if (G.NextCluster == G.NumClusters)
    return false;
  std::vector<uint32_t> Taken(Multiprocessors.size()), Chosen;
  for (uint64_t N = 0; N < Size * Clusters; ++N) {
    auto Where = multiprocessorFor(G, Taken);
    if (!Where)
      return false;
    ++Taken[*Where];
    Chosen.push_back(*Where);
  }
  for (uint64_t C = 0; C < Clusters; ++C) {
    auto New = std::make_unique<Cluster>();
    New->In = &G;
    New->Index = uint32_t(G.NextCluster++);
    New->Uid = NextClusterUid++;
    New->Live = uint32_t(Size);
    New->Home = InRounds ? Alone[Chosen[C * Size]].get() : this;
    ++G.LiveClusters;
    New->Blocks.resize(Size);
    Dim3 Corner = coordinatesOf(New->Index, G.Clusters);
    for (uint32_t R = 0; R < Size; ++R) {
      Dim3 In = coordinatesOf(R, G.What.Cluster);
      Dim3 At{Corner.X * G.What.Cluster.X + In.X,
              Corner.Y * G.What.Cluster.Y + In.Y,
              Corner.Z * G.What.Cluster.Z + In.Z};
      uint32_t Linear = At.X + G.What.Grid.X * (At.Y + G.What.Grid.Y * At.Z);
      startBlock(*New, Linear, R, Chosen[C * Size + R]);
    }
    G.Resident.push_back(std::move(New));
  }
  return true;
}

void Device::dispatch() {
  MayDispatch = false;
  for (bool Any = true; Any && !Failed;) {
    Any = false;
    for (auto &[Id, G] : Grids)
      Any |= makeResident(*G);
  }
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void Device::startBlock(Cluster &C, uint32_t Index, uint32_t Rank,
                        uint32_t On) {
  Grid &G = *C.In;
  auto B = std::make_unique<Block>();
  B->In = &C;
  B->Of = &G;
  B->Index = Index;
  B->Coordinates = coordinatesOf(Index, G.What.Grid);
  B->Rank = Rank;
  B->Uid = NextBlockUid++;
  B->Multiprocessor = On;
  B->Threads = B->LiveThreads = uint32_t(G.What.Block.count());
  B->FirstThread = NextThreadUid;
  NextThreadUid += B->Threads;
  C.LiveThreads += B->Threads;
  B->Shared.resize(sharedBytes(G.What));
  // What was there before is anybody's guess: the same guess with each seed.
  for (uint8_t &Byte : B->Shared)
    Byte = uint8_t(Dice.next());
  if (Opt.CheckUninitialisedShared)
    B->Written.resize(B->Shared.size());
  Multiprocessor &M = Multiprocessors[On];
  M.Threads += threadsTaken(G.What);
  M.Blocks += 1;
  M.Shared += sharedTaken(G.What);
  if (Watch && !G.IsHidden)
    Watch->blockStart(G.Id, Index, B->Uid, B->FirstThread, B->Threads);
  Block &In = *(C.Blocks[Rank] = std::move(B));
  uint32_t Warps = (In.Threads + WarpSize - 1) / WarpSize;
  if (Rank)
    In.SharedRows = G.Code->sharedRows(Rank);
  for (NamedBarrier &Bar : In.Barriers)
    Bar.Arrived.resize(Warps);
  for (uint32_t W = 0; W < Warps; ++W)
    C.Home->startWarp(In, W);
}

namespace {
/// Writes special registers.
class SpecialWriter {
public:
  explicit SpecialWriter(std::vector<uint8_t> &Rows) : Rows(Rows) {
    Rows.assign(SpecialBytes, 0);
  }
  void set(SpecialRow R, unsigned Lane, uint32_t Value) {
    std::memcpy(&Rows[(size_t(R) * WarpSize + Lane) * 4], &Value, 4);
  }
  void all(SpecialRow R, uint32_t Value) {
    for (unsigned L = 0; L < WarpSize; ++L)
      set(R, L, Value);
  }
  void all(SpecialRow X, const Dim3 &Value) {
    all(X, Value.X);
    all(SpecialRow(unsigned(X) + 1), Value.Y);
    all(SpecialRow(unsigned(X) + 2), Value.Z);
  }
  void wide(SpecialRow R, uint64_t Value) {
    for (unsigned L = 0; L < WarpSize; ++L)
      std::memcpy(&Rows[size_t(R) * WarpSize * 4 + L * 8], &Value, 8);
  }

private:
  std::vector<uint8_t> &Rows;
};
} // namespace

static void fillLanes(SpecialWriter &S, const Warp &W, const Launch &What) {
  for (unsigned L = 0; L < WarpSize; ++L) {
    Dim3 Tid = coordinatesOf(W.Index * WarpSize + L, What.Block);
    S.set(SpecialRow::TidX, L, Tid.X);
    S.set(SpecialRow::TidY, L, Tid.Y);
    S.set(SpecialRow::TidZ, L, Tid.Z);
    S.set(SpecialRow::LaneId, L, L);
    uint32_t Eq = 1u << L;
    S.set(SpecialRow::LaneMaskEq, L, Eq);
    S.set(SpecialRow::LaneMaskLt, L, Eq - 1);
    S.set(SpecialRow::LaneMaskLe, L, Eq | (Eq - 1));
    S.set(SpecialRow::LaneMaskGt, L, ~(Eq | (Eq - 1)));
    S.set(SpecialRow::LaneMaskGe, L, ~(Eq - 1));
  }
}

static void fillSpecial(Warp &W, const Block &B, uint32_t Multiprocessors) {
  const Grid &G = *B.Of;
  const Launch &What = G.What;
  SpecialWriter S(W.Special);
  fillLanes(S, W, What);
  S.all(SpecialRow::NtidX, What.Block);
  S.all(SpecialRow::CtaidX, B.Coordinates);
  S.all(SpecialRow::NctaidX, What.Grid);
  S.all(SpecialRow::WarpId, W.Index);
  S.all(SpecialRow::NWarpId, Machine::MaxThreadsPerMultiprocessor / WarpSize);
  S.all(SpecialRow::SmId, B.Multiprocessor);
  S.all(SpecialRow::NSmId, Multiprocessors);
  S.all(SpecialRow::GridId32, uint32_t(G.GridId));
  S.wide(SpecialRow::GridId64, G.GridId);
  S.all(SpecialRow::ClusterIdX, coordinatesOf(B.In->Index, G.Clusters));
  S.all(SpecialRow::NClusterIdX, G.Clusters);
  S.all(SpecialRow::ClusterCtaIdX, coordinatesOf(B.Rank, What.Cluster));
  S.all(SpecialRow::ClusterNctaIdX, What.Cluster);
  S.all(SpecialRow::ClusterCtaRank, B.Rank);
  S.all(SpecialRow::ClusterNctaRank, uint32_t(What.Cluster.count()));
  S.all(SpecialRow::DynamicShared, What.DynamicShared);
  S.all(SpecialRow::TotalShared, sharedBytes(What));
  uint64_t Workspace = reinterpret_cast<uint64_t>(G.Workspace);
  S.all(SpecialRow::EnvReg1, uint32_t(Workspace >> 32));
  S.all(SpecialRow::EnvReg2, uint32_t(Workspace));
  S.all(SpecialRow::WarpSz, WarpSize);
}

void Device::startWarp(Block &B, uint32_t Index) {
  Warp &W = *B.Warps.emplace_back(std::make_unique<Warp>());
  W.In = &B;
  W.Index = Index;
  uint32_t Lanes = std::min(B.Threads - Index * WarpSize, WarpSize);
  W.Whole = W.Live = Lanes == WarpSize ? AllLanes : (1u << Lanes) - 1;
  fillSpecial(W, B, uint32_t(Multiprocessors.size()));
  Function &Fn = B.Of->In->Functions[B.Of->Code->Info.Index];
  if (!Fn.Error.empty()) {
    Fault Bad;
    Bad.What = Fault::Kind::UnknownInstruction;
    Bad.Message = Fn.Error;
    Bad.Kernel = Fn.Name;
    (Whole ? Whole : this)->raise(std::move(Bad));
    return;
  }
  growLocal(W, Fn.LocalBytes);
  newFragment(W, W.Live, 0, newFrame(Fn, nullptr, 0), nullptr);
}
