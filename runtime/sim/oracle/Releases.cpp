// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a write releases, to whom.
#include "Releases.h"

using namespace crsan::sim;

void ReleaseSet::add(const Place &From, const Offer &O) {
  if (!O[0].Time)
    return;
  Clock Released;
  O[0].joinTo(Released);
  Blocks[From.blockKey()].join(Released);
  if (From.HasCluster && O[1].Time) {
    Clock Wider;
    if (O[1].Time != O[0].Time)
      O[1].joinTo(Wider);
    Clusters[From.clusterKey()].join(O[1].Time == O[0].Time ? Released : Wider);
  }
  Narrow |= O[2].Time != O[0].Time;
  if (!O[2].Time)
    return;
  if (O[2].Time == O[0].Time)
    Device.join(Released);
  else
    O[2].joinTo(Device);
}

void ReleaseSet::add(const Place &From, const Snapshot &S, Scope Within) {
  Offer O;
  for (unsigned Level = 0; Level <= indexOf(Within); ++Level)
    O[Level] = S;
  add(From, O);
}

const Clock *ReleaseSet::at(unsigned Level, const Place &By) const {
  if (Level == 2)
    return &Device;
  const std::map<uint64_t, Clock> &Near = Level ? Clusters : Blocks;
  const auto It = Near.find(Level ? By.clusterKey() : By.blockKey());
  return It == Near.end() ? nullptr : &It->second;
}

void ReleaseSet::acquire(const Place &By, Scope Within, Clock &Into) const {
  for (unsigned Level = 0; Level <= indexOf(Within); ++Level)
    if (const Clock *C = at(Level, By))
      Into.join(*C);
}

void ReleaseSet::demand(const Place &By, unsigned From, Demand &Into) const {
  for (unsigned Level = From; Level < NumScopes; ++Level)
    if (const Clock *C = at(Level, By))
      Into[Level].join(*C);
}

void ReleaseSet::ignoreScopes(Clock &Into) const {
  for (const auto &[Key, C] : Blocks)
    Into.join(C);
}
