// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addresses that a compiler can know to be valid.
//
// A load from an address that is not valid ends the kernel, so a compiler may
// execute a load that the source would not execute only where it knows that the
// address is valid: it is a fixed place of an object, or the function has
// accessed the same bytes before, and called nothing since that could have
// freed them. A load from any other address is one that the source executes.
#ifndef CRSAN_TRANSFORMS_PROOFS_KNOWNADDRESSES_H
#define CRSAN_TRANSFORMS_PROOFS_KNOWNADDRESSES_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

namespace crsan {

class KnownAddresses {
public:
  KnownAddresses(llvm::Function &F, llvm::ScalarEvolution &SE,
                 const llvm::DominatorTree &Dominators);

  /// Whether a compiler may know, ahead of the load, that all bytes of its
  /// location may be read.
  bool isKnown(const llvm::LoadInst &Load);

private:
  /// An address as one that varies, and a constant distance from it.
  struct Place {
    const llvm::SCEV *From;
    int64_t Bytes;
  };
  struct Access {
    const llvm::Instruction *By;
    int64_t Begin, End; ///< Bytes from the key in `Accesses`.
  };

  const llvm::SCEV *addressOf(const llvm::Value &Pointer);
  Place placeOf(const llvm::Value &Pointer);
  bool isWithinVariable(const llvm::LoadInst &Load);
  bool isCallBetween(const llvm::Instruction &From,
                     const llvm::Instruction &To) const;

  llvm::ScalarEvolution &SE;
  const llvm::DominatorTree &Dominators;
  const llvm::DataLayout &Layout;
  llvm::DenseMap<const llvm::SCEV *, llvm::SmallVector<Access, 2>> Accesses;
  /// The calls of a block that write memory, a barrier for instance, in order.
  llvm::DenseMap<const llvm::BasicBlock *,
                 llvm::SmallVector<const llvm::Instruction *, 2>>
      Calls;
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_PROOFS_KNOWNADDRESSES_H
