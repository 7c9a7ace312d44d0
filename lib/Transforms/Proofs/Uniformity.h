// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What threads have in common.
#ifndef CRSAN_TRANSFORMS_PROOFS_UNIFORMITY_H
#define CRSAN_TRANSFORMS_PROOFS_UNIFORMITY_H

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"

namespace crsan {

enum class ThreadGroup { Block, Grid };

/// The values of a kernel that are the same for all threads of a group, each
/// time that they come to them: computed from the kernel's parameters, the
/// launch and, in a block, its place alone. (LLVM's UniformityInfo is about
/// warps.) What is loaded is not, for another thread may change it meanwhile,
/// unless it is one of given loads.
class Uniformity {
public:
  using Loads = llvm::SmallPtrSet<const llvm::Instruction *, 4>;

  /// \p Common: loads that give all threads which load from one address the
  /// same value each time that they come to them.
  Uniformity(const llvm::Function &Kernel, ThreadGroup Among,
             const llvm::PostDominatorTree &PDT, const llvm::LoopInfo &Loops,
             const Loads &Common = {});

  bool isUniform(const llvm::Value *V) const { return !Varying.contains(V); }
  /// Uniform, and the same whenever it is looked at.
  bool isConstant(const llvm::Value *V) const;

  const ThreadGroup Among;

private:
  void add(const llvm::Value &V);
  void split(const llvm::BasicBlock &BB);

  const llvm::PostDominatorTree &PDT;
  const llvm::LoopInfo &Loops;
  llvm::DenseSet<const llvm::Value *> Varying;
  llvm::DenseSet<const llvm::BasicBlock *> Split; ///< Threads part at its end.
  llvm::SmallVector<const llvm::Value *> Pending;
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_PROOFS_UNIFORMITY_H
