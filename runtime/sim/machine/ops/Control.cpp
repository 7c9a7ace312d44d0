// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Branches, ends, sleep.
#include "ops/Lanes.h"

#include "Device.h"

#include <fmt/format.h>

using namespace crsan::sim;
using Flow = Instruction::Flow;

namespace {

Outcome branchOp(Execution &X, const Instruction &I) {
  Fragment &F = *X.F;
  if (X.Mask == F.Lanes) {
    F.Pc = I.Target;
    return Outcome::Moved;
  }
  return X.D.diverge(X, X.Mask, I.Target, F.Pc + 1, I.Reconverge);
}

bool branch(Decoder &D) {
  D.take("uni");
  D.emit(branchOp).Flows = Flow::Branch;
  D.branchTo(D.operand(0).Text);
  return true;
}

/// Lanes with the first lane's target go; the others come back here.
Outcome branchIndexedOp(Execution &X, const Instruction &I) {
  Fragment &F = *X.F;
  const uint32_t *Index = X.row<uint32_t>(I.Op[0]);
  unsigned First = std::countr_zero(X.Mask);
  if (Index[First] >= I.Targets->size())
    return X.fault(I, First, Fault::Kind::Trap,
                   fmt::format("brx.idx with index {} of {} targets",
                               Index[First], I.Targets->size()));
  uint32_t Target = (*I.Targets)[Index[First]], Same = 0;
  forLanes(X.Mask, [&](unsigned L) {
    Same |= uint32_t(Index[L] < I.Targets->size() &&
                     (*I.Targets)[Index[L]] == Target)
            << L;
  });
  if (Same == F.Lanes) {
    F.Pc = Target;
    return Outcome::Moved;
  }
  return X.D.diverge(X, Same, Target, F.Pc, I.Reconverge);
}

bool branchIndexed(Decoder &D) {
  D.take("uni");
  if (!D.take("idx"))
    return false;
  const crsan::ptx::Directive *List = D.directive(D.operand(1).Text);
  if (!List)
    return D.fail("the list of targets is not there");
  Ref Index = D.source(0, 4);
  Instruction &I = D.emit(branchIndexedOp, {Index});
  I.Flows = Flow::Switch;
  I.NeedsWholeFragment = true;
  std::vector<std::string_view> Labels;
  for (const auto &O : List->Operands)
    Labels.push_back(O.Text);
  D.branchToOneOf(Labels);
  return true;
}

Outcome exitOp(Execution &X, const Instruction &) {
  X.D.exitLanes(X, X.F->Lanes);
  return Outcome::Stop;
}

bool exitInstruction(Decoder &D) {
  Instruction &I = D.emit(exitOp);
  I.Flows = Flow::Exit;
  I.NeedsWholeFragment = true;
  return true;
}

bool ret(Decoder &D) {
  D.take("uni");
  Instruction &I = D.emit(returnFromFunction);
  I.Flows = Flow::Return;
  I.NeedsWholeFragment = true;
  return true;
}

bool trap(Decoder &D) {
  bool IsTrap = D.opcode() == "trap";
  Instruction &I = D.emit([](Execution &X, const Instruction &I) {
    return X.fault(I, std::countr_zero(X.Mask), Fault::Kind::Trap,
                   I.Aux ? "trap instruction" : "breakpoint");
  });
  I.Aux = IsTrap;
  I.Flows = Flow::Exit;
  return true;
}

Outcome sleepOp(Execution &X, const Instruction &I) {
  uint64_t Longest = 0;
  forLanes(X.Mask, [&](unsigned L) {
    Longest = std::max(Longest, X.value(I.Op[0], L));
  });
  ++X.F->Pc;
  // The duration is a hint: up to twice as long.
  X.D.sleep(*X.F, Longest + (Longest ? X.D.Dice.below(uint32_t(Longest / 4 + 1))
                                     : 0));
  return Outcome::Stop;
}

bool sleepInstruction(Decoder &D) {
  if (D.takeType() != ScalarType::U32)
    return false;
  Ref T = D.source(0, 4);
  D.emit(sleepOp, {T}).NeedsWholeFragment = true;
  return true;
}

Outcome activemaskOp(Execution &X, const Instruction &I) {
  forLanes(X.Mask, [&](unsigned L) { X.setValue(I.Op[0], L, X.Mask); });
  return Outcome::Next;
}

bool activemask(Decoder &D) {
  if (D.takeType() != ScalarType::B32)
    return false;
  D.emit(activemaskOp, {D.dest(0, 4)});
  return true;
}

/// Profilers' events and register counts: nothing here looks at them.
bool nothing(Decoder &D) {
  D.take("mask");
  D.take("inc");
  D.take("dec");
  D.take("sync");
  D.take("aligned");
  D.takeType();
  D.emit([](Execution &, const Instruction &) { return Outcome::Next; });
  return true;
}

} // namespace

void crsan::sim::addControlOps(DecodeTable &T) {
  T.add("bra", branch);
  T.add("brx", branchIndexed);
  T.add("exit", exitInstruction);
  T.add("ret", ret);
  T.add({"trap", "brkpt"}, trap);
  T.add("nanosleep", sleepInstruction);
  T.add("activemask", activemask);
  T.add({"pmevent", "setmaxnreg"}, nothing);
}
