// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime linked into each module.

#include "DeviceRuntime.h"
#include "crsan/abi/Names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/InstSimplifyPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <map>

using namespace llvm;

namespace crsan {

// Built from runtime/device by CMake, so that plugin and runtime never differ.
alignas(4) static const unsigned char Bitcode[] = {
#embed "crsan_device.bc"
};

CallInst *callRuntime(IRBuilder<> &B, StringRef Name,
                      ArrayRef<Value *> Arguments) {
  Function *Entry = B.GetInsertBlock()->getModule()->getFunction(Name);
  if (!Entry)
    report_fatal_error("CRSan: the device runtime has no " + Name);
  CallInst *Call = B.CreateCall(Entry, Arguments);
  Call->setConvergent();
  return Call;
}

CallInst *emitAssembly(IRBuilder<> &B, Type *Result, StringRef Text,
                       StringRef Constraints, ArrayRef<Value *> Operands) {
  SmallVector<Type *, 4> Types;
  for (Value *V : Operands)
    Types.push_back(V->getType());
  auto *T = FunctionType::get(Result, Types, false);
  return B.CreateCall(
      InlineAsm::get(T, Text, Constraints, /*hasSideEffects=*/true), Operands);
}

std::unique_ptr<DeviceRuntime> DeviceRuntime::declareIn(Module &M) {
  LLVMContext &C = M.getContext();
  const StringRef Bytes(reinterpret_cast<const char *>(Bitcode),
                        sizeof(Bitcode));
  Expected<std::unique_ptr<Module>> Runtime =
      parseBitcodeFile(MemoryBufferRef(Bytes, "crsan device runtime"), C);
  if (!Runtime) {
    C.emitError("CRSan: cannot read the device runtime (" +
                toString(Runtime.takeError()) +
                "); this plugin works with LLVM 22 only");
    return nullptr;
  }
  for (const Function &F : **Runtime)
    if (!F.isDeclaration() && F.hasExternalLinkage())
      cast<Function>(
          M.getOrInsertFunction(F.getName(), F.getFunctionType()).getCallee())
          ->setConvergent();
  return std::unique_ptr<DeviceRuntime>(
      new DeviceRuntime(M, std::move(*Runtime)));
}

/// Makes the runtime one with the module that it is linked into.
void DeviceRuntime::prepare() {
  // The runtime is compiled for the oldest GPU that is supported and contains
  // nothing that newer ones lack; each module keeps its own target.
  Runtime->setTargetTriple(M.getTargetTriple());
  Runtime->setDataLayout(M.getDataLayout());
  for (Function &F : *Runtime) {
    F.removeFnAttr("target-cpu");
    F.removeFnAttr("target-features");
  }
  // By this prefix the assembler's wrapper knows the runtime (lib/PTX).
  for (GlobalValue &GV : Runtime->global_values())
    if (!GV.getName().starts_with("__crsan_") &&
        !GV.getName().starts_with("llvm."))
      GV.setName("__crsan_" + GV.getName());
  // What the host may initialise is never made internal, and units of one
  // program (-fgpu-rdc) would define it twice.
  for (GlobalVariable &GV : Runtime->globals())
    if (GV.getName() != abi::ConfigName)
      GV.setExternallyInitialized(false);
  if (NamedMDNode *Flags = Runtime->getModuleFlagsMetadata())
    Flags->eraseFromParent();
  // `used` keeps the entry points in the runtime's own bitcode; here it would
  // bring in all of them, where the host looks for the configuration alone.
  for (StringRef Used : {"llvm.used", "llvm.compiler.used"})
    if (GlobalVariable *GV = Runtime->getNamedGlobal(Used))
      GV->eraseFromParent();
}

namespace {

/// Copies of the checks in line, each for constant arguments. The module's own
/// code is past its optimisations, so a copy is optimised by itself before it
/// is inlined.
class Specialiser {
public:
  explicit Specialiser(FunctionAnalysisManager &FAM) : FAM(FAM) {
    Simplify.addPass(SROAPass(SROAOptions::ModifyCFG));
    Simplify.addPass(EarlyCSEPass());
    Simplify.addPass(InstSimplifyPass());
    Simplify.addPass(SimplifyCFGPass());
    Simplify.addPass(EarlyCSEPass());
    Simplify.addPass(ADCEPass());
  }

  void inlineCall(CallInst &Call) {
    Call.setCalledFunction(copyFor(Call));
    InlineFunctionInfo Info;
    if (!InlineFunction(Call, Info).isSuccess())
      report_fatal_error("CRSan: a check in line cannot be inlined");
  }
  void finish() {
    for (auto &[Key, Copy] : Copies)
      if (Copy != Key.first) {
        FAM.clear(*Copy, Copy->getName());
        Copy->eraseFromParent();
      }
  }

private:
  /// Clang takes all assembly for convergent. What has no effect is not, and
  /// its result may be used again in later blocks.
  static void allowReuse(Function &F) {
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallInst>(&I))
        if (auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand());
            Asm && !Asm->hasSideEffects())
          Call->setNotConvergent();
  }

  Function *copyFor(const CallInst &Call) {
    Function *Of = Call.getCalledFunction();
    SmallVector<ConstantInt *> Constants;
    for (Value *Argument : Call.args())
      Constants.push_back(dyn_cast<ConstantInt>(Argument));
    auto [It, IsNew] =
        Copies.try_emplace({Of, {Constants.begin(), Constants.end()}});
    if (IsNew) {
      ValueToValueMapTy Map;
      Function *Copy = CloneFunction(Of, Map);
      for (auto [Parameter, Value] : zip(Copy->args(), Constants))
        if (Value)
          Parameter.replaceAllUsesWith(Value);
      allowReuse(*Copy);
      Simplify.run(*Copy, FAM);
      It->second = Copy;
    }
    return It->second;
  }

  FunctionAnalysisManager &FAM;
  FunctionPassManager Simplify;
  std::map<std::pair<Function *, std::vector<ConstantInt *>>, Function *>
      Copies;
};

} // namespace

/// Inlines all calls of checks in line.
static void inlineChecks(Module &M, FunctionAnalysisManager &FAM) {
  SmallVector<CallInst *> Calls;
  SmallVector<Function *> Checks;
  for (Function &F : M)
    if (F.getName().starts_with(InLinePrefix)) {
      Checks.push_back(&F);
      for (User *U : F.users())
        Calls.push_back(cast<CallInst>(U));
    }
  Specialiser Copies(FAM);
  for (CallInst *Call : Calls)
    Copies.inlineCall(*Call);
  Copies.finish();
  for (Function *F : Checks)
    F->eraseFromParent();
}

/// The linker takes the runtime's structures for those of the module that have
/// the same elements. A call made before that has the types of then.
static void adaptCalls(Module &M) {
  for (Function &F : M)
    for (User *U : F.users())
      if (auto *Call = dyn_cast<CallInst>(U);
          Call && F.getName().starts_with("__crsan_") &&
          Call->getCalledOperand() == &F)
        Call->mutateFunctionType(F.getFunctionType());
}

/// Small functions that most modules need in metadata mode. All get them: then
/// most modules have the same runtime, and crsan-ptxas finds it in its cache
/// (lib/Assembler/RuntimeSplit.h).
static constexpr StringLiteral Usual[] = {
    OwnersName,    OwnerName,           SeekExemptionsName, NoteExemptionsName,
    PagesFromName, CountProvenCallName, DrawName,           SnapshotName};
/// The same of modules that have checks in line.
static constexpr StringLiteral UsualOfChecks[] = {ReadCheckName,
                                                  WriteCheckName};

bool DeviceRuntime::link(FunctionAnalysisManager &FAM) {
  LLVMContext &C = M.getContext();
  auto IsUsed = [&](StringRef Name) {
    return !M.getFunction(Name)->use_empty();
  };
  SmallVector<StringRef> Wanted;
  if (IsUsed(EnterName))
    append_range(Wanted, Usual);
  if (any_of(UsualOfChecks, IsUsed))
    append_range(Wanted, UsualOfChecks);
  for (const Function &F : *Runtime)
    if (Function *Declared = M.getFunction(F.getName());
        Declared && Declared->isDeclaration() && Declared->use_empty() &&
        F.hasExternalLinkage() && !F.isIntrinsic() &&
        !is_contained(Wanted, F.getName()))
      Declared->eraseFromParent();
  prepare();
  const GlobalVariable &Config = *Runtime->getNamedGlobal(abi::ConfigName);
  M.getOrInsertGlobal(abi::ConfigName, Config.getValueType(), [&] {
    return new GlobalVariable(
        M, Config.getValueType(), Config.isConstant(),
        GlobalValue::ExternalLinkage, nullptr, abi::ConfigName, nullptr,
        GlobalValue::NotThreadLocal, Config.getAddressSpace());
  });
  const bool Failed =
      Linker::linkModules(M, std::move(Runtime), Linker::Flags::LinkOnlyNeeded,
                          [](Module &Into, const StringSet<> &Linked) {
                            internalizeModule(Into, [&](const GlobalValue &GV) {
                              return GV.getName() == abi::ConfigName ||
                                     GV.getName() == PermutationsName ||
                                     !GV.hasName() ||
                                     !Linked.contains(GV.getName());
                            });
                          });
  if (Failed) {
    C.emitError("CRSan: cannot link the device runtime");
    return false;
  }
  adaptCalls(M);
  inlineChecks(M, FAM);
  SmallVector<GlobalValue *> Kept = {M.getNamedGlobal(abi::ConfigName)};
  for (StringRef Name : Wanted)
    Kept.push_back(M.getFunction(Name));
  appendToCompilerUsed(M, Kept);
  return true;
}

} // namespace crsan
