// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Descriptors of the checked accesses.

#include "Sites/SiteTableWriter.h"
#include "Events/Operands.h"
#include "NativeTwin.h"
#include "Sites/PlainUpdate.h"
#include "crsan/abi/Names.h"
#include "crsan/abi/Version.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/xxhash.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace crsan {

namespace {

uint64_t mix(uint64_t Hash, uint64_t Value) {
  const uint64_t Words[] = {Hash, Value};
  return xxh3_64bits(ArrayRef(reinterpret_cast<const uint8_t *>(Words), 16));
}

uint64_t mix(uint64_t Hash, StringRef Text) {
  return mix(Hash, xxh3_64bits(Text));
}

/// The bytes of the objects, as 64-bit words.
template <typename T> Constant *asWords(LLVMContext &C, ArrayRef<T> Objects) {
  static_assert(sizeof(T) % sizeof(uint64_t) == 0);
  std::vector<uint64_t> Words(Objects.size() * sizeof(T) / sizeof(uint64_t));
  if (!Words.empty())
    std::memcpy(Words.data(), Objects.data(), Objects.size() * sizeof(T));
  return ConstantDataArray::get(C, Words);
}

/// The variable that an access is to, wherever in it; null: not known.
const GlobalVariable *variableOf(const Instruction &I) {
  constexpr unsigned MaxLookup = 12;
  const auto To = MemoryLocation::getOrNone(&I);
  return To ? dyn_cast<GlobalVariable>(getUnderlyingObject(To->Ptr, MaxLookup))
            : nullptr;
}

/// Size and shape, as far as the type tells.
abi::Variable describe(const GlobalVariable &G) {
  const DataLayout &DL = G.getDataLayout();
  abi::Variable V = {};
  Type *T = G.getValueType();
  V.Size = DL.getTypeAllocSize(T);
  V.MemorySpace = spaceOf(G.getAddressSpace());
  for (uint32_t &Extent : V.Extent) {
    const auto *Array = dyn_cast<ArrayType>(T);
    if (!Array)
      break;
    const uint64_t Number = Array->getNumElements();
    Extent = Number && Number < abi::AnyExtent ? Number : abi::AnyExtent;
    T = Array->getElementType();
  }
  V.Element = DL.getTypeAllocSize(T);
  return V;
}

} // namespace

SiteTableWriter::SiteTableWriter(Module &M) : M(M), Strings(1, '\0') {
  auto StandIn = [&] {
    return new GlobalVariable(M, Type::getInt8Ty(M.getContext()), false,
                              GlobalValue::ExternalLinkage, nullptr, "",
                              nullptr, GlobalValue::NotThreadLocal,
                              NVPTXAS::ADDRESS_SPACE_GLOBAL);
  };
  SitesBase = StandIn();
  WindowsBase = StandIn();
  AccessesBase = StandIn();
}

uint32_t SiteTableWriter::addString(StringRef S) {
  if (S.empty())
    return 0;
  auto [It, New] = StringOffsets.try_emplace(S, Strings.size());
  if (New) {
    Strings += S;
    Strings += '\0';
  }
  return It->second;
}

uint32_t SiteTableWriter::addFrame(const DebugLoc &Location,
                                   const Function &F) {
  auto [It, New] = FrameIndex.try_emplace({Location.get(), &F}, 0);
  if (!New)
    return It->second;
  abi::Frame Frame = {addString(F.getName()), 0, 0, 0, abi::NoFrame};
  if (const DILocation *L = Location.get()) {
    const DISubprogram *Scope = L->getScope()->getSubprogram();
    const StringRef Linkage = Scope->getLinkageName();
    // Of host code, line tables alone have no linkage names.
    if (!Linkage.empty())
      Frame.Function = addString(Linkage);
    else if (M.getTargetTriple().isNVPTX() || F.getSubprogram() != Scope)
      Frame.Function = addString(Scope->getName());
    Frame.File = addString(L->getFilename());
    Frame.Line = L->getLine();
    Frame.Column = L->getColumn();
    if (const DILocation *Outer = L->getInlinedAt())
      Frame.InlinedAt = addFrame(DebugLoc(Outer), F);
  }
  Frames.push_back(Frame);
  return FrameIndex[{Location.get(), &F}] = Frames.size() - 1;
}

uint32_t SiteTableWriter::addVariable(const GlobalVariable *G) {
  const unsigned Space = G ? G->getAddressSpace() : 0;
  const bool IsMemory = Space == NVPTXAS::ADDRESS_SPACE_GLOBAL ||
                        Space == NVPTXAS::ADDRESS_SPACE_SHARED;
  if (!IsMemory || G->isConstant() || !G->getValueType()->isSized() ||
      G->getName().empty() || G->getName().starts_with("__crsan") ||
      G->getName().starts_with("llvm."))
    return 0;
  auto [It, IsNew] = VariableIndex.try_emplace(G, Variables.size() + 1);
  if (IsNew) {
    Variables.push_back(describe(*G));
    Variables.back().Name = addString(G->getName());
  }
  return It->second;
}

uint64_t SiteTableWriter::mixFrames(uint64_t Hash, uint32_t Frame) const {
  for (uint32_t I = Frame; I != abi::NoFrame; I = Frames[I].InlinedAt) {
    const abi::Frame &F = Frames[I];
    Hash = mix(Hash, textAt(F.Function));
    Hash = mix(Hash, textAt(F.File));
    Hash = mix(Hash, uint64_t(F.Line) << 32 | F.Column);
  }
  return Hash;
}

uint64_t SiteTableWriter::identity(const abi::SiteEntry &Entry,
                                   ArrayRef<abi::Companion> With) const {
  // Of the text, not of offsets: the same place in two modules is one site.
  uint64_t Hash = mix(uint64_t(Entry.Access), Entry.Size);
  Hash = mix(Hash, textAt(Entry.Kernel));
  Hash = mixFrames(Hash, Entry.Frame);
  // Of two copies of one place, a branch may part one from its companions.
  for (const abi::Companion &C : With)
    Hash = mixFrames(mix(Hash, uint64_t(C.Access)), C.Frame);
  if (Entry.Flags & abi::IsStrong)
    Hash = mix(Hash, uint64_t(Entry.Flags) << 8 | Entry.Scope);
  // A function may be compiled for both sides.
  if (!M.getTargetTriple().isNVPTX())
    Hash = mix(Hash, "host");
  // Copies of a loop for two arrays are one place.
  if (Entry.Variable)
    Hash = mix(Hash, textAt(Variables[Entry.Variable - 1].Name));
  return Hash ? Hash : 1; // 0 means "no site" in a record.
}

Constant *SiteTableWriter::addSite(const WindowAccess &A, StringRef Kernel,
                                   uint32_t Window, uint8_t Meets,
                                   int64_t Offset, uint8_t Flags) {
  abi::SiteEntry Entry = {};
  Entry.Access = abi::kindOf(A.Flags);
  Entry.MemorySpace = spaceOf(A.Where.Space);
  Entry.Flags = A.Flags;
  Entry.Size = A.WholeSize;
  const uint64_t Id = addEntry(Entry, *A.Inst, Kernel);
  Sites.push_back({Id,
                   A.isWhole() ? uint32_t(A.Size) : 0,
                   Entry.Access,
                   Entry.MemorySpace,
                   Meets,
                   Flags,
                   Offset,
                   {},
                   {}});
  WindowOfSite.push_back(Window);
  return elementAddress(SitesBase, (Sites.size() - 1) * sizeof(abi::Site));
}

Constant *SiteTableWriter::addAccess(const Instruction &I, StringRef Kernel,
                                     abi::AccessSite Site, uint32_t WholeSize,
                                     ArrayRef<Companion> Companions) {
  abi::SiteEntry Entry = {};
  Entry.Access = abi::kindOf(Site.Flags);
  Entry.MemorySpace = Site.MemorySpace;
  Entry.Flags = Site.Flags;
  Entry.Scope = uint8_t(Site.Scope);
  Entry.Size = WholeSize;
  Site.Id = addEntry(Entry, I, Kernel, Companions);
  return addNumbered(Site);
}

uint64_t SiteTableWriter::addBarrierPlace(const Instruction &I,
                                          StringRef Kernel) {
  abi::SiteEntry Entry = {};
  Entry.Access = abi::AccessKind::Barrier;
  return addEntry(Entry, I, Kernel);
}

Constant *SiteTableWriter::addBarrier(const Instruction &I, StringRef Kernel,
                                      abi::AccessSite Site) {
  Site.Id = addBarrierPlace(I, Kernel);
  return addNumbered(Site);
}

/// Adds a site of which the identity is known.
Constant *SiteTableWriter::addNumbered(abi::AccessSite Site) {
  Site.Index = abi::NoIndexYet;
  assert(Site.Number <= Accesses.size() && "a function's are consecutive");
  Accesses.push_back(Site);
  // The first one of the function counts them.
  ++Accesses[Accesses.size() - 1 - Site.Number].Count;
  return elementAddress(AccessesBase,
                        (Accesses.size() - 1) * sizeof(abi::AccessSite));
}

uint64_t SiteTableWriter::addHostAccess(const Instruction &I, const Access &A) {
  abi::SiteEntry Entry = {};
  Entry.Access = abi::kindOf(A.Flags);
  Entry.MemorySpace = abi::Space::Global;
  Entry.Flags = A.Flags;
  Entry.Size = A.WholeSize;
  return addEntry(Entry, I, /*Kernel=*/"");
}

uint64_t SiteTableWriter::addEntry(abi::SiteEntry Entry, const Instruction &I,
                                   StringRef Kernel, ArrayRef<Companion> With) {
  Entry.Frame = addFrame(I);
  if (isOfPlainUpdate(I))
    Entry.Flags |= abi::IsOfUpdate;
  Entry.Kernel = addString(Kernel);
  const GlobalVariable *Variable = variableOf(I);
  Entry.Variable = addVariable(Variable);
  if (Function *F = M.getFunction(Kernel);
      F && Entry.Variable &&
      Variable->getAddressSpace() == NVPTXAS::ADDRESS_SPACE_SHARED)
    SharedUses.insert({F, const_cast<GlobalVariable *>(Variable)});
  SmallVector<abi::Companion, 4> Added;
  for (const Companion &C : With)
    Added.push_back({addFrame(*C.Inst), C.Access, {}});
  Entry.Id = identity(Entry, Added);
  Entry.FirstCompanion = Companions.size();
  Entry.NumCompanions = Added.size();
  if (Entries.insert({Entry.Id, Entry}).second)
    append_range(Companions, Added);
  return Entry.Id;
}

Constant *SiteTableWriter::windowAt(uint32_t Window) {
  return elementAddress(WindowsBase, Window * sizeof(abi::Sampling));
}

void SiteTableWriter::addOmission(const DebugLoc &Location, const Function &F,
                                  StringRef Kernel, abi::Omission Why) {
  Omitted.push_back({addFrame(Location, F), addString(Kernel), Why, {}});
}

Constant *SiteTableWriter::elementAddress(GlobalVariable *Base,
                                          uint64_t Offset) {
  LLVMContext &C = M.getContext();
  return ConstantExpr::getGetElementPtr(
      Type::getInt8Ty(C), Base, ConstantInt::get(Type::getInt64Ty(C), Offset));
}

uint64_t SiteTableWriter::unitIdentity() const {
  uint64_t Hash = mix(xxh3_64bits(M.getSourceFileName()),
                      M.getTargetTriple().getArchName());
  for (const Function &F : M)
    Hash = mix(Hash, F.getName());
  for (const auto &[Id, Entry] : Entries)
    Hash = mix(Hash, Id);
  return Hash;
}

GlobalVariable *SiteTableWriter::define(Twine Name, Constant *Initializer,
                                        bool IsConstant) {
  auto *G = new GlobalVariable(M, Initializer->getType(), IsConstant,
                               GlobalValue::ExternalLinkage, Initializer, Name,
                               nullptr, GlobalValue::NotThreadLocal,
                               NVPTXAS::ADDRESS_SPACE_GLOBAL);
  G->setAlignment(Align(8));
  appendToCompilerUsed(M, {G});
  return G;
}

void SiteTableWriter::emitSharedUses(GlobalVariable *Array) {
  MapVector<Function *, SmallVector<std::pair<GlobalVariable *, unsigned>>> By;
  for (const auto &[I, Use] : enumerate(SharedUses))
    By[Use.first].push_back({Use.second, I});
  for (auto &[Kernel, Variables] : By) {
    // The addresses are the same in all blocks. Threads that find them missing
    // store them.
    BasicBlock *Body = Bodies.lookup(Kernel);
    if (!Body)
      Body = &Kernel->getEntryBlock();
    auto First = Body->getFirstInsertionPt();
    while (isa<AllocaInst>(First))
      ++First;
    IRBuilder<> B(Body, First);
    Value *Known = B.CreateLoad(
        B.getInt32Ty(),
        elementAddress(Array, Variables[0].second * sizeof(uint32_t)));
    B.SetInsertPoint(SplitBlockAndInsertIfThen(
        B.CreateICmpEQ(Known, B.getInt32(0)), B.GetInsertPoint(),
        /*Unreachable=*/false));
    for (const auto &[Variable, I] : Variables)
      B.CreateStore(B.CreateAdd(B.CreatePtrToInt(Variable, B.getInt32Ty()),
                                B.getInt32(1)),
                    elementAddress(Array, I * sizeof(uint32_t)));
  }
}

/// The constant that the library reads (abi/SiteTable.h).
std::string SiteTableWriter::table(abi::ModuleHeader Header,
                                   const KernelSet &Waiting) {
  SmallVector<const Function *, 16> Functions, Kernels, Others;
  // Nobody asks which functions of the host are instrumented.
  if (!(Header.Flags & abi::IsHostCode))
    for (const Function &F : M)
      if (!F.isDeclaration() && !isNativeTwin(F))
        (Waiting.contains(&F) ? Functions
         : isKernel(F)        ? Kernels
                              : Others)
            .push_back(&F);
  Header.NumWaiting = Functions.size();
  Functions.append(Kernels);
  Header.NumKernels = Functions.size();
  Functions.append(Others);
  std::vector<abi::SharedUse> UseEntries;
  for (const auto &[Kernel, Variable] : SharedUses)
    UseEntries.push_back(
        {addString(Kernel->getName()), addVariable(Variable) - 1});
  std::vector<uint32_t> Names;
  for (const Function *F : Functions)
    Names.push_back(addString(F->getName()));
  for (const GlobalVariable &G : M.globals())
    addVariable(&G);

  Header.NumSites = Entries.size();
  Header.NumFrames = Frames.size();
  Header.NumFunctions = Functions.size();
  Header.StringSize = Strings.size();
  Header.NumCompanions = Companions.size();
  Header.NumVariables = Variables.size();
  Header.NumSharedUses = SharedUses.size();
  Header.NumOmitted = Omitted.size();
  Header.NumChecked = WindowOfSite.size();
  std::string Table;
  auto Append = [&](const auto &Objects) {
    for (const auto &Object : Objects)
      Table.append(reinterpret_cast<const char *>(&Object), sizeof(Object));
  };
  Append(ArrayRef(Header));
  Append(make_second_range(Entries));
  Append(Frames);
  Append(Companions);
  Append(Variables);
  Append(UseEntries);
  Append(Omitted);
  Append(WindowOfSite);
  Append(ChecksOfWindow);
  Append(Names);
  return Table + Strings;
}

abi::ModuleHeader SiteTableWriter::headerOf(uint32_t Flags, uint32_t Skipped,
                                            uint32_t Exempt) const {
  abi::ModuleHeader Header = {};
  Header.Magic = abi::Magic;
  Header.Version = abi::Version;
  Header.Unit = unitIdentity();
  Header.NumWindows = ChecksOfWindow.size();
  Header.Flags = Flags;
  Header.Skipped = Skipped;
  Header.Exempt = Exempt;
  return Header;
}

std::string SiteTableWriter::finishHost(uint32_t Skipped, uint32_t Exempt) {
  for (GlobalVariable *StandIn : {SitesBase, WindowsBase, AccessesBase})
    StandIn->eraseFromParent();
  return table(headerOf(abi::IsHostCode, Skipped, Exempt), {});
}

void SiteTableWriter::emit(uint32_t Flags, const KernelSet &Waiting,
                           uint32_t Skipped, uint32_t Exempt) {
  const abi::ModuleHeader Header = headerOf(Flags, Skipped, Exempt);
  LLVMContext &C = M.getContext();
  const std::string Unit = utohexstr(Header.Unit, /*LowerCase=*/true, 16);
  auto Define = [&](StringRef Prefix, Constant *Initializer,
                    bool IsConstant = false) {
    return define(Prefix + Unit, Initializer, IsConstant);
  };
  auto Zeros = [&](Type *T, uint32_t Number) {
    return ConstantAggregateZero::get(ArrayType::get(T, Number));
  };
  Define(abi::TablePrefix,
         ConstantDataArray::getString(C, table(Header, Waiting),
                                      /*AddNull=*/false),
         /*IsConstant=*/true);
  auto Replace = [](GlobalVariable *StandIn, GlobalVariable *Array) {
    if (Array)
      StandIn->replaceAllUsesWith(Array);
    StandIn->eraseFromParent();
  };
  Replace(SitesBase, Define(abi::SitesPrefix, asWords<abi::Site>(C, Sites)));
  Replace(WindowsBase,
          Define(abi::WindowsPrefix,
                 Zeros(Type::getInt64Ty(C),
                       std::max<size_t>(1, ChecksOfWindow.size()))));
  Replace(AccessesBase, Flags & abi::HasMetadata
                            ? Define(abi::AccessesPrefix,
                                     asWords<abi::AccessSite>(C, Accesses))
                            : nullptr);
  if (!SharedUses.empty())
    emitSharedUses(Define(abi::SharedUsesPrefix,
                          Zeros(Type::getInt32Ty(C), SharedUses.size())));
}

} // namespace crsan
