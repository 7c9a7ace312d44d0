// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions that lanes execute together.
//
// Lanes wait until those of their mask that have not exited are at the same
// instruction on the same path of calls; then they go on as one fragment. Lanes
// of one fragment may have different masks (tiles of a warp): each group is
// complete by itself.
#ifndef CRSAN_SIM_OPS_COLLECTIVES_H
#define CRSAN_SIM_OPS_COLLECTIVES_H

#include "ops/Lanes.h"

#include "Device.h"

#include <fmt/format.h>

namespace crsan::sim {

using Masks = std::array<uint32_t, WarpSize>;

inline void readMasks(Execution &X, const Ref &R, uint32_t Lanes, Masks &Out) {
  const uint32_t *Row = X.row<uint32_t>(R);
  forLanes(Lanes, [&](unsigned L) { Out[L] = Row[L]; });
}

/// The lanes whose partners are all among Present, with the same mask: others
/// wait for somebody else, even if they are here (a tile's barrier before the
/// warp's).
inline uint32_t complete(const Masks &Of, uint32_t Lanes, uint32_t Present,
                         uint32_t Live) {
  uint32_t Done = 0;
  for (uint32_t Left = Lanes; Left;) {
    const uint32_t Mask = Of[std::countr_zero(Left)];
    uint32_t Same = 0;
    forLanes(Left, [&](unsigned L) { Same |= uint32_t(Of[L] == Mask) << L; });
    if ((Mask & Live & ~(Same & Present)) == 0)
      Done |= Same;
    Left &= ~Same;
  }
  return Done;
}

inline bool checkMasks(Execution &X, const Instruction &I, const Masks &Of) {
  for (uint32_t M = X.Mask; M; M &= M - 1)
    if (unsigned L = std::countr_zero(M); !(Of[L] >> L & 1)) {
      X.fault(I, L, Fault::Kind::BarrierDivergence,
              fmt::format("lane {} executes a warp collective whose mask "
                          "0x{:x} does not name it",
                          L, Of[L]));
      return false;
    }
  return true;
}

/// Runs F on complete lanes, with their masks; the others wait.
template <class Callable>
Outcome collectively(Execution &X, const Instruction &I, const Ref &Mask,
                     Callable F) {
  Masks Of;
  readMasks(X, Mask, X.Mask, Of);
  if (!checkMasks(X, I, Of))
    return Outcome::Faulted;
  uint32_t Done = complete(Of, X.Mask, X.Mask, X.W->Live);
  if (Done != X.F->Lanes) {
    Fragment &Mine = *X.F;
    for (size_t N = 0; N < X.W->Fragments.size();) {
      Fragment *Other = X.W->Fragments[N];
      if (Other != &Mine && Other->Is == Fragment::State::Collective &&
          Device::onSamePath(Mine, *Other)) {
        X.D.merge(Mine, *Other);
        N = 0;
        continue;
      }
      ++N;
    }
    readMasks(X, Mask, Mine.Lanes, Of);
    Done = complete(Of, Mine.Lanes, Mine.Lanes, X.W->Live);
    if (!Done) {
      X.D.setState(Mine, Fragment::State::Collective);
      return Outcome::Stop;
    }
    if (Done != Mine.Lanes) {
      Fragment *Rest = X.D.split(Mine, Mine.Lanes & ~Done, Mine.Pc);
      X.D.setState(*Rest, Fragment::State::Collective);
    }
    X.Mask = Done;
  }
  F(Of);
  return Outcome::Next;
}

/// Runs F, which gives the outcome, on a whole warp. Op[4] is a mask of all
/// lanes. PTX leaves open what happens if one of them has exited.
template <class Callable>
Outcome byWholeWarp(Execution &X, const Instruction &I, Callable F) {
  Outcome Result = Outcome::Next;
  Outcome How = collectively(X, I, I.Op[4], [&](const Masks &) {
    Result =
        X.Mask == AllLanes
            ? F()
            : X.fault(I, std::countr_zero(X.Mask),
                      Fault::Kind::BarrierDivergence,
                      fmt::format("only lanes 0x{:x} of the warp are left to "
                                  "execute a matrix instruction, which takes "
                                  "all 32",
                                  X.Mask));
  });
  return How == Outcome::Next ? Result : How;
}

} // namespace crsan::sim

#endif // CRSAN_SIM_OPS_COLLECTIVES_H
