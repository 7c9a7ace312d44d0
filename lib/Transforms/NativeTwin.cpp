// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies of kernels without checks.

#include "NativeTwin.h"
#include "Events/Operands.h"
#include "Polls.h"
#include "crsan/abi/Names.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace crsan {

namespace {

/// Makes the twins of one module whose names begin with `Prefix`.
class Twins {
public:
  Twins(Module &M, StringRef Prefix) : M(M), Prefix(Prefix) {}

  void add(const SetVector<Function *> &Functions) {
    SmallVector<Function *, 8> New;
    for (Function *F : Functions)
      if (!Copies.count(F)) {
        Copies[F] =
            Function::Create(F->getFunctionType(), F->getLinkage(),
                             F->getAddressSpace(), Prefix + F->getName(), &M);
        New.push_back(F);
      }
    for (Function *F : New)
      fill(*F, *cast<Function>(Copies[F]));
  }

private:
  void fill(Function &F, Function &Twin) {
    for (auto [Of, By] : zip(F.args(), Twin.args()))
      Copies[&Of] = &By;
    SmallVector<ReturnInst *, 8> Returns;
    CloneFunctionInto(&Twin, &F, Copies,
                      CloneFunctionChangeType::LocalChangesOnly, Returns);
    Twin.setCallingConv(F.getCallingConv());
    Twin.removeFnAttr(Attribute::SanitizeThread);
    stripDebugInfo(Twin);
    Twin.setComdat(nullptr);
  }

  Module &M;
  const StringRef Prefix;
  ValueToValueMapTy Copies;
};

/// Whether the address of a function is a part of the constant, not only of a
/// variable's value.
bool namesFunction(const Constant &C) {
  if (isa<Function>(C))
    return true;
  return !isa<GlobalVariable>(C) && any_of(C.operands(), [](const Use &Part) {
    const auto *Inner = dyn_cast<Constant>(Part);
    return Inner && namesFunction(*Inner);
  });
}

/// Whether the instruction may have a function executed that is not known here,
/// or lets one be called later.
bool mentionsFunctions(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  if (Call && !Call->isInlineAsm()) {
    const Function *Callee = Call->getCalledFunction();
    if (!Callee || (Callee->isDeclaration() && !Callee->isIntrinsic() &&
                    !isHarmless(*Callee)))
      return true;
  }
  return any_of(I.operands(), [&](const Use &Operand) {
    const auto *C = dyn_cast<Constant>(Operand);
    return C && namesFunction(*C) && !(Call && Call->isCallee(&Operand));
  });
}

/// Whether the twin of a kernel may run in its place: `Functions` are all that
/// the kernel executes.
bool canStandIn(const SetVector<Function *> &Functions) {
  return none_of(Functions, [](const Function *F) {
    return F->hasOptNone() || any_of(instructions(*F), mentionsFunctions);
  });
}

} // namespace

void addNativeTwins(Module &M, const SmallPtrSetImpl<const Function *> &Large,
                    bool AreLaunched) {
  SmallVector<SetVector<Function *>, 4> Launched, Asked;
  for (Function &F : M) {
    if (F.isDeclaration() || !isKernel(F))
      continue;
    SetVector<Function *> Reached = reachableFrom(F);
    const bool IsLaunched = AreLaunched && canStandIn(Reached);
    const bool IsAsked = mayWait(Reached) || Large.contains(&F);
    if (IsAsked)
      M.appendModuleInlineAsm(std::string(abi::AskedTwinComment) +
                              F.getName().str());
    if (IsLaunched)
      Launched.push_back(std::move(Reached));
    else if (IsAsked)
      Asked.push_back(std::move(Reached));
  }
  for (const auto &[Kernels, Prefix] :
       {std::pair(&Launched, abi::TwinPrefix),
        std::pair(&Asked, abi::SpareTwinPrefix)}) {
    Twins All(M, Prefix);
    for (const SetVector<Function *> &Functions : *Kernels)
      All.add(Functions);
  }
}

bool isNativeTwin(const Function &F) { return abi::isNativeTwin(F.getName()); }

} // namespace crsan
