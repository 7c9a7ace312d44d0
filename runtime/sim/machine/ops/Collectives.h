// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions that lanes execute together.
//
// Lanes wait until those of their mask that have not exited are at the same
// instruction on the same path of calls; then they go on as one fragment. Where
// lanes wait at several instructions with the same qualifiers, the lanes of a
// mask execute these together (PTX ISA, shfl.sync; so does hardware). Lanes
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

/// The lanes of several fragments that wait at instructions like `I`, with the
/// same qualifiers and complete masks. Their operands are copied into rows of
/// its own, where the collective is executed, and the results back.
class JointCollective {
public:
  /// `X` waits at `I`.
  JointCollective(Execution &X, const Instruction &I);
  bool isComplete() const { return Lanes != 0; }
  Execution &execution() { return X; }
  const Instruction &instruction() const { return I; }
  const Masks &masks() const { return Of; }
  /// It has been executed: the lanes go on.
  void release();

private:
  struct Part {
    Execution X;
    const Instruction *I;
  };
  /// Rows of the operands, and of the first element of Instruction::More.
  static constexpr unsigned NumOperands = 6;
  static const Ref &operand(const Instruction &I, unsigned N);
  static uint64_t get(const Execution &X, const Ref &R, unsigned Lane);
  static void set(const Execution &X, const Ref &R, unsigned Lane, uint64_t V);
  void gather();

  std::vector<Part> Parts;
  Execution X;
  Instruction I;
  Ref More;
  Masks Of{};
  uint32_t Lanes = 0;
  std::array<uint64_t, NumOperands * WarpSize> Values{}, Before{};
};

/// Runs F on complete lanes, with their masks; the others wait. F is given
/// where the operands are. `IsAnywhere`: lanes at different instructions may
/// execute it together.
template <bool IsAnywhere = true, class Callable>
Outcome collectively(Execution &X, const Instruction &I, const Ref &Mask,
                     Callable F) {
  Masks Of;
  readMasks(X, Mask, X.Mask, Of);
  if (!checkMasks(X, I, Of))
    return Outcome::Faulted;
  uint32_t Done = complete(Of, X.Mask, X.Mask, X.W->Live);
  if (Done != X.F->Lanes) {
    Fragment &Mine = *X.F;
    // Lanes with other masks may be in another iteration of a loop: they would
    // go on together, and activemask would say so.
    uint32_t Wanted = 0;
    forLanes(Mine.Lanes, [&](unsigned L) { Wanted |= Of[L]; });
    for (size_t N = 0; N < X.W->Fragments.size();) {
      Fragment *Other = X.W->Fragments[N];
      if (Other != &Mine && Other->Is == Fragment::State::Collective &&
          (Other->Lanes & Wanted) && Device::onSamePath(Mine, *Other)) {
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
      if constexpr (IsAnywhere)
        if (JointCollective All(X, I); All.isComplete()) {
          F(All.execution(), All.instruction(), All.masks());
          All.release();
        }
      return Outcome::Stop;
    }
    if (Done != Mine.Lanes) {
      Fragment *Rest = X.D.split(Mine, Mine.Lanes & ~Done, Mine.Pc);
      // It looks again at lanes that wait elsewhere.
      X.D.setState(*Rest, IsAnywhere ? Fragment::State::Ready
                                     : Fragment::State::Collective);
    }
    X.Mask = Done;
  }
  F(X, I, Of);
  return Outcome::Next;
}

/// Runs F, which gives the outcome, on a whole warp. Op[4] is a mask of all
/// lanes. PTX leaves open what happens if one of them has exited.
template <class Callable>
Outcome byWholeWarp(Execution &X, const Instruction &I, Callable F) {
  Outcome Result = Outcome::Next;
  Outcome How = collectively</*IsAnywhere=*/false>(
      X, I, I.Op[4], [&](Execution &, const Instruction &, const Masks &) {
        Result =
            X.Mask == AllLanes
                ? F()
                : X.fault(I, std::countr_zero(X.Mask),
                          Fault::Kind::BarrierDivergence,
                          fmt::format("only lanes 0x{:x} of the warp are left "
                                      "to execute a matrix instruction, which "
                                      "takes all 32",
                                      X.Mask));
      });
  return How == Outcome::Next ? Result : How;
}

} // namespace crsan::sim

#endif // CRSAN_SIM_OPS_COLLECTIVES_H
