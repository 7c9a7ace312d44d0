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

/// Makes the twins of one module.
class Twins {
public:
  explicit Twins(Module &M) : M(M) {}

  void add(const SetVector<Function *> &Functions) {
    SmallVector<Function *, 8> New;
    for (Function *F : Functions)
      if (!Copies.count(F)) {
        auto *Twin = Function::Create(F->getFunctionType(), F->getLinkage(),
                                      F->getAddressSpace(),
                                      abi::TwinPrefix + F->getName(), &M);
        Copies[F] = Twin;
        New.push_back(F);
      }
    for (Function *F : New)
      fill(*F, *cast<Function>(Copies[F]));
  }

private:
  void fill(Function &F, Function &Twin) {
    for (Instruction &I : instructions(F))
      for (Value *Operand : I.operands())
        if (auto *C = dyn_cast<Constant>(Operand))
          standIn(*C);
    for (auto [Of, By] : zip(F.args(), Twin.args()))
      Copies[&Of] = &By;
    SmallVector<ReturnInst *, 8> Returns;
    CloneFunctionInto(&Twin, &F, Copies,
                      CloneFunctionChangeType::DifferentModule, Returns);
    Twin.setCallingConv(F.getCallingConv());
    Twin.removeFnAttr(Attribute::SanitizeThread);
    stripDebugInfo(Twin);
    Twin.setComdat(nullptr);
  }

  /// Variables that `C` mentions get stand-ins of the same size, so that what
  /// is proved of the program's own stays true.
  void standIn(Constant &C) {
    if (isa<Function>(C) || !Seen.insert(&C).second)
      return;
    if (auto *G = dyn_cast<GlobalVariable>(&C)) {
      Type *T = G->getValueType();
      // Internal, or the code generator would leave dots in its name.
      auto *Copy =
          new GlobalVariable(M, T, /*isConstant=*/false,
                             G->isDeclaration() ? GlobalValue::ExternalLinkage
                                                : GlobalValue::InternalLinkage,
                             G->isDeclaration() ? nullptr : UndefValue::get(T),
                             abi::TwinPrefix + G->getName(), nullptr,
                             GlobalValue::NotThreadLocal, G->getAddressSpace());
      Copy->setAlignment(G->getAlign());
      Copies[G] = Copy;
      return;
    }
    for (Value *Operand : C.operands())
      if (auto *Part = dyn_cast<Constant>(Operand))
        standIn(*Part);
  }

  Module &M;
  ValueToValueMapTy Copies;
  SmallPtrSet<Constant *, 16> Seen;
};

} // namespace

void addNativeTwins(Module &M, const SmallPtrSetImpl<const Function *> &Large) {
  SmallVector<SetVector<Function *>, 4> Found;
  for (Function &F : M) {
    if (F.isDeclaration() || !isKernel(F))
      continue;
    SetVector<Function *> Reached = reachableFrom(F);
    if (mayWait(Reached) || Large.contains(&F))
      Found.push_back(std::move(Reached));
  }
  Twins All(M);
  for (const SetVector<Function *> &Functions : Found)
    All.add(Functions);
}

bool isNativeTwin(const Function &F) {
  return F.getName().starts_with(abi::TwinPrefix);
}

} // namespace crsan
