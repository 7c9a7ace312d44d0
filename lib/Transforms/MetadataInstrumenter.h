//===- MetadataInstrumenter.h - Following a function's events -*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_TRANSFORMS_METADATAINSTRUMENTER_H
#define CRSAN_TRANSFORMS_METADATAINSTRUMENTER_H

#include "Event.h"
#include "SiteTable.h"
#include "llvm/IR/IRBuilder.h"

namespace crsan {

/// Tells the runtime of each event of a function (metadata mode): of accesses
/// before they happen, so that they can be judged whatever becomes of the
/// thread; of what a thread gives to others, before; of what it gets, after.
class MetadataInstrumenter {
public:
  /// Notes the function's events, and changes nothing yet.
  MetadataInstrumenter(llvm::Function &F, SiteTable &Table,
                       llvm::StringRef Kernel);

  /// Emits the calls. `IsLeaky`: see mayLeaveUnnoticed.
  void run(bool IsLeaky);

private:
  struct Step {
    llvm::Instruction *Inst;
    Event What;
    llvm::Constant *Site = nullptr; ///< Of an access.
  };

  void emitBefore(const Step &S);
  void emitAfter(const Step &S);
  llvm::Constant *siteOf(const Step &S);
  llvm::Value *emitAddress(llvm::IRBuilder<> &B, const Place &Where);
  llvm::Value *emitSwapResult(llvm::IRBuilder<> &B, const Step &S);
  void call(llvm::IRBuilder<> &B, llvm::StringRef Name,
            llvm::ArrayRef<llvm::Value *> Arguments);

  llvm::Function &F;
  SiteTable &Table;
  llvm::StringRef Kernel;
  std::vector<Step> Steps;
};

/// True if a thread of some kernel may end, or start a grid, without a word to
/// the runtime.
bool mayLeaveUnnoticed(llvm::Module &M);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_METADATAINSTRUMENTER_H
