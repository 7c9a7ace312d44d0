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

#include "PTX/Classify.h"
#include "crsan/ABI.h"
#include "crsan/Metadata.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
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

/// Why an access is left unchecked. Those from Speculated on are omissions
/// (Omission.h), which are counted and remarked.
enum class Skip {
  None,
  Private,     ///< Local, constant or parameter memory: cannot race.
  Ignored,     ///< In a function that the user exempted.
  Strong,      ///< Atomic or volatile: not a weak access.
  Speculated,  ///< A load that may run where the source would not run it.
  Assembly,    ///< Weak, but in inline PTX.
  Copy,        ///< By an asynchronous copy or matrix operation.
  Matrix,      ///< A matrix load or store of a warp.
  Texture,     ///< By a texture or a surface.
  Unknown,     ///< By an instruction that is not known.
  Unsupported, ///< A kind, length or type that cannot be checked.
};

/// What the pass has to know of one instruction.
struct Effect {
  llvm::SmallVector<Access, 2> Accesses;
  bool Synchronises = false; ///< Ends a window (rule 3).
  Skip Skipped = Skip::None;
};

Effect effectOf(llvm::Instruction &I);

/// Why what PTX instructions of a category access is left unchecked.
Skip skipOf(ptx::Category What);

/// An intrinsic of NVVM's as the PTX instruction that it stands for, whose name
/// has underscores and colons where the intrinsic's has dots; nothing for any
/// other intrinsic. Valid as long as `Name`.
std::optional<ptx::Instruction> asInstruction(llvm::StringRef Name);

/// Why what an intrinsic accesses is left unchecked where only LLVM's own loads
/// and stores are checked. Whatever may access memory, and is not known not to,
/// counts as an access.
Skip skipOf(const llvm::IntrinsicInst &Intrinsic);
/// The same, whatever its operands are.
Skip skipOf(llvm::Intrinsic::ID Id, llvm::StringRef Name,
            llvm::MemoryEffects Effects);

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
