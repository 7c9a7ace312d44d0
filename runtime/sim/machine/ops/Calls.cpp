// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// call and ret, stacks.
#include "ops/Lanes.h"

#include "Device.h"

#include <fmt/format.h>

using namespace crsan::sim;
using crsan::ptx::Operand;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// A parameter of one side of a call.
namespace {
struct Side {
  Execution &X;
  Frame &In;
  const Slot &S;

  uint8_t *lane(unsigned L) const {
    if (!S.IsRow)
      return X.local(L, In.LocalBase + S.Offset);
    uint8_t *Base =
        S.Row.In == Rows::Frame ? In.Rows.data() : X.Bases[size_t(S.Row.In)];
    return Base + S.Row.Offset + size_t(S.Row.Size) * L;
  }
};

void copySlot(const Side &To, const Side &From, uint32_t Mask) {
  uint32_t Size = std::min(To.S.Size, From.S.Size);
  if (Mask == AllLanes && To.S.IsRow && From.S.IsRow) {
    std::memcpy(To.lane(0), From.lane(0), size_t(Size) * WarpSize);
    return;
  }
  forLanes(Mask,
           [&](unsigned L) { std::memcpy(To.lane(L), From.lane(L), Size); });
}

//===----------------------------------------------------------------------===//
// Handlers
//===----------------------------------------------------------------------===//

Outcome enter(Execution &X, const Instruction &I, Function &Fn) {
  Fragment &F = *X.F;
  const CallSite &Site = *I.Call;
  if (!Fn.Error.empty())
    return X.fault(I, std::countr_zero(X.Mask), Fault::Kind::UnknownInstruction,
                   Fn.Error);
  if (Fn.BuiltIn && X.D.Buffer)
    return X.D.takeTurn(F);
  if (Fn.BuiltIn)
    return Fn.BuiltIn(X, I);
  if (Site.Arguments.size() != Fn.Parameters.size() ||
      Site.Results.size() > Fn.Results.size())
    return X.fault(I, std::countr_zero(X.Mask), Fault::Kind::Trap,
                   fmt::format("{} is called with {} arguments, not {}",
                               Fn.Name, Site.Arguments.size(),
                               Fn.Parameters.size()));
  Frame *Caller = F.Top;
  uint32_t Base = (Caller->LocalTop + 15) / 16 * 16;
  if (!X.D.growLocal(*X.W, Base + Fn.LocalBytes))
    return X.fault(
        I, std::countr_zero(X.Mask), Fault::Kind::InvalidAddress,
        fmt::format("the call of {} overflows the thread's stack", Fn.Name));
  Frame *New = X.D.newFrame(Fn, Caller, Base);
  New->ReturnTo = F.Pc + 1;
  New->Site = &Site;
  for (size_t N = 0; N < Site.Arguments.size(); ++N)
    copySlot({X, *New, Fn.Parameters[N]}, {X, *Caller, Site.Arguments[N]},
             X.Mask);
  F.Top = New;
  F.Pc = 0;
  X.bind(&F);
  return Outcome::Moved;
}

Outcome callOp(Execution &X, const Instruction &I) {
  return enter(X, I, X.G->In->Functions[I.Call->Function]);
}

Outcome callPointerOp(Execution &X, const Instruction &I) {
  Fragment &F = *X.F;
  unsigned First = std::countr_zero(X.Mask);
  const uint64_t *Targets = X.row<uint64_t>(I.Op[0]);
  uint64_t Target = Targets[First];
  uint64_t Number = (Target & 0xFFFF'FFFF) >> 4;
  if (window::tag(Target) != window::Code || !Number ||
      Number > X.G->In->Functions.size())
    return X.fault(
        I, First, Fault::Kind::InvalidAddress,
        fmt::format("call through 0x{:x}, which is not a function", Target),
        Target);
  uint32_t Same = 0;
  forLanes(X.Mask,
           [&](unsigned L) { Same |= uint32_t(Targets[L] == Target) << L; });
  if (Same != F.Lanes) // The others call from here in their turn.
    return X.D.diverge(X, F.Lanes & ~Same, F.Pc, F.Pc, F.Pc + 1);
  return enter(X, I, X.G->In->Functions[Number - 1]);
}

} // namespace

Outcome crsan::sim::returnFromFunction(Execution &X, const Instruction &) {
  Fragment &F = *X.F;
  Frame *Old = F.Top, *Caller = Old->Caller;
  if (!Caller) {
    X.D.exitLanes(X, F.Lanes);
    return Outcome::Stop;
  }
  for (size_t N = 0; N < Old->Site->Results.size(); ++N)
    copySlot({X, *Caller, Old->Site->Results[N]},
             {X, *Old, Old->Fn->Results[N]}, F.Lanes);
  ++Caller->Uses;
  F.Top = Caller;
  F.Pc = Old->ReturnTo;
  X.D.drop(Old);
  X.bind(&F);
  return Outcome::Moved;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// A named parameter, a register or a constant (Size: 4 without better
/// knowledge).
static Slot slotFor(Decoder &D, const Operand &O) {
  if (O.What == Operand::Kind::Name)
    if (const Slot *S = D.parameter(O.Text))
      return *S;
  Slot S;
  S.IsRow = true;
  S.Row = D.sourceOfAnySize(O, O.What == Operand::Kind::Name ? 1 : 4);
  S.Size = S.Row.Size;
  return S;
}

static bool call(Decoder &D) {
  D.take("uni");
  CallSite &Site = D.image().Calls.emplace_back();
  size_t N = 0;
  auto List = [&](std::vector<Slot> &To) {
    if (N < D.numOperands() && D.operand(N).What == Operand::Kind::List)
      for (const Operand &O : D.operand(N++).Elements)
        To.push_back(slotFor(D, O));
  };
  List(Site.Results);
  const Operand &Target = D.operand(N++);
  List(Site.Arguments);
  // What may follow, a prototype or a list of targets, is not needed.
  const auto &Functions = D.environment().Functions;
  auto Known = Functions.find(Target.Text);
  Ref Pointer;
  if (Known != Functions.end()) {
    Site.Function = int32_t(Known->second);
    D.function().Calls.push_back(Known->second);
  } else {
    Pointer = D.source(Target, 8);
    D.function().CallsUnknown = true;
  }
  Instruction &I =
      D.emit(Known != Functions.end() ? callOp : callPointerOp, {Pointer});
  I.NeedsWholeFragment = true;
  I.Call = &Site;
  return true;
}

//===----------------------------------------------------------------------===//
// alloca and the stack pointer: the same for all lanes of a fragment
//===----------------------------------------------------------------------===//

static Outcome allocaOp(Execution &X, const Instruction &I) {
  uint64_t Most = 0, Align = std::max<uint64_t>(uint64_t(I.Imm), 16);
  forLanes(X.Mask,
           [&](unsigned L) { Most = std::max(Most, X.value(I.Op[1], L)); });
  Frame &Top = *X.F->Top;
  uint64_t At = (Top.LocalTop + Align - 1) / Align * Align;
  if (Most > 1u << 20 || !X.D.growLocal(*X.W, uint32_t(At + Most)))
    return X.fault(
        I, std::countr_zero(X.Mask), Fault::Kind::InvalidAddress,
        fmt::format("alloca of {} bytes overflows the thread's stack", Most));
  Top.LocalTop = uint32_t(At + Most);
  forLanes(X.Mask, [&](unsigned L) { X.setValue(I.Op[0], L, At); });
  return Outcome::Next;
}

static bool allocaInstruction(Decoder &D) {
  unsigned Size = crsan::ptx::sizeOf(D.takeType());
  Ref Bytes = D.source(1, Size);
  auto Align = D.integer(D.operand(2));
  D.emit(allocaOp, {D.dest(0, Size), Bytes}).Imm = Align ? int64_t(*Align) : 16;
  return true;
}

static bool stackSave(Decoder &D) {
  unsigned Size = crsan::ptx::sizeOf(D.takeType());
  D.emit(
      [](Execution &X, const Instruction &I) {
        forLanes(X.Mask, [&](unsigned L) {
          X.setValue(I.Op[0], L, X.F->Top->LocalTop);
        });
        return Outcome::Next;
      },
      {D.dest(0, Size)});
  return true;
}

/// The memory stays taken until the function returns: lanes that parted may
/// still be using theirs.
static bool stackRestore(Decoder &D) {
  unsigned Size = crsan::ptx::sizeOf(D.takeType());
  Ref A = D.source(0, Size);
  D.emit([](Execution &, const Instruction &) { return Outcome::Next; }, {A});
  return true;
}

void crsan::sim::addCallOps(DecodeTable &T) {
  T.add("call", call);
  T.add("alloca", allocaInstruction);
  T.add("stacksave", stackSave);
  T.add("stackrestore", stackRestore);
}
