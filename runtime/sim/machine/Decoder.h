// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX -> decoded code, one function at a time.
//
// What an instruction means is decided in ops/: each file there enters decode
// functions for opcodes into a DecodeTable. A decode function takes modifiers
// and operands from the Decoder and emits an Instruction with a handler; if it
// returns false, the next function for that opcode is asked. Modifiers that
// nobody took, like an opcode that nobody knows, make an instruction that stops
// the run with its name where it is executed: nothing is ignored.
#ifndef CRSAN_SIM_DECODER_H
#define CRSAN_SIM_DECODER_H

#include "FrameLayout.h"
#include "Idioms.h"
#include "Memory.h"
#include "Names.h"
#include "PTX/Classify.h"
#include "Program.h"

#include <initializer_list>

namespace crsan::sim {

class Decoder;
using DecodeFunction = bool (*)(Decoder &);

class DecodeTable {
public:
  void add(std::string_view Opcode, DecodeFunction F) {
    Known[Opcode].push_back(F);
  }
  void add(std::initializer_list<std::string_view> Opcodes, DecodeFunction F) {
    for (std::string_view Opcode : Opcodes)
      add(Opcode, F);
  }
  const std::vector<DecodeFunction> *find(std::string_view Opcode) const {
    auto It = Known.find(Opcode);
    return It == Known.end() ? nullptr : &It->second;
  }
  /// Of all files in ops/.
  static const DecodeTable &get();

private:
  std::unordered_map<std::string_view, std::vector<DecodeFunction>> Known;
};

// Of the files in ops/.
void addIntegerOps(DecodeTable &);
void addLogicOps(DecodeTable &);
void addFloatOps(DecodeTable &);
void addConvertOps(DecodeTable &);
void addCompareOps(DecodeTable &);
void addMoveOps(DecodeTable &);
void addMemoryOps(DecodeTable &);
void addAddressOps(DecodeTable &);
void addControlOps(DecodeTable &);
void addCallOps(DecodeTable &);
void addAtomicOps(DecodeTable &);
void addCollectiveOps(DecodeTable &);
void addBarrierOps(DecodeTable &);
void addClusterOps(DecodeTable &);
void addMBarrierOps(DecodeTable &);
void addAsyncOps(DecodeTable &);
void addAsyncStoreOps(DecodeTable &);
void addBulkOps(DecodeTable &);
void addTensorOps(DecodeTable &);
void addMatrixOps(DecodeTable &);
void addMatrixMoveOps(DecodeTable &);
void addRefusedOps(DecodeTable &);

/// [base + offset] in a state space.
struct Address {
  Ref Base; ///< u32 or u64.
  int64_t Offset = 0;
};

class Decoder {
public:
  /// What of the image a function may name.
  struct Environment {
    Image &In;
    /// Linked names -> generic addresses of variables, in host memory.
    const std::unordered_map<std::string_view, uint64_t> &Addresses;
    const std::unordered_map<std::string_view, uint32_t>
        &Shared; ///< -> SharedVariables
    const std::unordered_map<std::string_view, uint32_t> &Functions;
    /// Gives storage to a variable declared in a function.
    std::function<uint64_t(const ptx::Variable &)> Allocate;
    std::function<int32_t(const ptx::Function *, int32_t Location)> NewId;
  };
  Decoder(const Environment &E, Function &F) : Env(E), Fn(F), Frame(F) {}
  void run();

  // For decode functions.

  const ptx::Instruction &instruction() const { return *I; }
  std::string_view opcode() const { return I->Opcode; }
  /// True if the modifier is there; it is then accounted for.
  bool take(std::string_view Modifier);
  bool has(std::string_view Modifier) const;
  /// The first of these that is there, or empty.
  std::string_view takeOneOf(std::initializer_list<std::string_view> Modifiers);
  /// The next modifier that is a type, None if there is none.
  ptx::ScalarType takeType();
  /// .global, .shared, .shared::cta, ...; Generic without.
  ptx::StateSpace takeSpace();
  Scope takeScope(Scope Default);
  /// A modifier that begins with this ("L2::"), or empty.
  std::string_view takePrefixed(std::string_view Prefix);

  size_t numOperands() const { return I->Operands.size(); }
  const ptx::Operand &operand(size_t N) const;

  /// A row of Size bytes a lane: register, constant, special register, address
  /// of a symbol. A floating literal is rounded to that size.
  Ref source(const ptx::Operand &, unsigned Size);
  Ref source(size_t N, unsigned Size) { return source(operand(N), Size); }
  /// A register of whatever size it has (ld, st, cvt may name wider ones).
  Ref sourceOfAnySize(const ptx::Operand &, unsigned Least);
  Ref dest(const ptx::Operand &, unsigned Size);
  Ref dest(size_t N, unsigned Size) { return dest(operand(N), Size); }
  Ref destOfAnySize(const ptx::Operand &, unsigned Least);
  Ref predicate(const ptx::Operand &); ///< As a source; !p too.
  Ref destPredicate(const ptx::Operand &);
  bool isPredicate(const ptx::Operand &) const; ///< The name of one.
  Address address(const ptx::Operand &, ptx::StateSpace);
  Ref constant(uint64_t Value, unsigned Size) {
    return Env.In.constant(Value, Size);
  }
  /// The condition code of add.cc and the like: a predicate.
  Ref carry();
  /// A register that PTX does not see.
  Ref temporary(unsigned Size);
  std::optional<uint64_t> integer(const ptx::Operand &) const;
  /// The variable that a parameter's name means here, if it is one of this
  /// function.
  const Slot *parameter(std::string_view Name) const;

  Instruction &emit(Handler, std::initializer_list<Ref> = {});
  void setMore(Instruction &, std::vector<Ref>);
  /// Says what the load or atomic that was just emitted means in the source.
  void interpret(Instruction &);
  /// Of the bytes of a vector store just emitted, those that are written.
  void setUsedBytes(Instruction &, uint32_t Mask);
  /// The instruction is not decoded; the reason is told when it is executed.
  bool fail(std::string Why);

  Function &function() { return Fn; }
  Image &image() { return Env.In; }
  const Environment &environment() { return Env; }
  uint32_t here() const { return uint32_t(Fn.Code.size()); }
  /// Targets of a `.branchtargets` or the functions of a `.calltargets` by
  /// label.
  const ptx::Directive *directive(std::string_view Label) const;
  /// The instruction just emitted branches there.
  void branchTo(std::string_view Label);
  void branchToOneOf(const std::vector<std::string_view> &Labels);
  /// From plus a constant; From with another size (zero-extended).
  Ref added(Ref From, int64_t Offset);
  Ref resized(Ref From, unsigned Size);

private:
  struct Fixup {
    uint32_t At;
    std::string_view Label;
    const Names *In;
    std::vector<uint32_t> *Into; ///< brx.idx, else null.
  };

  void declareParameters();
  void decodeBlock(const ptx::Block &);
  void declare(const ptx::Variable &, const ptx::Block &);
  void decode(const ptx::Instruction &);
  bool tryDecode(DecodeFunction);
  void refuse(std::string Why);
  void resolveLabels();
  Slot newSlot(const ptx::Variable &, const ptx::Block *Uses);
  Ref symbolAddress(std::string_view Name, int64_t Offset, unsigned Size);

  Environment Env;
  Function &Fn;
  const ptx::Instruction *I = nullptr;
  std::vector<bool> Taken; ///< By modifier.
  bool IsBad = false;
  std::string Why;
  FrameLayout Frame;
  std::deque<Names> AllNames;
  Names *Known = nullptr; ///< In the innermost block.
  std::vector<Fixup> Fixups;
  std::optional<Idioms> Idiom;        ///< Made when it is first needed.
  uint32_t UsedBytes = ptx::AllBytes; ///< Of the load that follows.
  Ref Carry;
};

/// Fills in Instruction::Reconverge (Flow.cpp).
void findReconvergence(Function &);

/// The row of a special register, which an instruction emitted here may have to
/// fill; invalid if there is none of this name (SpecialRegisters.cpp).
Ref readSpecial(Decoder &, std::string_view Name, char Member, unsigned Size);

/// Handlers that the decoder itself needs.
Outcome returnFromFunction(Execution &, const Instruction &); // ops/Calls.cpp
/// A function that the machine provides, or null (ops/BuiltIns.cpp).
Handler findBuiltIn(std::string_view Name);

} // namespace crsan::sim

#endif // CRSAN_SIM_DECODER_H
