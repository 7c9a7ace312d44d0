// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM IR -> PTX.

#include "Emit.h"
#include "ModuleItems.h"
#include "PTX/Printer.h"
#include "Types.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/OptBisect.h"
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

/// The oldest version of PTX that has all that checks need, and the newest that
/// LLVM 22 writes. A newer version means the same by what an older one has.
constexpr unsigned OldestVersion = 78, NewestVersion = 90;
/// The oldest architecture that CRSan works on.
constexpr unsigned OldestArchitecture = 70;

unsigned versionOf(const ptx::Module &From) {
  return From.VersionMajor * 10 + From.VersionMinor;
}

/// What stays as written may need the version that the module has asked for.
std::string withVersion(std::string PTX, unsigned Version) {
  constexpr StringLiteral Directive = ".version ";
  const size_t Begin = PTX.find(Directive) + Directive.size();
  if (Version > NewestVersion)
    PTX.replace(Begin, PTX.find('\n', Begin) - Begin,
                std::to_string(Version / 10) + "." +
                    std::to_string(Version % 10));
  return PTX;
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

/// The code generator's straight-line strength reduction takes time that grows
/// with the square of a block's length, and the compiler that has written the
/// PTX has done its work.
class NoStrengthReduction : public OptPassGate {
public:
  bool shouldRunPass(StringRef Pass, StringRef) const override {
    return Pass != "slsr";
  }
  bool isEnabled() const override { return true; }
};

} // namespace

Expected<std::unique_ptr<TargetMachine>> targetOf(const ptx::Module &From) {
  std::string Error;
  const Target *NVPTX = findTarget(Error);
  if (!NVPTX)
    return fail(Error);
  const StringRef Architecture =
      From.Targets.empty() ? "" : str(From.Targets.front());
  const std::string Features =
      "+ptx" +
      std::to_string(std::clamp(versionOf(From), OldestVersion, NewestVersion));
  const Triple T("nvptx64-nvidia-cuda");
  const std::unique_ptr<MCSubtargetInfo> Known(
      NVPTX->createMCSubtargetInfo(T, "", ""));
  if (!Known->isCPUStringValid(Architecture))
    return fail("the target '", Architecture, "' is not known");
  StringRef Digits = Architecture.drop_front(strlen("sm_"));
  unsigned Number = 0;
  if (!Digits.consumeInteger(10, Number) && Number < OldestArchitecture)
    return fail("the target '", Architecture, "' is older than sm_",
                Twine(OldestArchitecture), ", the oldest that CRSan works on");
  return std::unique_ptr<TargetMachine>(NVPTX->createTargetMachine(
      T, Architecture, Features, TargetOptions(), std::nullopt, std::nullopt,
      CodeGenOptLevel::Default));
}

void setTarget(Module &M, const TargetMachine &Target) {
  for (Function &F : M) {
    F.addFnAttr("target-cpu", Target.getTargetCPU());
    F.addFnAttr("target-features", Target.getTargetFeatureString());
  }
}

Expected<std::string> emit(LiftedModule &Lifted, const ptx::Module &From,
                           TargetMachine &Target) {
  SmallString<0> Text;
  raw_svector_ostream To(Text);
  NoStrengthReduction Gate;
  Lifted.Code->getContext().setOptPassGate(Gate);
  legacy::PassManager Passes;
  if (Target.addPassesToEmitFile(Passes, To, nullptr,
                                 CodeGenFileType::AssemblyFile))
    return fail("LLVM has no printer of PTX");
  Passes.run(*Lifted.Code);
  return withKept(withVersion(std::string(Text), versionOf(From)), Lifted);
}

} // namespace crsan::lift
