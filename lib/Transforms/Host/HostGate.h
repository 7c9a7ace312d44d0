// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gate of host code, and its units.
#ifndef CRSAN_TRANSFORMS_HOST_HOSTGATE_H
#define CRSAN_TRANSFORMS_HOST_HOSTGATE_H

#include "crsan/abi/Host.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#include <string>

namespace crsan {

/// The memory within which accesses are to be checked, as values that were
/// loaded from the gate: addresses from Begin on, less than Begin + Size.
struct GateValues {
  llvm::Value *Begin = nullptr, *Size = nullptr;
};

/// The objects of abi/Host.h in a module.
class HostGate {
public:
  explicit HostGate(llvm::Module &M);

  GateValues load(llvm::IRBuilder<> &B);
  /// Calls the library. Changes few registers, so that what surrounds the call
  /// keeps its own.
  void emitCheck(llvm::IRBuilder<> &B, llvm::Constant *Site,
                 llvm::Value *Address, llvm::Value *Length);

  /// The address of a new site, of which the identity, the size and the kind
  /// are given.
  llvm::Constant *addSite(abi::HostSite Site);
  size_t numSites() const { return Sites.size(); }
  /// Defines the unit, and removes what is not needed where there is no site.
  void emit(const std::string &Table);

private:
  llvm::GlobalVariable *defineGate();
  llvm::Function *defineIgnore();
  llvm::Function *defineCheck();
  llvm::Constant *field(size_t Offset) const;
  template <typename T> T *share(T *Object);

  llvm::Module &M;
  llvm::LLVMContext &C;
  llvm::FunctionType *const CheckType;
  llvm::GlobalVariable *const Gate;
  llvm::Function *const Check;
  llvm::GlobalVariable *const SitesBase; ///< Until their number is known.
  std::vector<abi::HostSite> Sites;
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_HOST_HOSTGATE_H
