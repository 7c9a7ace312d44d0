// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The events of inline PTX.
//
// The runtime can be called before a statement and after it, not within. So of
// several instructions that order memory in one statement only the first access
// is followed as what it is; a later one is taken to publish or to collect, and
// is not checked. What a statement acquires and hands on itself is not known
// when it has to be told: then it is taken to be everything.

#include "Events/AsmCopies.h"
#include "PTX/Parser.h"
#include "PTX/Results.h"
#include "llvm/ADT/StringExtras.h"
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
    tellProxyFences();
  }

private:
  static bool isStraight(const ptx::Block &Body);
  void readBlock(const ptx::Block &Body);
  /// An access is in no list, neither for metadata mode nor for the collider.
  void leaveOut(Skip Why) { To.Unlisted = To.ByCollider = Why; }
  void readInstruction(const ptx::Instruction &I);
  void noteResults(const ptx::Instruction &I);
  void readPredicate(const ptx::Instruction &I);
  std::optional<Condition> conditionOf(const ptx::Instruction &I) const;
  void readWeak(const ptx::Instruction &I, const ptx::InstructionClass &C);
  void readCopy(const ptx::Instruction &I, const ptx::InstructionClass &C);
  void readProduct(const ptx::Instruction &I, const ptx::InstructionClass &C);
  void readMatrix(const ptx::Instruction &I, const ptx::InstructionClass &C);
  void readStrong(const ptx::Instruction &I, const ptx::InstructionClass &C,
                  std::optional<Location> Where);
  void readSynchronisation(const ptx::Instruction &I,
                           const ptx::InstructionClass &C, bool MayBeSkipped);
  void readControlFlow(const ptx::Instruction &I, bool MayBeSkipped);
  void tellAhead();
  void tellProxyFences();
  Access access(const ptx::InstructionClass &C, Location Where);

  Events &To;
  AsmOperands Operands;
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

/// The registers that a declaration names.
static SmallVector<std::string, 4> namesOf(const ptx::Variable &V) {
  SmallVector<std::string, 4> Names;
  if (V.Count == 0)
    Names.emplace_back(V.Name);
  for (uint32_t I = 0; I < V.Count; ++I)
    Names.push_back(std::string(V.Name) + utostr(I));
  return Names;
}

void AssemblyReader::readBlock(const ptx::Block &Body) {
  bool HasGaps = false; ///< The next load reads bytes that it need not.
  const StringMap<Condition> Outside = Predicates;
  SmallVector<std::string, 4> Own; ///< Registers that the block declares.
  for (const ptx::Statement &S : Body.Statements) {
    if (const auto *I = std::get_if<ptx::Instruction>(&S)) {
      if (std::exchange(HasGaps, false))
        To.add(Opaque());
      else
        readInstruction(*I);
      noteResults(*I);
      continue;
    }
    if (const auto *V = std::get_if<ptx::Variable>(&S))
      for (const std::string &Name : namesOf(*V)) {
        Predicates.erase(Name);
        Own.push_back(Name);
      }
    if (const auto *D = std::get_if<ptx::Directive>(&S))
      HasGaps |= ptx::usedBytes(*D) != ptx::AllBytes;
    if (const auto *Inner = std::get_if<std::unique_ptr<ptx::Block>>(&S))
      readBlock(**Inner);
    else if (const auto *D = std::get_if<ptx::Directive>(&S);
             D ? D->Name != ".pragma" : std::holds_alternative<ptx::Label>(S))
      To.add(Opaque()); // A label may be branched to, even back.
  }
  for (const std::string &Name : Own) {
    Predicates.erase(Name);
    if (const auto Hidden = Outside.find(Name); Hidden != Outside.end())
      Predicates[Name] = Hidden->second;
  }
}

/// What the instruction writes has no longer the value that it was given.
void AssemblyReader::noteResults(const ptx::Instruction &I) {
  const unsigned Results = ptx::resultsOf(I).value_or(I.Operands.size());
  for (const ptx::Operand &Result : ArrayRef(I.Operands).take_front(Results)) {
    Operands.forget(Result.Text);
    for (const ptx::Operand &Part : Result.Elements)
      Operands.forget(Part.Text);
  }
}

/// Orders nothing between threads.
bool isOfOneThread(const Event &E) {
  return isWeak(E) || isOneOf<AsyncAccess, OperandRead, CommitCopies,
                              AwaitCopies, ProxyFence, Collective, Opaque>(E);
}

void AssemblyReader::readInstruction(const ptx::Instruction &I) {
  const ptx::InstructionClass C = ptx::classify(I);
  const bool MayBeSkipped = I.If || !IsStraight;
  const unsigned AddressSpace = addressSpaceOf(I, C.Space);
  const bool IsPrivate = isPrivateSpace(AddressSpace);
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
    return I.Opcode == "wgmma" ? readProduct(I, C) : readCopy(I, C);
  case ptx::Category::MatrixAccess:
    return readMatrix(I, C);
  case ptx::Category::TextureAccess:
    leaveOut(skipOf(C.What));
    return To.add(Opaque());
  case ptx::Category::StrongAccess:
    HasOrdered |= MayBeSkipped;
    if (!IsPrivate)
      readStrong(I, C, Operands.location(C.Address, AddressSpace));
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
    leaveOut(skipOf(C.What));
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

/// The last operand but for a cache policy.
static const ptx::Operand &lastOperand(const ptx::Instruction &I) {
  return I.Operands[I.Operands.size() - 1 - hasPolicy(I)];
}

/// An access that may be moved, because its statement says that it accesses
/// nothing, or that cannot be looked at in time, is left alone.
void AssemblyReader::readWeak(const ptx::Instruction &I,
                              const ptx::InstructionClass &C) {
  const std::optional<Location> Where =
      Operands.location(C.Address, addressSpaceOf(I, C.Space));
  const std::optional<Condition> If = conditionOf(I);
  if (Where && If && C.Size && !HasOrdered) {
    Access A = access(C, *Where);
    A.If = *If;
    A.NamesCache = C.reads() && (I.has("ca") || I.has("cg") || I.has("cv"));
    // PTX requires that an address is a multiple of the whole size.
    A.Alignment = Align(C.Size);
    if (C.writes() && !If->Operand)
      A.Written = Operands.value(lastOperand(I));
    return To.add(A);
  }
  leaveOut(Skip::Assembly);
}

/// `ldmatrix... {...}, [from]` or `wmma.load... {...}, [from], stride`.
void AssemblyReader::readMatrix(const ptx::Instruction &I,
                                const ptx::InstructionClass &C) {
  const std::optional<Location> Where =
      Operands.location(C.Address, addressSpaceOf(I, C.Space));
  Value *Stride = nullptr;
  bool IsKnown = Where && C.Rows.Number && !I.If && IsStraight && !HasOrdered;
  if (C.Rows.HaveOneAddress && I.Operands.size() > 2) {
    Stride = Operands.value(I.Operands[2]);
    IsKnown &= Stride && Stride->getType()->isIntegerTy() &&
               C.Rows.ElementBits % 8 == 0;
  }
  if (IsKnown)
    return addMatrix(To, C, *Where, Stride);
  leaveOut(Skip::Matrix);
  To.add(Opaque());
}

/// Copies are told before the statement, and accesses may be checked behind it.
void AssemblyReader::readCopy(const ptx::Instruction &I,
                              const ptx::InstructionClass &C) {
  const std::optional<Condition> If = conditionOf(I);
  const std::optional<CopyOperands> Of =
      If ? copyOf(I, *If, Operands, Predicates) : std::nullopt;
  const bool IsFirst = none_of(To.List, isWeak);
  if (Of && IsFirst && !HasOrdered) {
    // The collider does not look at the box in global memory.
    if (Of->Tensor)
      To.ByCollider = Skip::Copy;
    return addCopy(To, *Of);
  }
  leaveOut(Skip::Copy);
  addUnfollowed(To, C);
}

/// N of a product's shape mMnNkK, where M is 64; 0: another shape.
static uint32_t columnsOf(const ptx::Instruction &I) {
  for (StringRef M : I.Modifiers) {
    uint32_t N;
    if (M.consume_front("m64n") && !M.consumeInteger(10, N) &&
        M.starts_with("k") && N % 8 == 0 && N >= 8 && N <= 256)
      return N;
  }
  return 0;
}

/// `wgmma.mma_async.sync.aligned.m64nNkK.d.a.b {d, ...}, a, b, scale-d`, where
/// `a` is a descriptor or a list of registers. Then, but for integers, come two
/// signs; and for elements of 16 bits, whether each operand in memory is by
/// columns.
void AssemblyReader::readProduct(const ptx::Instruction &I,
                                 const ptx::InstructionClass &C) {
  To.ByCollider = Skip::Copy;
  const uint32_t Columns = columnsOf(I);
  const bool IsOfHalves = I.has("bf16") || llvm::count(I.Modifiers, "f16") > 1;
  const size_t Number = I.Operands.size();
  const bool HasA =
      Number > 1 && I.Operands[1].What != ptx::Operand::Kind::Vector;
  const size_t Wanted = I.has("s32") ? 4 : IsOfHalves ? 7 + HasA : 6;
  const bool IsKnown = Columns && Number == Wanted && !I.has("sp") && !I.If &&
                       IsStraight && !HasOrdered && none_of(To.List, isWeak);
  /// The operand at `At`, whose flag is the one at `Flag`.
  auto Add = [&](size_t At, uint32_t Rows, size_t Flag) {
    Value *Descriptor = Operands.value(I.Operands[At]);
    const auto *IsByColumns =
        IsOfHalves
            ? dyn_cast_or_null<ConstantInt>(Operands.value(I.Operands[Flag]))
            : nullptr;
    if (!Descriptor || !Descriptor->getType()->isIntegerTy(64) ||
        (IsOfHalves && !IsByColumns))
      return false;
    const bool Is = IsByColumns && !IsByColumns->isZero();
    addOperand(To, Descriptor, Rows | (Is ? abi::ByColumns : 0));
    return true;
  };
  if (IsKnown && (!HasA || Add(1, 64, Number - 2)) &&
      Add(2, Columns, Number - 1))
    return;
  leaveOut(Skip::Copy);
  addUnfollowed(To, C);
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
  if (IsSwap && I.Operands.size() - hasPolicy(I) == 4) {
    const std::optional<int> Result = Operands.output(I.Operands[0].Text);
    A.Expected = Result ? Operands.input(I.Operands[2].Text) : nullptr;
    A.Result = Result.value_or(-1);
  }
  // The last operand, of st, atom.exch and atom.cas.
  if (C.writes() && (!(C.Flags & abi::IsAtomic) || IsSwap || I.has("exch")))
    A.Written = Operands.value(lastOperand(I));
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
  const unsigned AddressSpace = addressSpaceOf(
      I, IsShared ? ptx::StateSpace::Shared : ptx::StateSpace::Generic);
  ptx::InstructionClass Told = C;
  // A fence of the statement, which is not told in between, may make an
  // arrival a release.
  if (HasOrdered || (C.Orders != ptx::Ordering::Wait && !IsStraight))
    Told.Order = abi::MemoryOrder::Weak;
  addOrdering(To, Told, Operands.location(C.Object, AddressSpace));
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
  for (; It != End &&
         (isWeak(*It) || isOneOf<Fence, ProxyFence, Collective, Opaque>(*It));
       ++It)
    if (auto *F = std::get_if<Fence>(It))
      F->IsAhead = std::any_of(It, End, mayRelease);
  It = std::find_if(It, End, mayAcquire);
  if (It != End && std::any_of(It + 1, End, mayRelease))
    To.List.insert(To.List.begin(), Learn());
}

/// A fence between the proxies is told on both sides of a statement that does
/// something else, too. If the statement hands on at once what it acquires, no
/// time to tell of the fence is right.
void AssemblyReader::tellProxyFences() {
  bool IsBetween = false;
  for (Event &E : To.List)
    if (auto *F = std::get_if<ProxyFence>(&E)) {
      F->IsAmongOthers = To.List.size() > 1;
      IsBetween |= To.List.size() > 2;
    }
  if (IsBetween && any_of(To.List, mayAcquire) && any_of(To.List, mayRelease))
    To.add(Unknown());
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
  // What the collider checks is all that its statement does.
  if (!keepsWindow(All) && any_of(All.List, isWeakOrLater))
    All.ByCollider = Skip::Assembly;
  return All;
}

bool isOneInstruction(const CallBase &Assembly) {
  const auto &Asm = cast<InlineAsm>(*Assembly.getCalledOperand());
  auto Result = ptx::parseInline(std::string(Asm.getAsmString()));
  const auto *Parsed = std::get_if<ptx::InlineBody>(&Result);
  return Parsed && Parsed->Body.Statements.size() == 1 &&
         std::holds_alternative<ptx::Instruction>(Parsed->Body.Statements[0]);
}

} // namespace crsan
