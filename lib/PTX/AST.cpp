// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A PTX module as a tree.

#include "PTX/AST.h"

#include <algorithm>
#include <array>

namespace crsan::ptx {

namespace {

struct TypeInfo {
  std::string_view Name;
  uint8_t Size;
  enum : uint8_t { Bits, Signed, Unsigned, Float } What;
};

/// By ScalarType.
constexpr std::array<TypeInfo, 32> Types = {{
    {"", 0, TypeInfo::Bits},           {"pred", 1, TypeInfo::Bits},
    {"b8", 1, TypeInfo::Bits},         {"b16", 2, TypeInfo::Bits},
    {"b32", 4, TypeInfo::Bits},        {"b64", 8, TypeInfo::Bits},
    {"b128", 16, TypeInfo::Bits},      {"u8", 1, TypeInfo::Unsigned},
    {"u16", 2, TypeInfo::Unsigned},    {"u32", 4, TypeInfo::Unsigned},
    {"u64", 8, TypeInfo::Unsigned},    {"s8", 1, TypeInfo::Signed},
    {"s16", 2, TypeInfo::Signed},      {"s32", 4, TypeInfo::Signed},
    {"s64", 8, TypeInfo::Signed},      {"u16x2", 4, TypeInfo::Unsigned},
    {"s16x2", 4, TypeInfo::Signed},    {"f16", 2, TypeInfo::Float},
    {"f16x2", 4, TypeInfo::Float},     {"bf16", 2, TypeInfo::Float},
    {"bf16x2", 4, TypeInfo::Float},    {"tf32", 4, TypeInfo::Float},
    {"f32", 4, TypeInfo::Float},       {"f32x2", 8, TypeInfo::Float},
    {"f64", 8, TypeInfo::Float},       {"e4m3", 1, TypeInfo::Float},
    {"e5m2", 1, TypeInfo::Float},      {"e4m3x2", 2, TypeInfo::Float},
    {"e5m2x2", 2, TypeInfo::Float},    {"texref", 8, TypeInfo::Bits},
    {"samplerref", 8, TypeInfo::Bits}, {"surfref", 8, TypeInfo::Bits},
}};
constexpr size_t NumTypes = static_cast<size_t>(ScalarType::SurfRef) + 1;

const TypeInfo &info(ScalarType Type) {
  return Types[static_cast<size_t>(Type)];
}

/// By StateSpace; Generic, the last, has no name.
constexpr std::array<std::string_view, 8> Spaces = {
    "", "reg", "sreg", "const", "global", "local", "param", "shared"};

/// By Variable::Linkage.
constexpr std::array<std::string_view, 5> Linkages = {"", "extern", "visible",
                                                      "weak", "common"};

} // namespace

std::optional<ScalarType> parseScalarType(std::string_view Name) {
  // Asked for every modifier of every instruction: nearly all are ruled out by
  // their first letter.
  if (Name.size() < 2 || Name.size() > 10 ||
      std::string_view("pbustfe").find(Name[0]) == Name.npos)
    return std::nullopt;
  for (size_t I = 1; I < NumTypes; ++I)
    if (Types[I].Name == Name)
      return static_cast<ScalarType>(I);
  return std::nullopt;
}

std::string_view name(ScalarType Type) { return info(Type).Name; }
unsigned sizeOf(ScalarType Type) { return info(Type).Size; }
bool isFloat(ScalarType Type) { return info(Type).What == TypeInfo::Float; }
bool isSigned(ScalarType Type) { return info(Type).What == TypeInfo::Signed; }

StateSpace parseStateSpace(std::string_view Name) {
  for (size_t I = 1; I < Spaces.size(); ++I)
    if (Spaces[I] == Name)
      return static_cast<StateSpace>(I);
  return StateSpace::None;
}

std::string_view name(StateSpace Space) {
  return Space == StateSpace::Generic ? "" : Spaces[static_cast<size_t>(Space)];
}

std::optional<Variable::Linkage> parseLinkage(std::string_view Name) {
  for (size_t I = 1; I < Linkages.size(); ++I)
    if (Linkages[I] == Name)
      return static_cast<Variable::Linkage>(I);
  return std::nullopt;
}

std::string_view name(Variable::Linkage Link) {
  return Linkages[static_cast<size_t>(Link)];
}

bool Instruction::has(std::string_view Modifier) const {
  return std::ranges::find(Modifiers, Modifier) != Modifiers.end();
}

ScalarType Instruction::type(unsigned FromFirst) const {
  for (std::string_view Modifier : Modifiers)
    if (auto Type = parseScalarType(Modifier); Type && FromFirst-- == 0)
      return *Type;
  return ScalarType::None;
}

uint64_t Variable::size() const {
  uint64_t Size = uint64_t(sizeOf(Type)) * VectorLength;
  for (uint64_t Extent : Extents)
    Size *= Extent;
  return Size;
}

} // namespace crsan::ptx
