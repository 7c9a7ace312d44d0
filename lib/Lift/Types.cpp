// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX's types as LLVM's.

#include "Types.h"

using namespace llvm;

namespace crsan::lift {

Align alignmentOf(const ptx::Variable &V) {
  return Align(V.Align ? V.Align
                       : std::max(1u, ptx::sizeOf(V.Type) * V.VectorLength));
}

Type *wholeType(LLVMContext &C, const ptx::Variable &V) {
  if (V.Extents.empty() && V.VectorLength == 1)
    return memoryType(C, V.Type);
  // A result that is passed by value gets its alignment from its type.
  const bool IsParameter = V.Space == ptx::StateSpace::Param;
  const uint64_t Unit = IsParameter
                            ? std::min<uint64_t>(alignmentOf(V).value(), 16)
                            : ptx::sizeOf(V.Type);
  const uint64_t Size = V.size();
  if (Size % Unit == 0)
    return ArrayType::get(IntegerType::get(C, 8 * Unit), Size / Unit);
  return ArrayType::get(Type::getInt8Ty(C), Size);
}

unsigned addressSpace(ptx::StateSpace Space) {
  switch (Space) {
  case ptx::StateSpace::Global:
    return NVPTXAS::ADDRESS_SPACE_GLOBAL;
  case ptx::StateSpace::Shared:
    return NVPTXAS::ADDRESS_SPACE_SHARED;
  case ptx::StateSpace::Local:
    return NVPTXAS::ADDRESS_SPACE_LOCAL;
  case ptx::StateSpace::Const:
    return NVPTXAS::ADDRESS_SPACE_CONST;
  // Parameters are memory of the function's own, with generic addresses.
  case ptx::StateSpace::Param:
  case ptx::StateSpace::Generic:
  case ptx::StateSpace::None:
  case ptx::StateSpace::Reg:
  case ptx::StateSpace::SReg:
    return NVPTXAS::ADDRESS_SPACE_GENERIC;
  }
  return NVPTXAS::ADDRESS_SPACE_GENERIC;
}

} // namespace crsan::lift
