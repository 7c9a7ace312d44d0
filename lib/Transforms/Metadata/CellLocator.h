// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the cells of accesses are.
//
// In a page with exact cells, the cell of the byte at offset N of the page is
// at offset 4 N of the page's shadow. The cells of a block's shared memory lie
// together. The page table is read once for accesses that are close to each
// other, and in a loop that walks through memory once for a run of pages.
#ifndef CRSAN_TRANSFORMS_METADATA_CELLLOCATOR_H
#define CRSAN_TRANSFORMS_METADATA_CELLLOCATOR_H

#include "crsan/abi/Check.h"
#include "crsan/abi/Metadata.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/NVPTXAddrSpace.h"

namespace crsan {

/// An access of 1, 2, 4, 8 or 16 bytes.
struct FastAccess {
  llvm::Constant *Site; ///< Generic address of its AccessSite.
  uint32_t Number;      ///< AccessSite::Number.
  llvm::Value *Address; ///< Generic, as an integer.
  llvm::DebugLoc Loc;   ///< Of its calls.
  unsigned Space;       ///< The address space that is known of it.
  uint32_t Size;
  bool Writes;
  bool IsStrong;
  bool Reads;     ///< Of a strong access.
  bool IsWide;    ///< Of a strong access: its scope is more than the block.
  bool IsAligned; ///< Known to be a multiple of Size.
  bool IsCopy;    ///< By an asynchronous copy that begins (cp.async).
  bool IsUniform; ///< All lanes of a warp that come here have one address.
  /// The address is that of Root, if there is one, and Offset.
  const llvm::Value *Root;
  int64_t Offset;
  /// What the address points into, if it moves there from one iteration of a
  /// loop to the next as the loop counts.
  const llvm::Value *Object;
  /// Of a read: the cell is to know of it.
  bool IsRemembered;
  /// Of a compare-and-swap: a variable for the reader of its first word that it
  /// would race with if it wrote, or 0.
  llvm::AllocaInst *Reader;

  bool mayBeShared() const {
    return Space != llvm::NVPTXAS::ADDRESS_SPACE_GLOBAL;
  }
  bool mayBeGlobal() const {
    return Space != llvm::NVPTXAS::ADDRESS_SPACE_SHARED;
  }
  /// abi::ShapeBits, without those of the function.
  uint32_t shape() const {
    return Size | (Reads ? abi::ShapeReads : 0) |
           (Writes ? abi::ShapeWrites : 0) | (IsStrong ? abi::ShapeStrong : 0) |
           (IsWide ? abi::ShapeWide : 0) | (IsCopy ? abi::ShapeInFlight : 0) |
           (mayBeShared() ? abi::ShapeMayBeShared : 0) |
           (mayBeGlobal() ? abi::ShapeMayBeGlobal : 0);
  }
};

/// An access, and where its first cell is.
struct LocatedAccess {
  const FastAccess &A;
  llvm::Value *InShared = nullptr; ///< i1.
  llvm::Value *At = nullptr;       ///< Its first cell.
  /// The access whose page was found, by position, and of that one how far
  /// others are from it.
  size_t Anchor = 0;
  int64_t Least = 0, Most = 0;
};

class CellLocator {
public:
  /// At the beginning of the function. `First`: what __crsan_md_enter has
  /// returned, or null if the function is not a kernel.
  CellLocator(llvm::Function &F, llvm::IRBuilder<> &B, llvm::Value *First);
  /// Address of the page table, or of a zero.
  llvm::Value *pages() const { return Pages; }
  /// `Self`: address of the warp's state.
  void emitSharedCells(llvm::IRBuilder<> &B, llvm::Value *Self);

  /// Locates the last of `All`, of which the others have been located. Returns
  /// a condition, null if there is none: it may be elsewhere, or nowhere.
  llvm::Value *emitWhere(llvm::IRBuilder<> &B, llvm::Value *Place,
                         llvm::SmallVectorImpl<LocatedAccess> &All);
  /// When all have been located: a condition, or null, for accesses that lie
  /// together not to lie in one page.
  static llvm::Value *emitIsSplit(llvm::IRBuilder<> &B, const LocatedAccess &L);

  /// After all has been emitted: what is left to promote.
  void finish(llvm::SmallVectorImpl<llvm::AllocaInst *> &Variables);

private:
  /// The pages of what is asked for in a loop, as they were last found.
  struct Found {
    llvm::AllocaInst *First, *Number; ///< Number: 0: none.
    llvm::AllocaInst *Delta; ///< From four times an address to its cell.
  };
  llvm::CallInst *emitFound(llvm::IRBuilder<> &B, const FastAccess &A,
                            bool IsFirst);

  llvm::Function &F;
  llvm::Value *Pages;
  llvm::Value *SharedCells; ///< Address of the cells of shared memory, or 0.
  llvm::MapVector<const llvm::Value *, Found> FoundPages; ///< By Object.
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_METADATA_CELLLOCATOR_H
