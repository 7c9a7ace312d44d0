// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pass.

#include "CudaRaceSanitizer.h"
#include "ClusterDims.h"
#include "Collider/BlockShuffle.h"
#include "Collider/ColliderInstrumenter.h"
#include "Collider/HeapReuse.h"
#include "Collider/ProductWatches.h"
#include "Collider/UnorderedBlocks.h"
#include "DeviceRuntime.h"
#include "Events/DeclaredEffects.h"
#include "Events/Operands.h"
#include "Host/HostRacePass.h"
#include "Iterations.h"
#include "Metadata/MetadataInstrumenter.h"
#include "Metadata/ModuleEvents.h"
#include "Metadata/Unroll.h"
#include "NativeTwin.h"
#include "OptimizerSettings.h"
#include "Polls.h"
#include "Proofs/KnownAddresses.h"
#include "Proofs/NeededLoads.h"
#include "RegisterNeed.h"
#include "Sites/LineMarks.h"
#include "Sites/Omission.h"
#include "Sites/SiteTableWriter.h"
#include "Sites/SourcePlace.h"
#include "WholeProgram.h"
#include "crsan/abi/Check.h"
#include "crsan/abi/Names.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SpecialCaseList.h"
#include "llvm/Support/VirtualFileSystem.h"

using namespace llvm;

#if LLVM_VERSION_MAJOR != 22
#error "CRSan is a plugin for LLVM 22 and no other version"
#endif

namespace crsan {

namespace {

constexpr StringLiteral Section = "cuda-race";

bool isDeviceModule(const Module &M) { return M.getTargetTriple().isNVPTX(); }

/// Names the only kernel of `M` that can reach `F`, "" if several or unknown.
/// A function that other modules can call may run in their kernels.
class KernelOf {
public:
  explicit KernelOf(Module &M) {
    for (Function &F : M)
      if (isKernel(F))
        reach(F, F);
  }
  StringRef operator[](const Function &F) const {
    if (isKernel(F))
      return F.getName();
    const Function *Kernel = F.hasLocalLinkage() ? Kernels.lookup(&F) : nullptr;
    return Kernel ? Kernel->getName() : "";
  }

private:
  void reach(Function &F, Function &Kernel) {
    for (Instruction &I : instructions(F)) {
      auto *Call = dyn_cast<CallBase>(&I);
      Function *Callee = Call ? Call->getCalledFunction() : nullptr;
      if (!Callee || Callee->isDeclaration())
        continue;
      auto [It, New] = Kernels.try_emplace(Callee, &Kernel);
      if (!New && (!It->second || It->second == &Kernel))
        continue;
      if (!New)
        It->second = nullptr; // Several.
      reach(*Callee, Kernel);
    }
  }
  DenseMap<const Function *, const Function *> Kernels;
};

std::unique_ptr<SpecialCaseList> loadIgnoreLists(const Options &Opts,
                                                 LLVMContext &C) {
  if (Opts.IgnoreLists.empty())
    return nullptr;
  std::string Error;
  auto List = SpecialCaseList::create(Opts.IgnoreLists,
                                      *vfs::getRealFileSystem(), Error);
  if (!List)
    C.emitError("CRSan: ignore list: " + Error);
  return List;
}

bool isIgnored(const Function &F, const SpecialCaseList *List) {
  if (F.hasFnAttribute(Attribute::DisableSanitizerInstrumentation))
    return true;
  if (!List)
    return false;
  StringRef Source = F.getParent()->getSourceFileName();
  if (const DISubprogram *S = F.getSubprogram())
    Source = S->getFilename();
  return List->inSection(Section, "fun", F.getName()) ||
         List->inSection(Section, "src", Source) ||
         List->inSection(Section, "src", F.getParent()->getSourceFileName());
}

/// Dynamic parallelism: a kernel whose threads have all ended may still have
/// grids of its own to wait for.
bool startsGrids(const Module &M) {
  return any_of(M, [](const Function &F) {
    return F.getName().starts_with("cudaLaunchDevice") ||
           F.getName().starts_with("cudaGetParameterBuffer");
  });
}

/// Whether the linker cannot tell how much stack a kernel of `M` takes.
bool hasUnknownStack(Module &M) {
  for (const Function &F : M)
    for (const Instruction &I : instructions(F))
      if (const auto *Call = dyn_cast<CallBase>(&I);
          Call && Call->isIndirectCall())
        return true;
  CallGraph Calls(M);
  for (auto Cycle = scc_begin(&Calls); !Cycle.isAtEnd(); ++Cycle)
    if (Cycle.hasCycle() && any_of(*Cycle, [](const CallGraphNode *Node) {
          const Function *F = Node->getFunction();
          return F && !F->isDeclaration();
        }))
      return true;
  return false;
}

/// Functions that may wait for what is done by others than their kernel's
/// threads, and those that came before the kernel.
struct WaitingFunctions {
  KernelSet Kernels;
  bool AreOthers = false; ///< Functions that other units may call.

  explicit WaitingFunctions(Module &M) {
    for (Function &F : M) {
      const bool IsCalled = isKernel(F) || hasCallersElsewhere(F);
      if (F.isDeclaration() || !IsCalled || !mayWait(reachableFrom(F)))
        continue;
      if (isKernel(F))
        Kernels.insert(&F);
      else
        AreOthers = true;
    }
  }
};

/// What the collider leaves out: it looks into no function that is exempt.
void noteOmissions(
    ArrayRef<Function *> Functions, ArrayRef<Function *> Exempt,
    function_ref<OptimizationRemarkEmitter &(Function &)> RemarksOf,
    Omissions &Omitted) {
  for (Function *F : Functions) {
    const bool WatchesProducts = watchesProducts(*F);
    for (Instruction &I : instructions(*F))
      if (const Events All = eventsOf(I);
          !WatchesProducts || !All.has<OperandRead>())
        Omitted.note(I, All.ByCollider, RemarksOf(*F));
  }
  for (Function *F : Exempt)
    for (Instruction &I : instructions(*F)) {
      const Events All = eventsOf(I);
      if (All.ByCollider == Skip::Ignored || isOmission(All.ByCollider) ||
          !checkedByCollider(I, All).empty())
        Omitted.note(I, Skip::Ignored, RemarksOf(*F));
    }
}

/// Lists the __syncthreads() of a function: PTX does not tell them from
/// barriers in inline assembly.
void noteBarriers(const Function &F, StringRef Kernel, SiteTableWriter &Table) {
  for (const Instruction &I : instructions(F))
    if (isSyncThreads(I) && sourcePlace(I.getDebugLoc()))
      Table.addBarrierPlace(I, Kernel);
}

/// Rule 2: a load that may have been speculated is not checked.
void unmarkSpeculatedLoads(Function &F, FunctionAnalysisManager &Analyses) {
  const auto &Dominators = Analyses.getResult<DominatorTreeAnalysis>(F);
  NeededLoads Needed(Dominators);
  KnownAddresses Addresses(F, Analyses.getResult<ScalarEvolutionAnalysis>(F),
                           Dominators);
  for (Instruction &I : instructions(F))
    if (auto *Load = dyn_cast<LoadInst>(&I);
        Load && !Needed.isNeeded(*Load) &&
        (Addresses.isKnown(*Load) || !NeededLoads::usesAllElements(*Load)))
      Load->setMetadata(LLVMContext::MD_access_group, nullptr);
}

} // namespace

PreservedAnalyses MarkAccessesPass::run(Module &M,
                                        ModuleAnalysisManager &Analyses) {
  const bool IsHost = !isDeviceModule(M);
  if (IsHost && !Opts.Host)
    return PreservedAnalyses::all();
  if (!Opts.IsOptimised)
    adjustOptimizer(M.getContext(), IsHost);
  if (!IsHost)
    setClusterDims(M);
  const std::unique_ptr<SpecialCaseList> List =
      loadIgnoreLists(Opts, M.getContext());
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    if (isIgnored(F, List.get()))
      ignoreAccesses(F);
    else
      markAccesses(F);
    if (Opts.IsOptimised)
      unmarkSpeculatedLoads(
          F, Analyses.getResult<FunctionAnalysisManagerModuleProxy>(M)
                 .getManager());
    if (IsHost) {
      keepLoadsInPlace(F);
      continue;
    }
    declareEffects(F);
    // The collider leaves the user's code as it is.
    if (Opts.Mode == Mode::Collider)
      markLegacyUpdates(F);
    else
      relaxLegacyAtomics(F);
    // Keeps LLVM from speculating loads where it asks. Where it does not ask,
    // the mark is lost.
    F.addFnAttr(Attribute::SanitizeThread);
  }
  return PreservedAnalyses::none();
}

PreservedAnalyses CudaRaceSanitizerPass::run(Module &M,
                                             ModuleAnalysisManager &MAM) {
  if (!isDeviceModule(M))
    return PreservedAnalyses::all();
  hastenCodeGenerator();
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  if (Opts.IsWholeProgram)
    dropUncalled(M, FAM);
  alignVariables(M, Opts.IsWholeProgram);
  const bool HasCollider = Opts.Mode != Mode::Metadata;
  const bool HasMetadata = Opts.Mode != Mode::Collider;
  const WaitingFunctions Waiting(M);
  DenseMap<const Function *, uint8_t> Unordered; // abi::SiteFlags
  if (HasCollider)
    for (Function &F : M)
      if (!F.isDeclaration() && hasUnorderedBlocks(F))
        Unordered[&F] =
            abi::RacesAnyTime | (hasOwnBarriers(F) ? abi::RacesInInterval : 0);
  const uint32_t Flags =
      (!HasCollider || dependsOnBlockOrder(M) ? abi::NoShuffle : 0) |
      (HasCollider ? abi::HasCollider : 0) |
      (HasMetadata ? abi::HasMetadata : 0) |
      (hasUnknownStack(M) ? abi::UnknownStack : 0) |
      (Waiting.AreOthers ? abi::MayWait : 0);

  const std::unique_ptr<DeviceRuntime> Runtime = DeviceRuntime::declareIn(M);
  if (!Runtime)
    return PreservedAnalyses::none();
  // Checks of metadata mode are faster with more registers than with more
  // warps. Functions of other units may take more than few.
  addNativeTwins(
      M, tellRegisterNeeds(M, /*OfFew=*/!HasMetadata && Opts.IsWholeProgram),
      /*AreLaunched=*/!HasMetadata);
  SmallVector<Function *, 16> Functions, Exempt;
  for (Function &F : M) {
    F.removeFnAttr(Attribute::SanitizeThread);
    removeLineMarks(F);
    if (F.isDeclaration() || isNativeTwin(F))
      continue;
    (F.hasFnAttribute(Attribute::DisableSanitizerInstrumentation) ? Exempt
                                                                  : Functions)
        .push_back(&F);
  }
  SiteTableWriter Table(M);
  const KernelOf Kernel(M);
  auto RemarksOf = [&](Function &F) -> OptimizationRemarkEmitter & {
    return FAM.getResult<OptimizationRemarkEmitterAnalysis>(F);
  };
  for (Function *F : Functions)
    noteBarriers(*F, Kernel[*F], Table);
  // ptxas takes checks of metadata mode for polls.
  if (HasMetadata)
    for (Function *F : Functions)
      if (isWaitless(*F))
        M.appendModuleInlineAsm(std::string(abi::WaitlessComment) +
                                F->getName().str());
  Omissions Omitted;
  // What there is to follow is noted before the collider adds its own code, so
  // that neither takes the other's for the user's. Exempt functions synchronise
  // like others.
  if (HasMetadata)
    for (Function *F : Functions)
      unrollForChecks(*F, FAM);
  for (Function &F : M)
    tellIterations(F, FAM);
  std::vector<MetadataInstrumenter> Followed;
  ModuleEvents Events;
  uint32_t Entering = startsGrids(M) ? abi::EnterLeaky : 0;
  if (HasMetadata)
    for (Function *F : concat<Function *>(Functions, Exempt)) {
      Followed.emplace_back(*F, Table, Kernel[*F], FAM);
      Omitted += Followed.back().omissions();
      Followed.back().note(Events);
      Entering |= Followed.back().mayLeave() ? abi::EnterLeaky : 0;
    }
  else
    noteOmissions(Functions, Exempt, RemarksOf, Omitted);
  if (HasCollider) {
    for (Function *F : Functions)
      ColliderInstrumenter(*F, Table, Kernel[*F], Unordered.lookup(F), FAM)
          .run(/*MayCopy=*/!HasMetadata);
    for (Function *F : concat<Function *>(Functions, Exempt))
      orderHeapReuse(*F);
    shuffleBlocks(M);
  }
  if (Events.HasUnknown)
    Entering |= abi::EnterOpaque;
  for (MetadataInstrumenter &I : Followed)
    I.run(Entering, Events);
  if (Runtime->link(FAM)) {
    defineClusterReads(M);
    for (const Omissions::Entry &O : Omitted.List)
      Table.addOmission(O.Location, *O.F, Kernel[*O.F], O.Why);
    Table.emit(Flags, Waiting.Kernels, Omitted.Unchecked, Omitted.Exempt);
  }
  return PreservedAnalyses::none();
}

} // namespace crsan
