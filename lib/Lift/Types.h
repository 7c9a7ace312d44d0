// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX's types as LLVM's.
//
// A register is a number of bits: floating-point instructions stay assembly,
// whose operands may be registers of untyped bits.
#ifndef CRSAN_LIFT_TYPES_H
#define CRSAN_LIFT_TYPES_H

#include "PTX/AST.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/NVPTXAddrSpace.h"

namespace crsan::lift {

/// Bits of a value of this type in a register; 1 of a predicate.
inline unsigned bitsOf(ptx::ScalarType T) {
  return T == ptx::ScalarType::Pred ? 1 : 8 * ptx::sizeOf(T);
}

/// The type of a register, which has at least 16 bits but for a predicate;
/// where no type is written, of one of 32 bits.
inline llvm::IntegerType *registerType(llvm::LLVMContext &C,
                                       ptx::ScalarType T) {
  const unsigned Bits = bitsOf(T);
  return llvm::IntegerType::get(C, Bits == 8 ? 16 : Bits ? Bits : 32);
}

/// The type of a value in memory.
inline llvm::IntegerType *memoryType(llvm::LLVMContext &C, ptx::ScalarType T) {
  return llvm::IntegerType::get(C, 8 * ptx::sizeOf(T));
}

/// A type of the size and the alignment of `V`, as a parameter, a result or a
/// variable.
llvm::Type *wholeType(llvm::LLVMContext &C, const ptx::Variable &V);

/// In bytes.
llvm::Align alignmentOf(const ptx::Variable &V);

/// LLVM's number of a state space.
unsigned addressSpace(ptx::StateSpace Space);

template <typename... Parts> llvm::Error fail(const Parts &...All) {
  return llvm::createStringError((llvm::Twine("") + ... + All));
}

inline llvm::StringRef str(std::string_view Text) {
  return {Text.data(), Text.size()};
}

} // namespace crsan::lift

#endif // CRSAN_LIFT_TYPES_H
