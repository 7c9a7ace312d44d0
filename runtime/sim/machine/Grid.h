@@Grid.h|Launched kernels and their resident blocks
#ifndef CRSAN_SIM_GRID_H
#define CRSAN_SIM_GRID_H

#include "Warp.h"

namespace crsan::sim {

struct Grid;

/// Blocks that become resident together. One of a single block where the launch
/// has no clusters.
struct Cluster {
  Grid *In = nullptr;
  uint32_t Index = 0;
  std::vector<std::unique_ptr<Block>> Blocks;
  uint32_t Live = 0;       ///< Blocks with threads.
  uint64_t Uid = 0;
  // The cluster barrier.
  uint64_t Phase = 0;
  uint32_t Arrived = 0;    ///< Threads, of those that live.
  uint32_t LiveThreads = 0;
  std::vector<Fragment *> Waiting;
  unsigned Pending = 0;    ///< Asynchronous copies under way.
};

struct NamedBarrier {
  uint64_t Phase = 0;
  uint32_t Expected = 0; ///< Threads; 0: all of the block.
  bool IsBusy = false;   ///< Somebody has arrived.
  std::vector<uint32_t> Arrived; ///< By warp: lanes.
  // bar.red
  uint32_t Count = 0;
  bool All = true, Any = false;
  uint32_t LastCount = 0;
  bool LastAll = false, LastAny = false;
};

struct Block {
  Cluster *In = nullptr;
  Grid *Of = nullptr;
  uint32_t Index = 0; ///< Linear in the grid.
  Dim3 Place;
  uint32_t Rank = 0;  ///< In the cluster.
  uint64_t Uid = 0, FirstThread = 0;
  uint32_t Multiprocessor = 0;
  uint32_t Threads = 0, LiveThreads = 0;
  std::vector<uint8_t> Shared;
  std::vector<uint8_t> Written; ///< By byte, with CheckUninitialisedShared.
  std::vector<std::unique_ptr<Warp>> Warps;
  std::array<NamedBarrier, 16> Barriers;
  std::map<uint32_t, uint64_t> MBarrierPhases; ///< By offset: for the observer.
};

struct Grid {
  uint64_t Id = 0;
  sim::Stream Stream = 0;
  Launch What;
  Kernel *Code = nullptr;
  Image *In = nullptr;
  uint64_t NextCluster = 0, NumClusters = 0, LiveClusters = 0;
  Dim3 Clusters; ///< Grid in clusters.
  void *Workspace = nullptr; ///< Of cooperative groups.
  std::vector<std::unique_ptr<Cluster>> Resident;
};

} // namespace crsan::sim

#endif // CRSAN_SIM_GRID_H
