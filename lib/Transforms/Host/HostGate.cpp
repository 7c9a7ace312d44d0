// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gate of host code, and its units.

#include "Host/HostGate.h"
#include "crsan/abi/Names.h"
#include "llvm/IR/Constants.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace crsan {

HostGate::HostGate(Module &M)
    : M(M), C(M.getContext()),
      CheckType(FunctionType::get(
          Type::getVoidTy(C),
          {PointerType::get(C, 0), Type::getInt64Ty(C), Type::getInt64Ty(C)},
          /*isVarArg=*/false)),
      Gate(defineGate()), Check(defineCheck()),
      SitesBase(new GlobalVariable(M, Type::getInt8Ty(C), /*isConstant=*/false,
                                   GlobalValue::ExternalLinkage, nullptr)) {}

/// One object of an executable or a shared library, whatever units it is in.
template <typename T> T *HostGate::share(T *Object) {
  Object->setVisibility(GlobalValue::HiddenVisibility);
  Object->setDSOLocal(true);
  Object->setComdat(M.getOrInsertComdat(Object->getName()));
  return Object;
}

/// What the gate calls before the library has said otherwise.
Function *HostGate::defineIgnore() {
  Function *F = share(Function::Create(
      CheckType, GlobalValue::LinkOnceODRLinkage, "__crsan_host_ignore", M));
  F->addFnAttr(Attribute::NoUnwind);
  IRBuilder<>(BasicBlock::Create(C, "", F)).CreateRetVoid();
  return F;
}

GlobalVariable *HostGate::defineGate() {
  Type *I64 = Type::getInt64Ty(C);
  Constant *Zero = ConstantInt::get(I64, 0);
  Constant *Closed = ConstantStruct::getAnon({Zero, Zero, defineIgnore()});
  auto *G = new GlobalVariable(M, Closed->getType(), /*isConstant=*/false,
                               GlobalValue::LinkOnceODRLinkage, Closed,
                               abi::HostGateName);
  G->setAlignment(Align(8));
  return share(G);
}

Constant *HostGate::field(size_t Offset) const {
  return ConstantExpr::getGetElementPtr(
      Type::getInt8Ty(C), Gate, ConstantInt::get(Type::getInt64Ty(C), Offset));
}

/// Calls what the gate says, and keeps the registers of its caller meanwhile.
Function *HostGate::defineCheck() {
  Function *F = share(Function::Create(
      CheckType, GlobalValue::LinkOnceODRLinkage, "__crsan_host_check", M));
  F->setCallingConv(CallingConv::PreserveMost);
  F->addFnAttr(Attribute::NoInline);
  F->addFnAttr(Attribute::Cold);
  F->addFnAttr(Attribute::NoUnwind);
  F->setUWTableKind(UWTableKind::Default);
  IRBuilder<> B(BasicBlock::Create(C, "", F));
  Value *Called =
      B.CreateLoad(B.getPtrTy(), field(offsetof(abi::HostGate, Check)));
  B.CreateCall(CheckType, Called, {F->getArg(0), F->getArg(1), F->getArg(2)});
  B.CreateRetVoid();
  return F;
}

GateValues HostGate::load(IRBuilder<> &B) {
  auto Load = [&](size_t Offset) {
    LoadInst *L = B.CreateLoad(B.getInt64Ty(), field(Offset));
    L->setNoSanitizeMetadata();
    return L;
  };
  return {Load(offsetof(abi::HostGate, Begin)),
          Load(offsetof(abi::HostGate, Size))};
}

void HostGate::emitCheck(IRBuilder<> &B, Constant *Site, Value *Address,
                         Value *Length) {
  CallInst *Call = B.CreateCall(Check, {Site, Address, Length});
  Call->setCallingConv(CallingConv::PreserveMost);
  Call->setDoesNotThrow();
}

Constant *HostGate::addSite(abi::HostSite Site) {
  Sites.push_back(Site);
  return ConstantExpr::getGetElementPtr(
      Type::getInt8Ty(C), SitesBase,
      ConstantInt::get(Type::getInt64Ty(C),
                       (Sites.size() - 1) * sizeof(abi::HostSite)));
}

void HostGate::emit(const std::string &Table) {
  if (Sites.empty()) {
    SitesBase->eraseFromParent();
    for (GlobalObject *Unused :
         {static_cast<GlobalObject *>(Check), static_cast<GlobalObject *>(Gate),
          static_cast<GlobalObject *>(M.getFunction("__crsan_host_ignore"))})
      Unused->eraseFromParent();
    return;
  }
  auto Define = [&](Constant *Value, bool IsConstant) {
    auto *G =
        new GlobalVariable(M, Value->getType(), IsConstant,
                           GlobalValue::PrivateLinkage, Value, "__crsan_host");
    G->setAlignment(Align(8));
    return G;
  };
  std::vector<uint64_t> Words(Sites.size() * sizeof(abi::HostSite) /
                              sizeof(uint64_t));
  std::memcpy(Words.data(), Sites.data(), Words.size() * sizeof(uint64_t));
  GlobalVariable *Array =
      Define(ConstantDataArray::get(C, Words), /*IsConstant=*/false);
  SitesBase->replaceAllUsesWith(Array);
  SitesBase->eraseFromParent();
  Constant *Text = ConstantDataArray::getString(C, Table, /*AddNull=*/false);
  Type *I64 = Type::getInt64Ty(C);
  GlobalVariable *Unit = Define(
      ConstantStruct::getAnon({Define(Text, /*IsConstant=*/true),
                               ConstantInt::get(I64, Table.size()), Array,
                               ConstantInt::get(I64, Sites.size())}),
      /*IsConstant=*/false);
  Unit->setSection(abi::HostUnitsSection);
  // Nothing refers to it by name: the linker is asked to keep it.
  appendToUsed(M, {Unit});
}

} // namespace crsan
