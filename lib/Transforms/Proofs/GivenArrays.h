// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel works on.
//
// Most of what kernels read, none of their threads writes; and of most of what
// they write, each thread has a place of its own. Then no check of an access
// can find anything. The source rarely says so: two arguments may point to one
// array, and how far apart threads are depends on the launch. But when the
// kernel begins, that is known.
#ifndef CRSAN_TRANSFORMS_PROOFS_GIVENARRAYS_H
#define CRSAN_TRANSFORMS_PROOFS_GIVENARRAYS_H

#include "Proofs/Spread.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace crsan {

/// The arrays that a kernel is given, by pointers that are its arguments or in
/// structures that are, as far as it works on nothing else.
class GivenArrays {
public:
  explicit GivenArrays(llvm::Function &Kernel);

  /// Notes a weak or a strong access. All of the kernel's have to be noted but
  /// those that are never checked.
  void add(const llvm::Instruction &I, const Access &E,
           const AddressFacts &Facts);

  /// The number of the array that `E` accesses, if no thread writes there, or
  /// each accesses a place of its own, given that it is an array for itself.
  /// Call once all have been noted.
  std::optional<unsigned> harmless(const Access &E);

  bool isWritten(unsigned Array) const { return All[Array].IsWritten; }

  /// At the kernel's head: whether that is so. \p Owner gives the number of the
  /// allocation that an address is in, an integer, or 0.
  llvm::Value *
  emitIsHarmless(llvm::IRBuilder<> &B, unsigned Array,
                 llvm::function_ref<llvm::Value *(llvm::Value *Address)> Owner);

private:
  struct Array {
    llvm::Argument *Of;        ///< That has the pointer, or ...
    std::optional<int64_t> At; ///< ... bytes into the structure that it is.
    llvm::Type *T;
    bool IsWritten = false, IsAccessed = false;
    bool IsOwn = true; ///< All accesses are like `Where`.
    /// Something in front of the place that the pointer leads to is accessed:
    /// that place may be behind the end of an allocation.
    bool MayBeEnd = false;
    std::optional<Spread> Where = std::nullopt; ///< Of its accesses.
    /// Of its allocation, or of the two that it may be, once emitted.
    llvm::SmallVector<llvm::Value *, 2> Numbers = {};
  };
  Array *arrayOf(const llvm::Value *Object);
  llvm::SmallVector<const llvm::Value *, 4>
  objectsOf(const llvm::Value *Pointer) const;
  bool noteWrite(llvm::Instruction &I);
  bool noteWritten(const llvm::Value *Pointer);

  /// What is written, and what is accessed at all.
  bool AreWritesKnown = true, AreAllKnown = true;
  llvm::SmallVector<Array, 4> All;
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_PROOFS_GIVENARRAYS_H
