// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Remainders of what a loop counts.
//
// Buffers that take turns are numbered by a remainder of the loop's counter,
// such as `K % 2` or `First / Depth % 3`. Such a value has few values, although
// the counter has many: it follows from the counter's remainder by a modulus.
#ifndef CRSAN_TRANSFORMS_PROOFS_REMAINDERS_H
#define CRSAN_TRANSFORMS_PROOFS_REMAINDERS_H

#include "Proofs/Spread.h"

namespace crsan {

/// The values that follow from the remainder of a counter.
class Remainders {
public:
  /// Those that \p Of are computed from, and that follow from a remainder of
  /// \p P, which the loop \p L adds a constant to. None: there is no such.
  static std::optional<Remainders> in(llvm::ArrayRef<const llvm::Value *> Of,
                                      const llvm::PHINode &P,
                                      const llvm::Loop &L,
                                      const AddressFacts &Facts);

  /// What is left of the counter has less values than this.
  uint64_t modulus() const { return Modulus; }
  /// What is left of the counter in the next iteration.
  uint64_t next(uint64_t Left) const {
    return (Left + uint64_t(Step + int64_t(Modulus))) % Modulus;
  }
  /// Adds what the values are where \p Left is left of the counter.
  void assume(uint64_t Left, llvm::SmallVectorImpl<Assumption> &To) const;

private:
  Remainders(const llvm::PHINode &P, const AddressFacts &Facts)
      : P(&P), Facts(&Facts) {}
  std::optional<uint64_t> remainder(const llvm::Value *V, uint64_t By,
                                    std::optional<uint64_t> Left,
                                    unsigned Depth = 0);
  std::optional<uint64_t> fold(const llvm::Instruction &I,
                               std::optional<uint64_t> Left, unsigned Depth);
  bool isNonNegative(const llvm::Value *V) const;

  const llvm::PHINode *P;
  const AddressFacts *Facts;
  uint64_t Modulus = 1;
  int64_t Step = 0; ///< Less than the modulus, and more than its negative.
  llvm::SmallVector<const llvm::Value *, 2> Values;
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_PROOFS_REMAINDERS_H
