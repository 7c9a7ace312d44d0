// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Takes the YIELDs out of object files, in place:
//
//   without-yields FILE...
//
// For kernels of the library's own, which crsan-ptxas does not assemble. Their
// warps must not part: the lanes meet at `bar.warp.sync`, and lanes that wait
// there for others that go on in a called function may wait for ever
// (docs/convergence.md).

#include "Convergence.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace crsan::assembler;

static Error change(MutableArrayRef<uint8_t> Object) {
  auto Functions = functionsOf(Object);
  if (!Functions)
    return Functions.takeError();
  removeYields(*Functions, [](StringRef) { return true; });
  return Error::success();
}

int main(int Count, char **Words) {
  for (int I = 1; I < Count; ++I)
    if (Error E = changeFile(Words[I], change)) {
      errs() << "without-yields: '" << Words[I]
             << "': " << toString(std::move(E)) << "\n";
      return 1;
    }
}
