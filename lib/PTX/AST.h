// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A PTX module as a tree.
//
// PTX ISA 6.0 to 9.0, as written: an instruction is an opcode with modifiers
// and operands, without their meaning. The simulated GPU and the classifier
// (Classify.h) give them a meaning. So an opcode that is new in the next ISA
// parses and prints, and is refused by name where its meaning is needed.
#ifndef CRSAN_PTX_AST_H
#define CRSAN_PTX_AST_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace crsan::ptx {

/// A place in the PTX text, from 1; 0: none.
struct Position {
  uint32_t Line = 0, Column = 0;
};

/// The type of a register, variable, parameter or instruction ("u32", "f16x2",
/// "b128", "pred", "e4m3x2", ...).
enum class ScalarType : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  U16x2,
  S16x2,
  F16,
  F16x2,
  BF16,
  BF16x2,
  TF32,
  F32,
  F32x2,
  F64,
  E4M3,
  E5M2,
  E4M3x2,
  E5M2x2,
  TexRef,
  SamplerRef,
  SurfRef,
};
/// Without the leading dot; nothing for what is not a type.
std::optional<ScalarType> parseScalarType(std::string_view Name);
std::string_view name(ScalarType Type);
/// Bytes; 1 for Pred (as a register), 0 for None, 8 for the opaque references.
unsigned sizeOf(ScalarType Type);
bool isFloat(ScalarType Type);
bool isSigned(ScalarType Type); ///< Of the integer types, S8 to S64, S16x2.

enum class StateSpace : uint8_t {
  None,
  Reg,
  SReg,
  Const,
  Global,
  Local,
  Param,
  Shared,
  Generic
};
/// Without the leading dot; None for what is not a state space.
StateSpace parseStateSpace(std::string_view Name);
std::string_view name(StateSpace Space); ///< Empty for None and Generic.

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// One operand. Text is interned by the module, and lives as long as the
/// module.
struct Operand {
  enum class Kind : uint8_t {
    Name,    ///< Register, special register ("%tid" with Member 'x'),
             ///< variable, function, label: Text.
    Integer, ///< Bits: the two's complement value.
    Float,   ///< Bits of an f32 (IsDouble clear, "0f3F800000") or f64.
    Address, ///< [Elements[0] + Bits], where Elements[0] is a Name, an Integer
             ///< or absent; for tensors [a, {b, c}]: all of Elements.
    Vector,  ///< {a, b, ...}
    List,    ///< (a, b, ...): arguments and results of a call.
    Pair,    ///< p|q
    Sum,     ///< Text + Bits outside brackets (mov r, var+4). Two names, which
             ///< only inline assembly adds, are Elements[0] and [1].
    Discard, ///< _
    Symbols, ///< generic(x) + Bits in an initialiser: Elements[0].
  };
  Kind What = Kind::Discard;
  bool IsNegated = false; ///< !p, or -r before a name.
  bool IsDouble = false;
  char Member = 0; ///< x, y, z, w of a vector register or special register;
                   ///< '-' in inline assembly: -name (IsNegated is set).
  std::string_view Text;
  uint64_t Bits = 0; ///< Value, or a (signed) offset of Address and Sum.
  /// Of a Name: the mask and the symbol of `0xFF00(generic(x)+4)`, whose Text
  /// is the whole.
  std::vector<Operand> Elements;

  /// Of a vector with one element, which loads and stores of one value may
  /// have, that element; otherwise the operand itself.
  const Operand &scalar() const {
    return What == Kind::Vector && Elements.size() == 1 ? Elements[0] : *this;
  }
};

struct Guard {
  std::string_view Register;
  bool IsNegated = false;
};

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// A line of the source, from `.loc`.
struct Location {
  uint32_t File = 0; ///< The number of a `.file`, an index into Module::Files.
  uint32_t Line = 0, Column = 0;
  /// The function of inlined code, as written: a label of debug strings
  /// (SourceLines.h).
  std::string_view Function;
  int32_t InlinedAt = -1; ///< Index into Module::Locations.
  /// LLVM 22 says only in a comment where code was inlined, as in
  /// "b.h:3:1 @[ a.cu:10:5 ]". Else empty. SourceLines.h understands both.
  std::string_view Comment;
};

struct Instruction {
  std::optional<Guard> If;
  std::string_view Opcode; ///< "ld"
  std::vector<std::string_view>
      Modifiers; ///< {"relaxed", "gpu", "global", "u32"};
                 ///< "cta::1" and "shared::cluster" are one each.
  std::vector<Operand> Operands;
  int32_t Where = -1; ///< Index into Module::Locations; -1: unknown.
  Position Pos;

  bool has(std::string_view Modifier) const;
  /// The first (second, ...) modifier that is a type: of "cvt.f32.u32", type(0)
  /// is F32 and type(1) U32.
  ScalarType type(unsigned FromFirst = 0) const;
};

/// A variable in a state space, at file scope, in a function or as a parameter.
struct Variable {
  enum class Linkage : uint8_t { Internal, Extern, Visible, Weak, Common };
  StateSpace Space = StateSpace::None;
  Linkage Link = Linkage::Internal;
  ScalarType Type = ScalarType::None;
  uint8_t VectorLength = 1;      ///< .v2, .v4
  uint32_t Align = 0;            ///< 0: that of the type.
  std::vector<uint64_t> Extents; ///< Arrays; 0: of unknown length ("[]").
  std::string_view Name;
  uint32_t Count = 0;     ///< "%r<10>": registers %r0 to %r9; else 0.
  bool IsPointer = false; ///< .ptr of a parameter, with space and alignment.
  StateSpace PointerSpace = StateSpace::None;
  uint32_t PointerAlign = 0;
  /// Flat, in order; a nested initialiser is a Vector. Bytes of mask()
  /// operators are kept as written in Text of a Name.
  std::vector<Operand> Initialiser;
  std::vector<std::string_view>
      Attributes; ///< ".attribute(.managed)": "managed".
  Position Pos;

  /// Bytes of the whole variable (extents of unknown length count 0).
  uint64_t size() const;
};
/// Without the leading dot; nothing for what is not a linkage.
std::optional<Variable::Linkage> parseLinkage(std::string_view Name);
std::string_view name(Variable::Linkage Link); ///< Empty for Internal.

struct Label {
  std::string_view Name;
};
/// `.branchtargets`, `.calltargets`, `.callprototype` with its label,
/// `.pragma`, and others that stand between instructions.
struct Directive {
  std::string_view Name; ///< With the dot; for a labelled one Label is set.
  std::string_view Label;
  std::vector<Operand> Operands;
  std::string_view Text; ///< As written, from the name to before ';'.
};
struct Block;
using Statement = std::variant<Instruction, Variable, Label, Directive,
                               std::unique_ptr<Block>>;
/// { ... }: a scope for registers, variables and labels.
struct Block {
  std::vector<Statement> Statements;
};

struct Function {
  bool IsKernel = false; ///< .entry
  Variable::Linkage Link = Variable::Linkage::Internal;
  std::string_view Name;
  std::vector<Variable> Results; ///< .func (...) name
  std::vector<Variable> Parameters;
  /// .maxntid, .reqnctapercluster, .noreturn, ...; .attribute, too.
  std::vector<Directive> Directives;
  std::unique_ptr<Block> Body; ///< Null for a declaration.
  Position Pos;
};

struct Module {
  /// Owns the text that all string views point into.
  std::shared_ptr<const std::string> Text;
  unsigned VersionMajor = 0, VersionMinor = 0;
  std::vector<std::string_view> Targets; ///< "sm_90", "debug", ...
  unsigned AddressSize = 64;
  struct File {
    uint32_t Number = 0;
    std::string_view Name;
  };
  std::vector<File> Files;
  std::vector<Location> Locations;
  /// File scope, in order.
  std::vector<std::variant<Function, Variable, Directive>> Items;
  /// `.section`s as written (debug information): printed, not understood.
  std::vector<std::string_view> Sections;
};

struct ParseError {
  Position Pos;
  std::string Message; ///< "expected ';' after instruction, found 'ld'"
  std::string Line;    ///< The offending line of text.
};

} // namespace crsan::ptx

#endif // CRSAN_PTX_AST_H
