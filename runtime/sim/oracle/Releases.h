// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a write releases, to whom.
//
// The PTX model lets a release pattern and an acquire pattern synchronise if
// their first and last operations are of scopes that include each other's
// thread. So what a write offers depends on who reads it: a set of releases
// keeps, for each scope, what threads at that distance may have.
#ifndef CRSAN_SIM_ORACLE_RELEASES_H
#define CRSAN_SIM_ORACLE_RELEASES_H

#include "Clock.h"
#include "machine/Observer.h"

#include <array>
#include <map>
#include <vector>

namespace crsan::sim {

constexpr unsigned NumScopes = 4;
constexpr unsigned indexOf(Scope S) { return unsigned(S); }

/// Grids of the device of ordinal N have numbers from N << GridBits on.
constexpr unsigned GridBits = 28;
constexpr uint32_t deviceOf(uint64_t Grid) {
  return uint32_t(Grid >> GridBits);
}

/// Where something runs, as scopes see it. Grid 0: on the host.
struct Place {
  uint64_t Grid = 0;
  uint32_t Block = 0, Cluster = 0;
  bool HasCluster = false; ///< Of more than one block.

  uint32_t device() const { return deviceOf(Grid); }
  uint64_t blockKey() const { return Grid << 32 | Block; }
  uint64_t clusterKey() const { return Grid << 32 | Cluster; }
  bool operator==(const Place &) const = default;
};

/// The narrowest scope of one that includes the other.
inline Scope distance(const Place &A, const Place &B) {
  if (A.Grid == 0 || B.Grid == 0 || A.device() != B.device())
    return Scope::System;
  if (A.Grid != B.Grid || A.Cluster != B.Cluster)
    return Scope::Device;
  return A.Block == B.Block ? Scope::Block : Scope::Cluster;
}

/// Both scopes include the other side.
inline bool scopesMeet(const Place &A, Scope ScopeA, const Place &B,
                       Scope ScopeB) {
  const Scope Needed = distance(A, B);
  return ScopeA >= Needed && ScopeB >= Needed;
}

/// All that precedes a point in the program order of an actor, and what
/// precedes that.
struct Snapshot {
  Clock Known;
  ActorId Id = 0;
  uint32_t Time = 0; ///< 0: nothing.

  void joinTo(Clock &Into) const {
    if (!Time)
      return;
    Into.join(Known);
    Into.raise(Id, Time);
  }
};

/// By scope: the latest release (operation or fence) of one thread of this
/// scope or a wider one.
using Offer = std::array<Snapshot, NumScopes>;

/// By scope: what only an acquire of this scope (or a wider one) makes known.
using Demand = std::array<Clock, NumScopes>;

/// The release patterns that end in one write, or in those before it in
/// observation order.
class ReleaseSet {
public:
  void add(const Place &From, const Offer &O);
  /// A release of one scope.
  void add(const Place &From, const Snapshot &S, Scope Within);
  /// Makes known to a thread what an acquire of this scope is due.
  void acquire(const Place &By, Scope Within, Clock &Into) const;
  /// What wider acquires would add, from this scope on (an index, or beyond).
  void demand(const Place &By, unsigned From, Demand &Into) const;
  /// Everything, whatever the scopes say: for explanations.
  void ignoreScopes(Clock &Into) const;
  /// Nobody of this block will acquire any more.
  void forget(const Place &Block) { Blocks.erase(Block.blockKey()); }
  bool empty() const { return Devices.empty() && Blocks.empty(); }
  /// How many of the scopes tell these releases apart for a thread. If none is
  /// of another device, the device is the system.
  unsigned scopesFor(const Place &By) const;
  /// Something in it is not for everybody on the device.
  bool isNarrow() const { return Narrow; }

private:
  const Clock *at(unsigned Level, const Place &By) const;

  // What a thread at that distance may have, and no nearer one: a block's entry
  // holds what its own threads released at any scope.
  Clock System;
  std::vector<Clock> Devices; ///< By ordinal.
  std::map<uint64_t, Clock> Clusters, Blocks;
  bool Narrow = false;
};

} // namespace crsan::sim

#endif // CRSAN_SIM_ORACLE_RELEASES_H
