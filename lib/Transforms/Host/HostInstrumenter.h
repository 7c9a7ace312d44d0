// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emitting the checks of a host function.
#ifndef CRSAN_TRANSFORMS_HOST_HOSTINSTRUMENTER_H
#define CRSAN_TRANSFORMS_HOST_HOSTINSTRUMENTER_H

#include "Events/Event.h"
#include "Host/LoopVersions.h"
#include "Sites/SiteTableWriter.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/PassManager.h"

namespace crsan {

/// The events of a load, a store, a copy or a fill of host code: its weak
/// accesses, unless it is atomic or volatile or accesses memory that no GPU can
/// reach.
Events hostEventsOf(const llvm::Instruction &I);

/// Instruments one function: in front of each weak access, a test in line asks
/// the gate, and calls the library where a GPU may be working.
class HostInstrumenter {
public:
  HostInstrumenter(llvm::Function &F, SiteTableWriter &Table, HostGate &Gate,
                   llvm::FunctionAnalysisManager &FAM)
      : F(F), Table(Table), Gate(Gate), FAM(FAM) {}

  void run();

private:
  void plan();
  void addPlainCopies();
  LoopBases basesOf(const llvm::Loop &L, llvm::ScalarEvolution &SE);
  void instrument(llvm::BasicBlock &BB);
  void emitCheck(llvm::Instruction &I, const Access &A, const GateValues &Now);

  llvm::Function &F;
  SiteTableWriter &Table;
  HostGate &Gate;
  llvm::FunctionAnalysisManager &FAM;
  using Checked = llvm::SmallVector<Access, 2>;
  llvm::DenseMap<const llvm::Instruction *, Checked> Accesses;
  llvm::SmallSetVector<llvm::BasicBlock *, 16> Blocks; ///< That have some.
  /// Blocks of loops that know the gate's values.
  llvm::DenseMap<const llvm::BasicBlock *, GateValues> Known;
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_HOST_HOSTINSTRUMENTER_H
