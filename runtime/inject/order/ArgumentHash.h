// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A hash of a launch's arguments.
//
// A kernel computes the same when it begins (lib/Transforms/Metadata/
// ArgumentHash.h), and so drops launches with other arguments from those that
// it may be.
#ifndef CRSAN_INJECT_ORDER_ARGUMENTHASH_H
#define CRSAN_INJECT_ORDER_ARGUMENTHASH_H

#include "crsan/abi/Launch.h"

#include <cstddef>
#include <cstring>

namespace crsan {

class ArgumentHash {
public:
  /// Adds the next argument: `Size` bytes at `Argument`.
  void add(const void *Argument, size_t Size) {
    if (Size != 4 && Size != 8)
      return;
    const auto *From = static_cast<const unsigned char *>(Argument);
    for (size_t At = 0; At < Size && NumWords < abi::NumArgumentWords;
         At += 4, ++NumWords) {
      uint32_t Word;
      std::memcpy(&Word, From + At, sizeof(Word));
      Hash = abi::addArgumentWord(Hash, Word);
    }
  }
  /// Of all arguments; never 0.
  uint32_t value() const { return abi::finishArguments(Hash); }

private:
  size_t NumWords = 0;
  uint32_t Hash = 0;
};

} // namespace crsan

#endif // CRSAN_INJECT_ORDER_ARGUMENTHASH_H
