// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which iterations threads come to a __syncthreads() in a loop.
//
// All threads of a block have to come to a __syncthreads() in the same
// iterations of the loops around it. LLVM unrolls loops, so iterations are
// counted before: CountIterationsPass hands each such barrier the number of the
// iteration of each loop, as an operand bundle, which all copies of the barrier
// inherit, and in which LLVM computes as with any other value. At the end of
// the pipeline tellIterations() makes one number of them and tells it in front
// of the barrier, as an annotation (ptx::Annotation), which is no code for a
// GPU.
//
// Only counted loops are looked at: their number of iterations is the same for
// all threads, and known when the kernel begins. In a loop that ends by what
// memory holds, threads may well come to a barrier together that have polled a
// different number of times; and in a loop that each warp begins elsewhere, the
// first iteration of one is not the first of another.
#ifndef CRSAN_TRANSFORMS_ITERATIONS_H
#define CRSAN_TRANSFORMS_ITERATIONS_H

#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/PassManager.h"

namespace llvm {
class Instruction;
class LPMUpdater;
class Value;
} // namespace llvm

namespace crsan {

/// Gives each __syncthreads() of a loop the number of the loop's iteration.
class CountIterationsPass : public llvm::PassInfoMixin<CountIterationsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Loop &L, llvm::LoopAnalysisManager &,
                              llvm::LoopStandardAnalysisResults &Results,
                              llvm::LPMUpdater &);
  static bool isRequired() { return true; }
};

/// Tells the number of the iteration in front of each __syncthreads() of a
/// kernel to which threads may come in different ones, and takes the bundles of
/// CountIterationsPass away.
void tellIterations(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

/// The number told in front of a barrier, of 32 bits. Null: none is.
llvm::Value *iterationAt(const llvm::Instruction &Barrier);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_ITERATIONS_H
