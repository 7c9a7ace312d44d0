// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The events of inline PTX.
//
// The runtime can be called before a statement and after it, not within. So of
// several instructions that order memory in one statement only the first access
// is followed as what it is; a later one is taken to publish or to collect, and
// is not checked. What a statement acquires and hands on itself is not known
// when it has to be told: then it is taken to be everything.

#include "Events/AsmOperands.h"
#include "PTX/Parser.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/InlineAsm.h"

using namespace llvm;

namespace crsan {

namespace {

class AssemblyReader {
public:
  AssemblyReader(const CallBase &Call, Events &To) : To(To), Operands(Call) {}

  void read(const ptx::Block &Body) {
    IsStraight = isStraight(Body);
    readBlock(Body);
    tellAhead();
  }

private:
  static bool isStraight(const ptx::Block &Body);
  void readBlock(const ptx::Block &Body);
  void noteUnchecked(const ptx::InstructionClass &C, const ptx::Instruction &I);
  void readInstruction(const ptx::Instruction &I);
  void readPredicate(const ptx::Instruction &I);
  std::optional<Condition> conditionOf(const ptx::Instruction &I) const;
  void readWeak(const ptx::Instruction &I, const ptx::InstructionClass &C);
  void readCopy(const ptx::Instruction &I);
  std::optional<CopyOperands> copyOf(const ptx::Instruction &I) const;
  void readStrong(const ptx::Instruction &I, const ptx::InstructionClass &C,
                  std::optional<Location> Where);
  void readSynchronisation(const ptx::Instruction &I,
                           const ptx::InstructionClass &C, bool MayBeSkipped);
  void readControlFlow(const ptx::Instruction &I, bool MayBeSkipped);
  void tellAhead();
  Access access(const ptx::InstructionClass &C, Location Where);

  Events &To;
  const AsmOperands Operands;
  StringMap<Condition> Predicates; ///< What is known of registers.
  bool IsStraight = true;          ///< Nothing branches.
  bool HasOrdered = false;         ///< Something before has ordered memory.
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
    else if (const auto *D = std::get_if<ptx::Directive>(&S);
             D ? D->Name != ".pragma" : std::holds_alternative<ptx::Label>(S))
      To.add(Opaque()); // A label may be branched to, even back.
  }
}

/// The first thing that may access memory weakly that other threads can see, or
/// that is unknown: the collider looks at LLVM's own accesses alone.
void AssemblyReader::noteUnchecked(const ptx::InstructionClass &C,
                                   const ptx::Instruction &I) {
  if (To.ByCollider == Skip::None && C.What != ptx::Category::StrongAccess &&
      !(C.What == ptx::Category::WeakAccess &&
        isPrivateSpace(addressSpaceOf(I, C.Space))))
    To.ByCollider = skipOf(C.What);
}

/// Orders nothing between threads.
bool isOfOneThread(const Event &E) {
  return isWeak(E) ||
         isOneOf<Copy, CommitCopies, AwaitCopies, Collective, Opaque>(E);
}

void AssemblyReader::readInstruction(const ptx::Instruction &I) {
  const ptx::InstructionClass C = ptx::classify(I);
  const bool MayBeSkipped = I.If || !IsStraight;
  const bool IsPrivate = isPrivateSpace(addressSpaceOf(I, C.Space));
  noteUnchecked(C, I);
  switch (C.What) {
  case ptx::Category::Harmless:
    return readPredicate(I);
  case ptx::Category::Convergent:
    To.add(Collective());
    return readPredicate(I);
  case ptx::Category::WeakAccess:
    if (!IsPrivate)
      readWeak(I, C);
    else if (To.Unlisted == Skip::None)
      To.Unlisted = Skip::Private;
    return;
  case ptx::Category::AsyncCopy:
    return readCopy(I);
  case ptx::Category::MatrixAccess:
  case ptx::Category::TextureAccess:
    To.Unlisted = skipOf(C.What);
    return To.add(Opaque());
  case ptx::Category::StrongAccess:
    HasOrdered |= MayBeSkipped;
    if (!IsPrivate)
      readStrong(I, C, Operands.location(I, C.Address, C.Space));
    else if (To.Unlisted == Skip::None)
      To.Unlisted = Skip::Private;
    break;
  case ptx::Category::Synchronisation:
    readSynchronisation(I, C, MayBeSkipped);
    break;
  case ptx::Category::ControlFlow:
    readControlFlow(I, MayBeSkipped);
    break;
  case ptx::Category::Unknown:
    To.Unlisted = skipOf(C.What);
    To.add(Unknown());
    break;
  }
  HasOrdered |= !To.List.empty() && !isOfOneThread(To.List.back());
}

Access AssemblyReader::access(const ptx::InstructionClass &C, Location Where) {
  Access A{Where};
  // A compare-and-swap is known by its operand Expected.
  A.Flags = C.Flags & ~abi::IsSwap;
  A.Size = A.WholeSize = C.Size;
  A.Scope = C.Scope;
  return A;
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
std::optional<Condition>
AssemblyReader::conditionOf(const ptx::Instruction &I) const {
  if (!IsStraight)
    return std::nullopt;
  if (!I.If)
    return Condition();
  const auto It = Predicates.find(I.If->Register);
  if (It == Predicates.end())
    return std::nullopt;
  Condition If = It->second;
  If.HoldsIfEqual ^= I.If->IsNegated;
  return If;
}

/// An access that may be moved, because its statement says that it accesses
/// nothing, or that cannot be looked at in time, is left alone.
void AssemblyReader::readWeak(const ptx::Instruction &I,
                              const ptx::InstructionClass &C) {
  const std::optional<Location> Where =
      Operands.location(I, C.Address, C.Space);
  const std::optional<Condition> If = conditionOf(I);
  if (Where && If && C.Size && !HasOrdered) {
    Access A = access(C, *Where);
    A.If = *If;
    A.NamesCache = C.reads() && (I.has("ca") || I.has("cg") || I.has("cv"));
    return To.add(A);
  }
  To.Unlisted = Skip::Assembly;
}

/// `cp.async.cg.shared.global [to], [from], 16, read` or `ignore`, a predicate.
std::optional<CopyOperands>
AssemblyReader::copyOf(const ptx::Instruction &I) const {
  // Only the copies for which threads commit and wait.
  if (I.Opcode != "cp" || !(I.has("ca") || I.has("cg")))
    return std::nullopt;
  const std::optional<Condition> If = conditionOf(I);
  // The last one is a cache policy.
  const size_t Number = I.Operands.size() - I.has("L2::cache_hint");
  if (!If || Number < 3 || Number > 4)
    return std::nullopt;
  const auto To = Operands.location(I, &I.Operands[0], ptx::StateSpace::Shared),
             From =
                 Operands.location(I, &I.Operands[1], ptx::StateSpace::Global);
  const auto *Size =
      dyn_cast_or_null<ConstantInt>(Operands.value(I.Operands[2]));
  if (!To || !From || !Size)
    return std::nullopt;
  CopyOperands Result = {*To, *From, Size->getZExtValue(), nullptr, *If};
  if (Number == 3)
    return Result;
  if (Result.Read = Operands.value(I.Operands[3]); Result.Read)
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
void AssemblyReader::readCopy(const ptx::Instruction &I) {
  const std::optional<CopyOperands> Of = copyOf(I);
  const bool IsFirst = none_of(To.List, [](const Event &E) {
    return isWeak(E) &&
           asAccess(E)->Where.Space != NVPTXAS::ADDRESS_SPACE_GLOBAL;
  });
  if (Of && IsFirst && !HasOrdered)
    return addCopy(To, *Of);
  To.Unlisted = Skip::Copy;
  To.add(Opaque());
}

void AssemblyReader::readStrong(const ptx::Instruction &I,
                                const ptx::InstructionClass &C,
                                std::optional<Location> Where) {
  if (!Where || !C.Size) {
    To.add(Unknown());
    To.Unlisted = Skip::Assembly;
    return;
  }
  if (HasOrdered) {
    if (C.writes())
      To.add(Arrive{*Where, C.Scope});
    if (C.reads())
      To.add(Wait{.Where = *Where, .Scope = C.Scope, .IsByAccess = true});
    To.Unlisted = Skip::Assembly;
    return;
  }
  Access A = access(C, *Where);
  A.Order = C.Order;
  A.Roles = C.IsVolatile ? abi::IsVolatile : 0;
  // atom.cas d, [a], b, c
  const bool IsSwap = C.Flags & abi::IsSwap;
  if (IsSwap && I.Operands.size() == 4) {
    const std::optional<int> Result = Operands.output(I.Operands[0].Text);
    A.Expected = Result ? Operands.input(I.Operands[2].Text) : nullptr;
    A.Result = Result.value_or(-1);
  }
  // The last operand, of st, atom.exch and atom.cas.
  if (C.writes() && (!(C.Flags & abi::IsAtomic) || IsSwap || I.has("exch")))
    A.Written = Operands.value(I.Operands.back());
  To.add(A);
}

/// A barrier that may be skipped cannot be announced; what else may be skipped
/// is taken to happen.
void AssemblyReader::readSynchronisation(const ptx::Instruction &I,
                                         const ptx::InstructionClass &C,
                                         bool MayBeSkipped) {
  const bool IsBarrier = C.Orders == ptx::Ordering::WarpBarrier ||
                         C.Orders == ptx::Ordering::BlockBarrier;
  if (MayBeSkipped && IsBarrier)
    return To.add(Unknown());
  const bool IsShared = I.has("shared") || I.has("shared::cta");
  ptx::InstructionClass Told = C;
  // A fence of the statement, which is not told in between, may make an
  // arrival a release.
  if (HasOrdered || (C.Orders != ptx::Ordering::Wait && !IsStraight))
    Told.Order = abi::MemoryOrder::Weak;
  addOrdering(To, Told,
              Operands.location(I, C.Object,
                                IsShared ? ptx::StateSpace::Shared
                                         : ptx::StateSpace::Generic));
}

void AssemblyReader::readControlFlow(const ptx::Instruction &I,
                                     bool MayBeSkipped) {
  if (I.Opcode == "call")
    To.add(Unknown());
  else if (I.Opcode == "exit" && !MayBeSkipped)
    To.add(Leave());
  else {
    To.MayLeave |= I.Opcode == "exit" || I.Opcode == "ret";
    To.Branches |= I.Opcode == "bra" || I.Opcode == "brx";
    To.add(Opaque());
  }
}

bool mayAcquire(const Event &E) {
  if (const Access *A = asAccess(E)) // A relaxed one acquires at a fence.
    return abi::isAcquire(A->Order);
  return isOneOf<Fence, WarpBarrier, BlockBarrier, Wait, Unknown>(E);
}

bool mayRelease(const Event &E) {
  if (const Access *A = asAccess(E))
    return A->isStrong() && A->writes();
  return isOneOf<WarpBarrier, BlockBarrier, Arrive>(E);
}

/// What is acquired is told after the statement, what is released before it. So
/// what acquires first and then releases has to acquire ahead: a fence for what
/// was read before the statement, anything else all that there is.
void AssemblyReader::tellAhead() {
  auto *It = To.List.begin(), *End = To.List.end();
  if (!IsStraight) {
    // In whatever order.
    if (any_of(To.List, mayAcquire) && any_of(To.List, mayRelease))
      To.List.insert(It, Learn());
    return;
  }
  for (; It != End && (isWeak(*It) || isOneOf<Fence, Collective, Opaque>(*It));
       ++It)
    if (auto *F = std::get_if<Fence>(It))
      F->IsAhead = std::any_of(It, End, mayRelease);
  It = std::find_if(It, End, mayAcquire);
  if (It != End && std::any_of(It + 1, End, mayRelease))
    To.List.insert(To.List.begin(), Learn());
}

} // namespace

Events eventsOfAssembly(CallBase &Call) {
  Events All;
  const auto &Asm = cast<InlineAsm>(*Call.getCalledOperand());
  auto Result = ptx::parseInline(std::string(Asm.getAsmString()));
  if (const auto *Parsed = std::get_if<ptx::InlineBody>(&Result))
    AssemblyReader(Call, All).read(Parsed->Body);
  else {
    const StringRef Text = Asm.getAsmString();
    All.add(Unknown());
    All.MayLeave = Text.contains("exit") || Text.contains("ret");
    All.Branches = Text.contains("bra");
    All.Unlisted = All.ByCollider = Skip::Unknown;
  }
  return All;
}

} // namespace crsan
