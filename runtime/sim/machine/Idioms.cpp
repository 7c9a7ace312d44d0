// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses that the compiler widened.
#include "Decoder.h"

#include <algorithm>

using namespace crsan::sim;
namespace ptx = crsan::ptx;
using ptx::Operand;

//===----------------------------------------------------------------------===//
// Definitions
//===----------------------------------------------------------------------===//

Idioms::Idioms(const ptx::Function &F, const ptx::Module &In) : In(In) {
  if (F.Body)
    collect(*F.Body);
}

/// Calls Do with each name in an operand.
template <typename Function>
static void forEachName(const Operand &O, Function Do) {
  if (O.What == Operand::Kind::Name)
    Do(O.Text);
  for (const Operand &E : O.Elements)
    forEachName(E, Do);
}

void Idioms::collect(const ptx::Block &B) {
  for (const ptx::Statement &S : B.Statements) {
    if (auto *Inner = std::get_if<std::unique_ptr<ptx::Block>>(&S))
      collect(**Inner);
    auto *I = std::get_if<ptx::Instruction>(&S);
    if (!I)
      continue;
    Code.push_back(I);
    if (I->Opcode == "atom" && I->has("cas"))
      Swaps.push_back(I);
    // The first operand is the result, except of stores.
    if (I->Operands.empty() || I->Operands[0].What == Operand::Kind::Address)
      continue;
    forEachName(I->Operands[0], [&](std::string_view Name) {
      const auto [It, IsNew] = Definitions.try_emplace(Name, I);
      if (!IsNew)
        It->second = nullptr;
    });
  }
}

const ptx::Instruction *Idioms::definition(std::string_view Register) const {
  const auto It = Definitions.find(Register);
  return It == Definitions.end() ? nullptr : It->second;
}

/// The value of an operand that is a number, or a register that a number was
/// moved to.
std::optional<uint64_t> Idioms::constant(const Operand &O) const {
  if (O.What == Operand::Kind::Integer)
    return O.Bits;
  const Instruction *Set =
      O.What == Operand::Kind::Name ? definition(O.Text) : nullptr;
  if (!Set || Set->Opcode != "mov" || Set->Operands.size() != 2 ||
      Set->Operands[1].What != Operand::Kind::Integer)
    return std::nullopt;
  return Set->Operands[1].Bits;
}

static bool isRegister(const Operand &O) {
  return O.What == Operand::Kind::Name && !O.Member;
}

//===----------------------------------------------------------------------===//
// Parts of aligned words
//===----------------------------------------------------------------------===//

/// P, if the register is P rounded down to a multiple of Size; else empty.
std::string_view Idioms::alignedFrom(std::string_view Register,
                                     unsigned Size) const {
  const Instruction *And = definition(Register);
  if (!And || And->Opcode != "and" || And->Operands.size() != 3 ||
      !isRegister(And->Operands[1]))
    return {};
  const auto Mask = constant(And->Operands[2]);
  const uint64_t Wanted = ~uint64_t(Size - 1);
  const bool IsWide = ptx::sizeOf(And->type()) == 8;
  if (!Mask || (IsWide ? *Mask != Wanted : uint32_t(*Mask) != uint32_t(Wanted)))
    return {};
  return And->Operands[1].Text;
}

/// Registers that are computed from this one and numbers.
std::set<std::string_view>
Idioms::derivedFrom(std::string_view Register) const {
  static constexpr std::string_view Opcodes[] = {"and", "bfe", "cvt",
                                                 "mov", "mul", "shl"};
  std::set<std::string_view> Found{Register};
  for (size_t Before = 0; Before != Found.size();) {
    Before = Found.size();
    for (const Instruction *I : Code) {
      if (I->Operands.size() < 2 || !isRegister(I->Operands[0]) ||
          !isRegister(I->Operands[1]) || !Found.contains(I->Operands[1].Text) ||
          std::find(std::begin(Opcodes), std::end(Opcodes), I->Opcode) ==
              std::end(Opcodes))
        continue;
      if (std::all_of(I->Operands.begin() + 2, I->Operands.end(),
                      [&](const Operand &O) { return constant(O); }))
        Found.insert(I->Operands[0].Text);
    }
  }
  return Found;
}

/// Of an operation on the word that a pointer was rounded down to: the bytes
/// that are meant are those that something is shifted to, or from.
std::optional<Intent> Idioms::partOfWord(const Instruction &I,
                                         std::string_view Pointer) const {
  const std::set<std::string_view> Amounts = derivedFrom(Pointer);
  bool IsShifted = false;
  std::set<unsigned> Sizes;
  for (const Instruction *S : Code) {
    if ((S->Opcode != "shl" && S->Opcode != "shr") || S->Operands.size() != 3 ||
        !isRegister(S->Operands[2]) || !Amounts.contains(S->Operands[2].Text))
      continue;
    IsShifted = true;
    const auto Mask = constant(S->Operands[1]);
    if (S->Opcode == "shl" && Mask && (*Mask == 0xFF || *Mask == 0xFFFF))
      Sizes.insert(*Mask == 0xFF ? 1 : 2);
  }
  if (!IsShifted)
    return std::nullopt;
  Intent Result;
  Result.Address = Pointer;
  Result.Size = 1;
  if (ptx::sizeOf(I.type()) == 2)
    return Result;
  if (Sizes.size() == 1)
    Result.Size = uint8_t(*Sizes.begin());
  else
    Result.MayBeWider = true;
  return Result;
}

//===----------------------------------------------------------------------===//
// Guesses
//===----------------------------------------------------------------------===//

static const Operand *addressIn(const ptx::Instruction &I) {
  for (const Operand &O : I.Operands)
    if (O.What == Operand::Kind::Address)
      return &O;
  return nullptr;
}

static bool isSame(const Operand &A, const Operand &B) {
  return A.Bits == B.Bits && A.Elements.size() == 1 && B.Elements.size() == 1 &&
         A.Elements[0].What == B.Elements[0].What &&
         A.Elements[0].Text == B.Elements[0].Text &&
         A.Elements[0].Bits == B.Elements[0].Bits;
}

bool Idioms::isSwapped(const Operand &Address) const {
  return std::any_of(Swaps.begin(), Swaps.end(), [&](const Instruction *Swap) {
    const Operand *At = addressIn(*Swap);
    return At && isSame(*At, Address);
  });
}

bool Idioms::isOfOneLine(const Instruction &A, const Instruction &B) const {
  if (A.Where < 0 || B.Where < 0)
    return false;
  const ptx::Location &X = In.Locations[size_t(A.Where)],
                      &Y = In.Locations[size_t(B.Where)];
  return X.Line && X.File == Y.File && X.Line == Y.Line &&
         X.Column == Y.Column && X.InlinedAt == Y.InlinedAt &&
         X.Comment == Y.Comment;
}

static bool isWeakLoad(const ptx::Instruction &I) {
  static constexpr std::string_view Strong[] = {"relaxed", "acquire",
                                                "volatile", "mmio"};
  return I.Opcode == "ld" && I.Operands.size() == 2 &&
         isRegister(I.Operands[0]) &&
         std::none_of(std::begin(Strong), std::end(Strong),
                      [&](std::string_view S) { return I.has(S); });
}

const ptx::Instruction *Idioms::partner(const Instruction &I) const {
  const Operand *Address = addressIn(I);
  const bool IsLoad = I.Opcode == "ld";
  for (const Instruction *Other : IsLoad ? Swaps : Code) {
    if (!IsLoad && !isWeakLoad(*Other))
      continue;
    const Operand *At = addressIn(*Other);
    if (At && isSame(*At, *Address) && isOfOneLine(I, *Other) &&
        ptx::sizeOf(I.type()) == ptx::sizeOf(Other->type()))
      return Other;
  }
  return nullptr;
}

std::optional<Intent> Idioms::intentOf(const Instruction &I) const {
  const Operand *Address = addressIn(I);
  const bool IsLoad = I.Opcode == "ld", IsSwap = I.has("cas");
  if (!Address || Address->Elements.size() != 1 ||
      (IsLoad && Swaps.empty() && isWeakLoad(I)))
    return std::nullopt;
  const unsigned Size = ptx::sizeOf(I.type());
  const bool MayBePart =
      IsLoad || IsSwap || I.has("and") || I.has("or") || I.has("xor");
  std::string_view Pointer;
  if (MayBePart && (Size == 2 || Size == 4) && Address->Bits == 0)
    Pointer = alignedFrom(Address->Elements[0].Text, Size);
  std::optional<Intent> Part;
  if (!Pointer.empty())
    Part = partOfWord(I, Pointer);
  Intent Guess;
  Guess.IsGuess = true;
  if (Part && !isWeakLoad(I))
    return Part;
  if (isWeakLoad(I))
    return (Part && isSwapped(*Address)) || partner(I) ? std::optional(Guess)
                                                       : std::nullopt;
  const Instruction *Load = IsSwap && Size == 4 ? partner(I) : nullptr;
  if (!Load)
    return std::nullopt;
  // The word is aligned as it is, and keeps what is not meant of it.
  for (const Instruction *And : Code) {
    if (And->Opcode != "and" || And->Operands.size() != 3 ||
        !isRegister(And->Operands[1]) ||
        And->Operands[1].Text != Load->Operands[0].Text)
      continue;
    const auto Kept = constant(And->Operands[2]);
    if (Kept && uint32_t(*Kept) == 0xFFFF0000u)
      return Intent{false, {}, 2, false};
    if (Kept && uint32_t(*Kept) == 0xFFFFFF00u)
      return Intent{false, {}, 1, false};
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

void Decoder::setUsedBytes(Instruction &To, uint32_t Mask) {
  Meaning &M = Env.In.Meanings.emplace_back();
  M.UsedBytes = Mask;
  To.Means = &M;
}

void Decoder::interpret(Instruction &To) {
  if (UsedBytes != ptx::AllBytes)
    return setUsedBytes(To, UsedBytes);
  if (!Idiom)
    Idiom.emplace(*Fn.Tree, *Fn.Unit);
  const std::optional<Intent> Meant = Idiom->intentOf(*I);
  if (!Meant)
    return;
  Meaning M;
  M.IsGuess = Meant->IsGuess;
  M.Size = Meant->Size;
  M.MayBeWider = Meant->MayBeWider;
  if (!Meant->Address.empty()) {
    M.Address = Known->findRegister(Meant->Address);
    if (!M.Address.IsValid)
      return;
  }
  To.Means = &Env.In.Meanings.emplace_back(M);
}
