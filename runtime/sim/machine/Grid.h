// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launched kernels and their resident blocks.
#ifndef CRSAN_SIM_GRID_H
#define CRSAN_SIM_GRID_H

#include "Memory.h"
#include "Warp.h"

#include <atomic>

namespace crsan::sim {

class Device;
struct Grid;

/// Blocks that become resident together. One of a single block where the launch
/// has no clusters.
struct Cluster {
  Grid *In = nullptr;
  uint32_t Index = 0;
  std::vector<std::unique_ptr<Block>> Blocks;
  uint32_t Live = 0; ///< Blocks with threads.
  uint64_t Uid = 0;
  Device *Home = nullptr; ///< The machine, or a multiprocessor by itself.
  // The cluster barrier.
  uint64_t Phase = 0;
  uint64_t BarrierUid = 0,
           LastBarrierUid = 0; ///< Of this phase and the one before.
  uint32_t LiveThreads = 0;
  unsigned Pending = 0; ///< Asynchronous copies under way.
};

struct NamedBarrier {
  uint64_t Uid = 0;              ///< Of this phase.
  uint32_t Expected = 0;         ///< Threads; 0: all of the block.
  bool IsBusy = false;           ///< Somebody has arrived.
  std::vector<uint32_t> Arrived; ///< By warp: lanes.
  // bar.red
  uint32_t Count = 0; ///< Threads whose predicate held.
  bool All = true;
};

/// Phases of an mbarrier object, for the observer.
struct MBarrierUids {
  uint64_t Current = 0, Last = 0;
};

struct Block {
  Cluster *In = nullptr;
  Grid *Of = nullptr;
  uint32_t Index = 0; ///< Linear in the grid.
  Dim3 Coordinates;   ///< In the grid.
  uint32_t Rank = 0;  ///< In the cluster.
  uint64_t Uid = 0, FirstThread = 0;
  uint32_t Multiprocessor = 0;
  uint32_t Threads = 0, LiveThreads = 0;
  std::vector<uint8_t> Shared;
  std::vector<uint8_t> Reserved; ///< See ReservedShared; empty: not used yet.
  /// It has executed griddepcontrol.launch_dependents, or ended.
  bool LetsDependentsStart = false;
  std::vector<uint8_t> Written;    ///< By byte, with CheckUninitialisedShared.
  std::vector<uint8_t> SharedRows; ///< Of another rank than 0.
  std::vector<std::unique_ptr<Warp>> Warps;
  std::array<NamedBarrier, 16> Barriers;
  std::map<uint32_t, MBarrierUids> MBarriers; ///< By offset.

  /// What is at an offset in the block's shared memory.
  uint8_t *sharedAt(uint32_t Offset) {
    if (!ReservedShared::holds(Offset, 1))
      return Shared.data() + Offset;
    Reserved.resize(ReservedShared::Size);
    return Reserved.data() + (Offset - ReservedShared::Begin);
  }
};

struct Grid {
  uint64_t Id = 0;
  uint64_t GridId = 0; ///< %gridid, which launches of a graph's node share.
  sim::Stream Stream = 0;
  Launch What;
  bool IsHidden = false; ///< Observers are not told of it.
  Kernel *Code = nullptr;
  Image *In = nullptr;
  uint64_t NextCluster = 0, NumClusters = 0, LiveClusters = 0;
  Dim3 Clusters;             ///< Grid in clusters.
  void *Workspace = nullptr; ///< Of cooperative groups.
  /// The grid before it in its stream that it overlaps with; 0: none (any
  /// more).
  uint64_t Overlaps = 0;
  /// Blocks for which a dependent grid need not wait any longer.
  std::atomic<uint64_t> Letting{0};
  bool HasRun = false; ///< All blocks have ended, but Overlaps has not.
  std::vector<std::unique_ptr<Cluster>> Resident;
};

} // namespace crsan::sim

#endif // CRSAN_SIM_GRID_H
