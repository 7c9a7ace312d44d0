//===- AssemblyEvents.cpp - What inline PTX does between threads -*- C++
//-*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime can be called before a statement and after it, not within. So of
// several instructions that order memory in one statement only the first access
// is followed as what it is; a later one is taken to publish or to collect, and
// is not checked. What a statement acquires and hands on itself is not known
// when it has to be told: then it is taken to be everything.
//
//===----------------------------------------------------------------------===//

#include "Event.h"
#include "PTX/Parser.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstrTypes.h"

using namespace llvm;

namespace crsan {

namespace {

/// The values that a statement's `$0`, `$1`, ... stand for.
class AsmOperands {
public:
  explicit AsmOperands(CallBase &Call)
      : Call(Call),
        Constraints(
            cast<InlineAsm>(Call.getCalledOperand())->ParseConstraints()) {}

  /// What goes in by the operand `Name`; null if nothing does.
  Value *input(StringRef Name) const {
    const std::optional<unsigned> Number = number(Name);
    if (!Number || Constraints[*Number].Type != InlineAsm::isInput)
      return nullptr;
    unsigned Argument = 0;
    for (unsigned I = 0; I < *Number; ++I)
      Argument += Constraints[I].hasArg();
    return Call.getArgOperand(Argument);
  }

  /// Which element of the result comes out by the operand `Name`; -1 if it is
  /// the whole result.
  std::optional<int> output(StringRef Name) const {
    const std::optional<unsigned> Number = number(Name);
    if (!Number || Constraints[*Number].Type != InlineAsm::isOutput ||
        Constraints[*Number].isIndirect)
      return std::nullopt;
    if (!Call.getType()->isStructTy())
      return -1;
    int Element = 0;
    for (unsigned I = 0; I < *Number; ++I)
      Element += Constraints[I].Type == InlineAsm::isOutput &&
                 !Constraints[I].isIndirect;
    return Element;
  }

private:
  std::optional<unsigned> number(StringRef Name) const {
    unsigned Number;
    if (!Name.consume_front("$") || Name.getAsInteger(10, Number) ||
        Number >= Constraints.size())
      return std::nullopt;
    return Number;
  }

  const CallBase &Call;
  const InlineAsm::ConstraintInfoVector Constraints;
};

unsigned addressSpaceOf(const ptx::Instruction &I, ptx::StateSpace Space) {
  if (I.has("shared::cluster"))
    return NVPTXAS::ADDRESS_SPACE_SHARED_CLUSTER;
  switch (Space) {
  case ptx::StateSpace::Global:
    return NVPTXAS::ADDRESS_SPACE_GLOBAL;
  case ptx::StateSpace::Shared:
    return NVPTXAS::ADDRESS_SPACE_SHARED;
  case ptx::StateSpace::Local:
    return NVPTXAS::ADDRESS_SPACE_LOCAL;
  case ptx::StateSpace::Const:
    return NVPTXAS::ADDRESS_SPACE_CONST;
  case ptx::StateSpace::Param:
    return NVPTXAS::ADDRESS_SPACE_PARAM;
  default:
    return NVPTXAS::ADDRESS_SPACE_GENERIC;
  }
}

class AssemblyReader {
public:
  AssemblyReader(CallBase &Call, Events &To)
      : Call(Call), To(To), Operands(Call) {}

  void read(const ptx::Block &Body) {
    IsStraight = isStraight(Body);
    readBlock(Body);
    tellAhead();
  }

private:
  static bool isStraight(const ptx::Block &Body);
  void readBlock(const ptx::Block &Body);
  void readInstruction(const ptx::Instruction &I);
  void readPredicate(const ptx::Instruction &I);
  std::optional<Guard> guardOf(const ptx::Instruction &I) const;
  void readWeak(const ptx::Instruction &I, const ptx::InstructionClass &C);
  void readCopy(const ptx::Instruction &I, const ptx::InstructionClass &C);
  std::optional<Copy> copyOf(const ptx::Instruction &I,
                             const ptx::InstructionClass &C) const;
  void readStrong(const ptx::Instruction &I, const ptx::InstructionClass &C,
                  std::optional<Place> Where);
  void readSynchronisation(const ptx::Instruction &I,
                           const ptx::InstructionClass &C, bool MayBeSkipped);
  void readControlFlow(const ptx::Instruction &I, bool MayBeSkipped);
  void tellAhead();
  Event access(Event::Kind What, const ptx::InstructionClass &C, Place Where);
  std::optional<Place> placeOf(const ptx::Instruction &I,
                               const ptx::Operand *Operand,
                               ptx::StateSpace Space) const;
  Value *valueOf(const ptx::Operand &Op) const;
  void addUnknown() { To.List.push_back({Event::Kind::Unknown}); }

  CallBase &Call;
  Events &To;
  const AsmOperands Operands;
  StringMap<Guard> Predicates; ///< What is known of registers.
  bool IsStraight = true;      ///< Nothing branches.
  bool HasOrdered = false;     ///< Something before has ordered memory.
};

bool AssemblyReader::isStraight(const ptx::Block &Body) {
  for (const ptx::Statement &S : Body.Statements) {
    if (std::holds_alternative<ptx::Label>(S))
      return false;
    if (const auto *I = std::get_if<ptx::Instruction>(&S);
        I && (I->Opcode == "bra" || I->Opcode == "brx"))
      return false;
    if (const auto *Inner = std::get_if<std::unique_ptr<ptx::Block>>(&S);
        Inner && !isStraight(**Inner))
      return false;
  }
  return true;
}

void AssemblyReader::readBlock(const ptx::Block &Body) {
  for (const ptx::Statement &S : Body.Statements) {
    if (const auto *I = std::get_if<ptx::Instruction>(&S))
      readInstruction(*I);
    else if (const auto *Inner = std::get_if<std::unique_ptr<ptx::Block>>(&S))
      readBlock(**Inner);
  }
}

/// Where an address, or a barrier's number or mask, comes from; nothing if it
/// is computed by the assembly itself.
std::optional<Place> AssemblyReader::placeOf(const ptx::Instruction &I,
                                             const ptx::Operand *Operand,
                                             ptx::StateSpace Space) const {
  if (!Operand)
    return std::nullopt;
  Place P;
  const ptx::Operand *Base = Operand;
  if (Operand->What == ptx::Operand::Kind::Address) {
    P.Space = addressSpaceOf(I, Space);
    P.Offset = Operand->Bits;
    if (Operand->Elements.size() != 1)
      return std::nullopt;
    Base = &Operand->Elements[0];
  }
  if (Base->What == ptx::Operand::Kind::Integer)
    P.Base = ConstantInt::get(Type::getInt64Ty(Call.getContext()), Base->Bits);
  else if (Base->What == ptx::Operand::Kind::Name && !Base->Member)
    P.Base = Operands.input(Base->Text);
  if (!P.Base ||
      !(P.Base->getType()->isPointerTy() || P.Base->getType()->isIntegerTy()))
    return std::nullopt;
  return P;
}

/// Orders nothing between threads.
bool isOfOneThread(const Event &E) {
  return E.What == Event::Kind::Weak || E.What == Event::Kind::Copy ||
         E.What == Event::Kind::CommitCopies ||
         E.What == Event::Kind::AwaitCopies;
}

void AssemblyReader::readInstruction(const ptx::Instruction &I) {
  const ptx::InstructionClass C = ptx::classify(I);
  const bool MayBeSkipped = I.If || !IsStraight;
  switch (C.What) {
  case ptx::Category::Harmless:
  case ptx::Category::Convergent:
    return readPredicate(I);
  case ptx::Category::WeakAccess:
    if (!isPrivateSpace(addressSpaceOf(I, C.Space)))
      readWeak(I, C);
    return;
  case ptx::Category::AsyncCopy:
    return readCopy(I, C);
  case ptx::Category::MatrixAccess:
  case ptx::Category::TextureAccess:
    To.Skipped = skipOf(C.What);
    return;
  case ptx::Category::StrongAccess:
    HasOrdered |= MayBeSkipped;
    if (!isPrivateSpace(addressSpaceOf(I, C.Space)))
      readStrong(I, C, placeOf(I, C.Address, C.Space));
    break;
  case ptx::Category::Synchronisation:
    readSynchronisation(I, C, MayBeSkipped);
    break;
  case ptx::Category::ControlFlow:
    readControlFlow(I, MayBeSkipped);
    break;
  case ptx::Category::Unknown:
    To.Skipped = skipOf(C.What);
    addUnknown();
    break;
  }
  HasOrdered |= !To.List.empty() && !isOfOneThread(To.List.back());
}

Event AssemblyReader::access(Event::Kind What, const ptx::InstructionClass &C,
                             Place Where) {
  Event E{What, Where, C.Scope};
  E.Flags =
      (C.IsRead ? abi::ReadsMemory : 0) | (C.IsWrite ? abi::WritesMemory : 0);
  E.Size = E.WholeSize = C.Size;
  return E;
}

/// `setp.ne.b32 p, $1, 0`, which is how a statement takes a condition.
void AssemblyReader::readPredicate(const ptx::Instruction &I) {
  if (I.Operands.empty())
    return;
  // Whatever it is, its result is no longer what it was.
  const ptx::Operand &Result = I.Operands[0];
  Predicates.erase(Result.Text);
  for (const ptx::Operand &Half : Result.Elements)
    Predicates.erase(Half.Text);
  const bool IsEqual = I.has("eq");
  if (I.Opcode != "setp" || I.If || I.Modifiers.size() != 2 ||
      !(IsEqual || I.has("ne")) || ptx::isFloat(I.type()) ||
      I.Operands.size() != 3 || Result.What != ptx::Operand::Kind::Name ||
      I.Operands[2].What != ptx::Operand::Kind::Integer)
    return;
  Value *Operand = Operands.input(I.Operands[1].Text);
  if (Operand && Operand->getType()->isIntegerTy())
    Predicates[Result.Text] = {Operand, I.Operands[2].Bits, IsEqual};
}

/// What it takes for `I` to run; nothing if that cannot be told.
std::optional<Guard> AssemblyReader::guardOf(const ptx::Instruction &I) const {
  if (!IsStraight)
    return std::nullopt;
  if (!I.If)
    return Guard();
  const auto It = Predicates.find(I.If->Register);
  if (It == Predicates.end())
    return std::nullopt;
  Guard G = It->second;
  G.HoldsIfEqual ^= I.If->IsNegated;
  return G;
}

/// An access that may be moved, because its statement says that it accesses
/// nothing, or that cannot be looked at in time, is left alone.
void AssemblyReader::readWeak(const ptx::Instruction &I,
                              const ptx::InstructionClass &C) {
  const std::optional<Place> Where = placeOf(I, C.Address, C.Space);
  const std::optional<Guard> If = guardOf(I);
  if (Where && If && C.Size && !HasOrdered) {
    To.List.push_back(access(Event::Kind::Weak, C, *Where));
    To.List.back().If = *If;
  } else
    To.Skipped = Skip::Assembly;
}

/// A number, or what goes in by an operand; null if the assembly computes it.
Value *AssemblyReader::valueOf(const ptx::Operand &Op) const {
  if (Op.What == ptx::Operand::Kind::Integer)
    return ConstantInt::get(Type::getInt32Ty(Call.getContext()), Op.Bits);
  return Op.What == ptx::Operand::Kind::Name && !Op.Member && !Op.IsNegated
             ? Operands.input(Op.Text)
             : nullptr;
}

/// `cp.async.cg.shared.global [to], [from], 16, read` or `ignore`, a predicate.
std::optional<Copy>
AssemblyReader::copyOf(const ptx::Instruction &I,
                       const ptx::InstructionClass &C) const {
  const std::optional<Guard> If = guardOf(I);
  // The last one is a cache policy.
  const size_t Number = I.Operands.size() - I.has("L2::cache_hint");
  if (!C.Address || !If || Number < 3 || Number > 4)
    return std::nullopt;
  const auto To = placeOf(I, &I.Operands[0], ptx::StateSpace::Shared),
             From = placeOf(I, &I.Operands[1], ptx::StateSpace::Global);
  const auto *Size = dyn_cast_or_null<ConstantInt>(valueOf(I.Operands[2]));
  if (!To || !From || !Size)
    return std::nullopt;
  Copy Result = {*To, *From, Size->getZExtValue(), nullptr, *If};
  if (Number == 3)
    return Result;
  if (Result.Read = valueOf(I.Operands[3]); Result.Read)
    return Result.Read->getType()->isIntegerTy() ? std::optional(Result)
                                                 : std::nullopt;
  const auto Ignore = Predicates.find(I.Operands[3].Text);
  if (Ignore == Predicates.end() || If->Operand)
    return std::nullopt;
  Result.IfRead = Ignore->second;
  Result.IfRead.HoldsIfEqual ^= !I.Operands[3].IsNegated;
  return Result;
}

/// Copies are told before the statement, and accesses may be checked behind it.
void AssemblyReader::readCopy(const ptx::Instruction &I,
                              const ptx::InstructionClass &C) {
  const std::optional<Copy> Of = copyOf(I, C);
  const bool IsFirst = none_of(To.List, [](const Event &E) {
    return E.What == Event::Kind::Weak &&
           E.Where.Space != NVPTXAS::ADDRESS_SPACE_GLOBAL;
  });
  if (Of && IsFirst && !HasOrdered)
    addCopy(To, *Of);
  else
    To.Skipped = skipOf(C.What);
}

void AssemblyReader::readStrong(const ptx::Instruction &I,
                                const ptx::InstructionClass &C,
                                std::optional<Place> Where) {
  if (!Where || !C.Size) {
    addUnknown();
    To.Skipped = Skip::Assembly;
    return;
  }
  if (HasOrdered) {
    if (C.IsWrite)
      To.List.push_back({Event::Kind::Publish, *Where, C.Scope});
    if (C.IsRead)
      To.List.push_back({Event::Kind::Collect, *Where, C.Scope});
    To.Skipped = Skip::Assembly;
    return;
  }
  Event E = access(Event::Kind::Strong, C, *Where);
  E.Flags |= abi::IsStrong | (C.IsAtomic ? abi::IsAtomic : 0);
  E.Order = C.Order;
  E.Roles = C.IsVolatile ? abi::IsVolatile : 0;
  // atom.cas d, [a], b, c
  if (C.IsSwap && I.Operands.size() == 4) {
    const std::optional<int> Result = Operands.output(I.Operands[0].Text);
    E.Expected = Result ? Operands.input(I.Operands[2].Text) : nullptr;
    E.Result = Result.value_or(-1);
  }
  // The last operand, of st, atom.exch and atom.cas.
  if (C.IsWrite && (!C.IsAtomic || C.IsSwap || I.has("exch")))
    E.Written = valueOf(I.Operands.back());
  To.List.push_back(E);
}

/// A barrier that may be skipped cannot be announced; what else may be skipped
/// is taken to happen.
void AssemblyReader::readSynchronisation(const ptx::Instruction &I,
                                         const ptx::InstructionClass &C,
                                         bool MayBeSkipped) {
  const bool IsBarrier = C.Orders == ptx::Ordering::WarpBarrier ||
                         C.Orders == ptx::Ordering::BlockBarrier;
  if (MayBeSkipped && IsBarrier)
    return addUnknown();
  const bool IsShared = I.has("shared") || I.has("shared::cta");
  ptx::InstructionClass Told = C;
  // A fence of the statement, which is not told in between, may make an
  // arrival a release.
  if (HasOrdered || (C.Orders != ptx::Ordering::Wait && !IsStraight))
    Told.Order = abi::SyncOrder::Weak;
  addOrdering(
      To, Told,
      placeOf(I, C.Object,
              IsShared ? ptx::StateSpace::Shared : ptx::StateSpace::Generic));
}

void AssemblyReader::readControlFlow(const ptx::Instruction &I,
                                     bool MayBeSkipped) {
  if (I.Opcode == "call")
    addUnknown();
  else if (I.Opcode == "exit" && !MayBeSkipped)
    To.List.push_back({Event::Kind::Leave});
  else if (I.Opcode == "exit" || I.Opcode == "ret")
    To.MayLeave = true;
}

bool mayAcquire(const Event &E) {
  switch (E.What) {
  case Event::Kind::Strong: // A relaxed one, at a fence.
    return E.Order == abi::SyncOrder::Acquire ||
           E.Order == abi::SyncOrder::AcquireRelease;
  case Event::Kind::Fence:
  case Event::Kind::WarpBarrier:
  case Event::Kind::BlockBarrier:
  case Event::Kind::Collect:
  case Event::Kind::Unknown:
    return true;
  default:
    return false;
  }
}

bool mayRelease(const Event &E) {
  switch (E.What) {
  case Event::Kind::Strong:
    return E.Flags & abi::WritesMemory;
  case Event::Kind::WarpBarrier:
  case Event::Kind::BlockBarrier:
  case Event::Kind::Publish:
    return true;
  default:
    return false;
  }
}

/// What is acquired is told after the statement, what is released before it. So
/// what acquires first and then releases has to acquire ahead: a fence for what
/// was read before the statement, anything else all that there is.
void AssemblyReader::tellAhead() {
  auto *It = To.List.begin(), *End = To.List.end();
  if (!IsStraight) {
    // In whatever order.
    if (any_of(To.List, mayAcquire) && any_of(To.List, mayRelease))
      To.List.insert(It, {Event::Kind::Learn});
    return;
  }
  for (; It != End &&
         (It->What == Event::Kind::Weak || It->What == Event::Kind::Fence);
       ++It)
    It->IsAhead =
        It->What == Event::Kind::Fence && std::any_of(It, End, mayRelease);
  It = std::find_if(It, End, mayAcquire);
  if (It != End && std::any_of(It + 1, End, mayRelease))
    To.List.insert(To.List.begin(), {Event::Kind::Learn});
}

} // namespace

Events eventsOfAssembly(CallBase &Call) {
  Events E;
  const auto &Asm = cast<InlineAsm>(*Call.getCalledOperand());
  auto Result = ptx::parseInline(std::string(Asm.getAsmString()));
  if (const auto *Parsed = std::get_if<ptx::InlineBody>(&Result))
    AssemblyReader(Call, E).read(Parsed->Body);
  else {
    const StringRef Text = Asm.getAsmString();
    E.List.push_back({Event::Kind::Unknown});
    E.MayLeave = Text.contains("exit") || Text.contains("ret");
    E.Skipped = Skip::Unknown;
  }
  return E;
}

} // namespace crsan
