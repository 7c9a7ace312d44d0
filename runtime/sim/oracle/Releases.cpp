// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a write releases, to whom.
#include "Releases.h"

#include <algorithm>

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
  if (Devices.size() <= From.device())
    Devices.resize(From.device() + 1);
  for (unsigned Level : {2, 3}) {
    Clock &Wide = Level == 2 ? Devices[From.device()] : System;
    if (O[Level].Time == O[0].Time)
      Wide.join(Released);
    else
      O[Level].joinTo(Wide);
  }
}

unsigned ReleaseSet::scopesFor(const Place &By) const {
  for (size_t I = 0; I < Devices.size(); ++I)
    if (I != By.device() && !Devices[I].empty())
      return NumScopes;
  return indexOf(Scope::System);
}

void ReleaseSet::add(const Place &From, const Snapshot &S, Scope Within) {
  Offer O;
  for (unsigned Level = 0; Level <= indexOf(Within); ++Level)
    O[Level] = S;
  add(From, O);
}

const Clock *ReleaseSet::at(unsigned Level, const Place &By) const {
  if (Level == 3)
    return &System;
  if (Level == 2)
    return By.device() < Devices.size() ? &Devices[By.device()] : nullptr;
  const std::map<uint64_t, Clock> &Near = Level ? Clusters : Blocks;
  const auto It = Near.find(Level ? By.clusterKey() : By.blockKey());
  return It == Near.end() ? nullptr : &It->second;
}

void ReleaseSet::acquire(const Place &By, Scope Within, Clock &Into) const {
  const unsigned End = std::min(indexOf(Within) + 1, scopesFor(By));
  for (unsigned Level = 0; Level < End; ++Level)
    if (const Clock *C = at(Level, By))
      Into.join(*C);
}

void ReleaseSet::demand(const Place &By, unsigned From, Demand &Into) const {
  for (unsigned Level = From, End = scopesFor(By); Level < End; ++Level)
    if (const Clock *C = at(Level, By))
      Into[Level].join(*C);
}

void ReleaseSet::ignoreScopes(Clock &Into) const {
  for (const auto &[Key, C] : Blocks)
    Into.join(C);
}
