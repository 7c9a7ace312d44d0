// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Descriptors of the checked accesses.
//
// Collects the sites and windows of a module while it is instrumented and emits
// the objects of include/crsan/abi/ that describe them.
#ifndef CRSAN_TRANSFORMS_SITES_SITETABLEWRITER_H
#define CRSAN_TRANSFORMS_SITES_SITETABLEWRITER_H

#include "Collider/Window.h"
#include "crsan/abi/Site.h"
#include "crsan/abi/SiteTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Module.h"

namespace crsan {

/// See abi::Companion.
struct Companion {
  const llvm::Instruction *Inst;
  abi::AccessKind Access;
};

using KernelSet = llvm::SmallPtrSet<const llvm::Function *, 8>;

class SiteTableWriter {
public:
  explicit SiteTableWriter(llvm::Module &M);

  /// The device address of a new abi::Site; those of consecutive calls are
  /// consecutive in memory. `Kernel` is the only kernel it can run in, or "";
  /// `Window` is of addWindow(); `Meets`, `Offset` and `Flags` are
  /// abi::Site's.
  llvm::Constant *addSite(const WindowAccess &A, llvm::StringRef Kernel,
                          uint32_t Window, uint8_t Meets, int64_t Offset,
                          uint8_t Flags);

  /// The device address of a new abi::AccessSite for `I`, of which all but the
  /// identity, the index and the count is given; those of a function are
  /// consecutive in memory. `WholeSize` and `Companions`, which are unlike each
  /// other for a reader, are for the report.
  llvm::Constant *addAccess(const llvm::Instruction &I, llvm::StringRef Kernel,
                            abi::AccessSite Site, uint32_t WholeSize,
                            llvm::ArrayRef<Companion> Companions);

  /// The identity of the barrier `I`.
  uint64_t addBarrierPlace(const llvm::Instruction &I, llvm::StringRef Kernel);
  /// The device address of a new abi::AccessSite for the barrier `I`, likewise.
  llvm::Constant *addBarrier(const llvm::Instruction &I, llvm::StringRef Kernel,
                             abi::AccessSite Site);

  /// The identity of an access of host code. A module has accesses of host code
  /// alone, or of device code alone.
  uint64_t addHostAccess(const llvm::Instruction &I, const Access &A);

  /// How many there are of abi::Sampling.
  uint32_t windows() const { return ChecksOfWindow.size(); }
  /// The number of a new one.
  uint32_t addWindow() {
    ChecksOfWindow.push_back(0);
    return ChecksOfWindow.size() - 1;
  }
  /// A check of accesses is counted there.
  void addCheck(uint32_t Window) { ++ChecksOfWindow[Window]; }
  /// Its device address.
  llvm::Constant *windowAt(uint32_t Window);

  /// The code of `Kernel` that has its checks begins with `Body`. Threads that
  /// execute the plain body do not come there.
  void setBody(const llvm::Function &Kernel, llvm::BasicBlock &Body) {
    Bodies[&Kernel] = &Body;
  }

  /// Lists an access that is not checked.
  void addOmission(const llvm::DebugLoc &Location, const llvm::Function &F,
                   llvm::StringRef Kernel, abi::Omission Why);

  /// Defines the objects; no site or window may be added afterwards. `Flags`
  /// are abi::ModuleFlags, and `Waiting` kernels that may wait
  /// (abi::ModuleHeader::NumWaiting); the other two are abi::ModuleHeader's.
  void emit(uint32_t Flags, const KernelSet &Waiting, uint32_t Skipped,
            uint32_t Exempt);
  /// The same of host code: gives back the table, and defines nothing.
  std::string finishHost(uint32_t Skipped, uint32_t Exempt);

private:
  llvm::Constant *addNumbered(abi::AccessSite Site);
  uint32_t addString(llvm::StringRef S);
  llvm::StringRef textAt(uint32_t Offset) const {
    return Strings.c_str() + Offset;
  }
  uint32_t addFrame(const llvm::Instruction &I) {
    return addFrame(I.getDebugLoc(), *I.getFunction());
  }
  uint32_t addFrame(const llvm::DebugLoc &Location, const llvm::Function &F);
  /// Fills in the rest, and adds the entry to the table.
  uint64_t addEntry(abi::SiteEntry Entry, const llvm::Instruction &I,
                    llvm::StringRef Kernel,
                    llvm::ArrayRef<Companion> With = {});
  /// The index of the variable, plus 1; 0: it is none that a report may name.
  uint32_t addVariable(const llvm::GlobalVariable *G);
  uint64_t mixFrames(uint64_t Hash, uint32_t Frame) const;
  uint64_t identity(const abi::SiteEntry &Entry,
                    llvm::ArrayRef<abi::Companion> With) const;
  uint64_t unitIdentity() const;
  abi::ModuleHeader headerOf(uint32_t Flags, uint32_t Skipped,
                             uint32_t Exempt) const;
  /// `Header`: all but the numbers of what the table holds.
  std::string table(abi::ModuleHeader Header, const KernelSet &Waiting);
  /// Has each kernel write down where its shared variables are.
  void emitSharedUses(llvm::GlobalVariable *Array);
  llvm::Constant *elementAddress(llvm::GlobalVariable *Base, uint64_t Offset);
  llvm::GlobalVariable *define(llvm::Twine Name, llvm::Constant *Initializer,
                               bool IsConstant);

  llvm::Module &M;
  /// Stand-ins for the arrays until their lengths are known.
  llvm::GlobalVariable *SitesBase, *WindowsBase, *AccessesBase;
  std::vector<abi::Site> Sites;
  std::vector<abi::AccessSite> Accesses;
  llvm::MapVector<uint64_t, abi::SiteEntry> Entries; ///< By identity.
  /// The kernels in whose shared memory sites are, with the variables there.
  llvm::SetVector<std::pair<llvm::Function *, llvm::GlobalVariable *>>
      SharedUses;
  llvm::DenseMap<const llvm::Function *, llvm::BasicBlock *> Bodies;
  std::vector<uint32_t> WindowOfSite; ///< By index in Sites.
  std::vector<uint32_t> ChecksOfWindow;
  std::vector<abi::OmittedAccess> Omitted;
  std::vector<abi::Frame> Frames;
  std::vector<abi::Companion> Companions;
  std::vector<abi::Variable> Variables;
  llvm::DenseMap<const llvm::GlobalVariable *, uint32_t> VariableIndex;
  llvm::DenseMap<std::pair<const void *, const void *>, uint32_t> FrameIndex;
  llvm::StringMap<uint32_t> StringOffsets;
  std::string Strings;
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_SITES_SITETABLEWRITER_H
