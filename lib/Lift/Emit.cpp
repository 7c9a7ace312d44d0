// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM IR -> PTX.

#include "Emit.h"
#include "ModuleItems.h"
#include "PTX/Printer.h"
#include "Shares.h"
#include "Types.h"
#include "crsan/abi/Names.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Triple.h"
#include <utility>

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
/// The names of the device runtime's functions begin with it.
constexpr StringLiteral RuntimePrefix = "__crsan_";

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
  // What crsan-ptxas is told of the functions.
  for (const StringRef Line : split(PTX, '\n'))
    if (Line.starts_with(abi::NotePrefix))
      Header += (Line + "\n").str();
  for (const KeptFunction &K : Lifted.Kept) {
    if (!K.Of->IsKernel) {
      std::string Text = ptx::print(*K.Of);
      Declarations += Text.substr(0, Text.find('{')) + ";\n";
    }
    Definitions += ptx::print(*K.Of) + "\n";
  }
  return Header + Variables + Declarations + Definitions;
}

/// In the code generator, reducing the strength of arithmetic and reassociating
/// it take time that grows with the square of a block's length. The compiler
/// that has written the PTX has done both for the program's functions.
class NoReassociation : public OptPassGate {
public:
  bool shouldRunPass(StringRef Pass, StringRef Of) const override {
    // What is common has been found in front of the reassociation.
    const bool IsBehind = std::exchange(IsLeftOut, false);
    if (Pass == "early-cse")
      return !IsBehind;
    IsLeftOut = Pass == "nary-reassociate" && !Of.contains(RuntimePrefix);
    return Pass != "slsr" && !IsLeftOut;
  }
  bool isEnabled() const override { return true; }

private:
  mutable bool IsLeftOut = false; ///< The reassociation, just now.
};

/// For each argument of a call of a local function, the code generator looks
/// through the function's uses for one that is no call, since aggregates are
/// aligned for vectors where there is none. Checks call the runtime very often.
/// Here the first use of its functions is no call, and the alignment is given.
/// A structure in memory cannot be given it: functions with such parameters,
/// which checks do not call, stay as they are. Returns the functions that were
/// changed: no call of them depends on their other uses.
SmallPtrSet<const Function *, 32> shortenSearch(Module &M) {
  LLVMContext &C = M.getContext();
  const auto Aligned = Attribute::getWithStackAlignment(C, Align(16));
  SmallPtrSet<const Function *, 32> Changed;
  for (Function &F : M) {
    if (!F.hasLocalLinkage() || !F.getName().starts_with(RuntimePrefix) ||
        F.hasAddressTaken(nullptr, /*IgnoreCallbackUses=*/false,
                          /*IgnoreAssumeLikeCalls=*/true,
                          /*IngoreLLVMUsed=*/true) ||
        any_of(F.args(), [](const Argument &A) { return A.hasByValAttr(); }))
      continue;
    if (F.getReturnType()->isAggregateType())
      F.addRetAttr(Aligned);
    for (Argument &A : F.args())
      if (A.getType()->isAggregateType())
        A.addAttr(Aligned);
    // Nothing uses the constant. The use that was added last is the first.
    ConstantExpr::getPtrToInt(&F, Type::getInt64Ty(C));
    Changed.insert(&F);
  }
  return Changed;
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
  NoReassociation Gate;
  Module &M = *Lifted.Code;
  M.getContext().setOptPassGate(Gate);
  const SmallPtrSet<const Function *, 32> OfRuntime = shortenSearch(M);
  bool HasPrinter = true;
  auto Compile = [&] {
    SmallString<0> Text;
    raw_svector_ostream To(Text);
    legacy::PassManager Passes;
    HasPrinter = !Target.addPassesToEmitFile(Passes, To, nullptr,
                                             CodeGenFileType::AssemblyFile);
    if (HasPrinter)
      Passes.run(M);
    return std::string(Text);
  };
  std::optional<std::string> Text = compileInShares(
      M, [&](const Function &F) { return OfRuntime.contains(&F); }, Compile);
  if (!Text)
    Text = Compile();
  if (!HasPrinter)
    return fail("LLVM has no printer of PTX");
  return withKept(withVersion(std::move(*Text), versionOf(From)), Lifted);
}

} // namespace crsan::lift
