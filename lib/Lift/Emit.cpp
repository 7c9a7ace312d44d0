// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM IR -> PTX.

#include "Emit.h"
#include "ModuleItems.h"
#include "PTX/Printer.h"
#include "Types.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Triple.h"

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

using namespace llvm;

namespace crsan::lift {

namespace {

/// The newest version of PTX that LLVM 22 writes.
constexpr unsigned NewestVersion = 90;

unsigned versionOf(const ptx::Module &From) {
  return From.VersionMajor * 10 + From.VersionMinor;
}

const Target *findTarget(std::string &Error) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  return TargetRegistry::lookupTarget(Triple("nvptx64-nvidia-cuda"), Error);
}

/// Puts the definitions of the kept functions in the place of their
/// declarations, behind all variables.
Expected<std::string> withKept(std::string PTX, const LiftedModule &Lifted) {
  if (Lifted.Kept.empty())
    return PTX;
  StringSet<> Names;
  for (const KeptFunction &K : Lifted.Kept)
    Names.insert(str(K.Of->Name));
  Expected<std::vector<assembler::ModuleItem>> Items =
      assembler::readItems(PTX);
  if (!Items)
    return Items.takeError();
  // Functions may call each other in any order: declarations come first.
  std::string Header, Variables, Declarations, Definitions;
  for (const assembler::ModuleItem &I : *Items) {
    if (I.isCode() && Names.contains(I.Name))
      continue;
    std::string &To = I.What == assembler::ModuleItem::Kind::Header ? Header
                      : !I.isCode() ? (I.Name.empty() ? Definitions : Variables)
                      : I.HasBody   ? Definitions
                                    : Declarations;
    To += (I.Text + "\n").str();
  }
  for (const KeptFunction &K : Lifted.Kept) {
    if (!K.Of->IsKernel) {
      std::string Text = ptx::print(*K.Of);
      Declarations += Text.substr(0, Text.find('{')) + ";\n";
    }
    Definitions += ptx::print(*K.Of) + "\n";
  }
  return Header + Variables + Declarations + Definitions;
}

} // namespace

Expected<std::unique_ptr<TargetMachine>> targetOf(const ptx::Module &From) {
  std::string Error;
  const Target *NVPTX = findTarget(Error);
  if (!NVPTX)
    return fail(Error);
  const StringRef Architecture =
      From.Targets.empty() ? "" : str(From.Targets.front());
  const std::string Features =
      "+ptx" + std::to_string(std::min(versionOf(From), NewestVersion));
  const Triple T("nvptx64-nvidia-cuda");
  const std::unique_ptr<MCSubtargetInfo> Known(
      NVPTX->createMCSubtargetInfo(T, "", ""));
  if (!Known->isCPUStringValid(Architecture))
    return fail("the target '", Architecture, "' is not known");
  return std::unique_ptr<TargetMachine>(NVPTX->createTargetMachine(
      T, Architecture, Features, TargetOptions(), std::nullopt, std::nullopt,
      CodeGenOptLevel::Aggressive));
}

void setTarget(Module &M, const TargetMachine &Target) {
  for (Function &F : M) {
    F.addFnAttr("target-cpu", Target.getTargetCPU());
    F.addFnAttr("target-features", Target.getTargetFeatureString());
  }
}

Expected<std::string> emit(LiftedModule &Lifted, const ptx::Module &From,
                           TargetMachine &Target) {
  setTarget(*Lifted.Code, Target);
  SmallString<0> Text;
  raw_svector_ostream To(Text);
  legacy::PassManager Passes;
  if (Target.addPassesToEmitFile(Passes, To, nullptr,
                                 CodeGenFileType::AssemblyFile))
    return fail("LLVM has no printer of PTX");
  Passes.run(*Lifted.Code);
  return withKept(std::string(Text), Lifted);
}

} // namespace crsan::lift
