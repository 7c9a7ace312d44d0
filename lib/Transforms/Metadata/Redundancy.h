// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses that need no check of their own.
//
// Between two events that order memory, all accesses of a thread are ordered
// alike with respect to other threads. So if one of them races with an access
// of another thread, every other one that touches the same bytes and conflicts
// with that access races, too. It is enough to check one of them; a report
// names the others as its companions.
#ifndef CRSAN_TRANSFORMS_METADATA_REDUNDANCY_H
#define CRSAN_TRANSFORMS_METADATA_REDUNDANCY_H

#include "Events/Event.h"
#include "llvm/ADT/DenseMap.h"

namespace crsan {

/// The weak accesses that a thread has made since it last synchronised.
class CheckedAccesses {
public:
  explicit CheckedAccesses(const llvm::DataLayout &DL) : DL(DL) {}

  /// An access that was made, checked or not.
  struct Made {
    int64_t Offset; ///< From the value that its key names.
    uint64_t Size;
    bool IsWrite;
    llvm::Instruction *Inst;
    /// The caller's number for its check. Of a checked access: while the check
    /// may still become another access's. Else: as long as what comes now is
    /// sure to be made if the access was.
    std::optional<size_t> Number;
  };

  /// What the address of a place, which is a pointer, is at a constant offset
  /// from.
  static const llvm::Value *rootOf(const llvm::DataLayout &DL,
                                   const Location &Where, int64_t &Offset);

  /// Whether an access that was checked makes a check of `E` needless.
  bool covers(const Access &E) const;

  /// A load that touches nothing but what the store `E` does, and how far the
  /// store begins from it; or null.
  Made *within(const Access &E, int64_t &Distance);

  /// Notes that `E`, which `I` makes, is checked; `Number` is of the check.
  void add(const Access &E, llvm::Instruction &I, size_t Number);

  /// Those that were made before `E`, of the very bytes that it accesses.
  llvm::SmallVector<Made *, 4> companions(const Access &E);
  /// Those that were made before `E`, of some of the bytes that it accesses,
  /// and how far `E` begins from them.
  llvm::SmallVector<std::pair<const Made *, int64_t>, 4>
  overlapping(const Access &E) const;
  /// Notes that `E` is made by `I`; `Number` is of its check, if it has one.
  void make(const Access &E, llvm::Instruction &I,
            std::optional<size_t> Number);

  /// Nothing is known any more.
  void clear() {
    Known.clear();
    All.clear();
  }

  /// Another block follows, if only one can come before that: from here on, no
  /// check may become another's, for the block may not be entered.
  void endBlock();

private:
  /// A value that addresses are computed from, and, for an integer, the space
  /// that it is an address in.
  using Key = std::pair<const llvm::Value *, unsigned>;
  using Map = llvm::DenseMap<Key, llvm::SmallVector<Made, 2>>;
  Key keyOf(const Access &E, int64_t &Offset) const;

  const llvm::DataLayout &DL;
  Map Known; ///< What was checked.
  Map All;
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_METADATA_REDUNDANCY_H
