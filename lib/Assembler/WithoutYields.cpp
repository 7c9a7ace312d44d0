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
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace crsan::assembler;

static Error change(const char *Path) {
  auto Buffer = WriteThroughMemoryBuffer::getFile(Path);
  if (!Buffer)
    return createStringError("cannot change '" + Twine(Path) +
                             "': " + Buffer.getError().message());
  const MutableArrayRef<char> Bytes = (*Buffer)->getBuffer();
  auto Functions =
      functionsOf({reinterpret_cast<uint8_t *>(Bytes.data()), Bytes.size()});
  if (!Functions)
    return createStringError("cannot read '" + Twine(Path) +
                             "': " + toString(Functions.takeError()));
  removeYields(*Functions, [](StringRef) { return true; });
  return Error::success();
}

int main(int Count, char **Words) {
  for (int I = 1; I < Count; ++I)
    if (Error E = change(Words[I])) {
      errs() << "without-yields: " << toString(std::move(E)) << "\n";
      return 1;
    }
}
