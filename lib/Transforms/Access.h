//===- Access.h - What an instruction does to memory -*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which accesses are weak, which instructions may synchronise, and which loads
// an optimiser may have speculated (docs/soundness.md, rules 2 to 6).
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_TRANSFORMS_ACCESS_H
#define CRSAN_TRANSFORMS_ACCESS_H

#include "crsan/ABI.h"
#include "crsan/Metadata.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/NVPTXAddrSpace.h"

namespace crsan {

/// A run of bytes that one weak instruction reads or writes. An instruction has
/// several where its type has padding or it copies.
struct Access {
  llvm::Instruction *Inst;
  llvm::Value *Pointer;
  llvm::Align Alignment; ///< Of Pointer.
  uint64_t Offset;       ///< Bytes from Pointer.
  uint64_t Size;         ///< 0: Length.
  uint64_t WholeSize;    ///< Bytes of the whole instruction, for the report.
  llvm::Value *Stored;   ///< The value, for the first run of a store; or null.
  abi::AccessKind Kind;
  llvm::Value *Length = nullptr; ///< Bytes, where only known at run time.
};

/// Why a weak access is left unchecked; each has a statistic and a remark.
enum class Skip {
  None,
  Private,     ///< Local, constant or parameter memory: cannot race.
  Speculated,  ///< A load that may run where the source would not run it.
  Ignored,     ///< In a function that is not to be checked.
  Strong,      ///< Atomic or volatile: not a weak access.
  Assembly,    ///< Weak, but in inline PTX.
  Special,     ///< A copy in the background, a matrix or a texture.
  Unsupported, ///< Scalable or odd types.
};

/// What the pass has to know of one instruction.
struct Effect {
  llvm::SmallVector<Access, 2> Accesses;
  bool Synchronises = false; ///< Ends a window (rule 3).
  Skip Skipped = Skip::None;
};

Effect effectOf(llvm::Instruction &I);

/// Rule 4: local, constant and parameter memory. What a generic pointer of
/// unknown origin points to is found out at run time.
bool isPrivate(const llvm::Value *Pointer);
bool isPrivateSpace(unsigned AddressSpace);

abi::Space spaceOf(unsigned AddressSpace);
/// As abi::AccessFlags.
uint8_t flagsOf(abi::AccessKind Kind);

/// Marks every memory access of the user's as it stands in the source. The mark
/// survives the merging of two marked accesses, and LLVM drops it from a load
/// that it moves above the branch that guards it; a load without is not
/// checked.
void markAccesses(llvm::Function &F);

/// Marks every memory access of `F` as not to be checked, wherever it is
/// inlined.
void ignoreAccesses(llvm::Function &F);
bool isIgnored(const llvm::Instruction &I);

/// True if `I` can wait for another thread's write: a strong load, an exchange
/// whose result is used, assembly that accesses memory, or a call that may
/// contain one.
bool mayWait(const llvm::Instruction &I);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_ACCESS_H
