// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tool of the CUDA toolkit at work.

#include "ToolRun.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace crsan::assembler {

ToolRun::ToolRun(const std::string &Program, ArrayRef<std::string> Arguments,
                 std::optional<std::string> LogFile)
    : Log(std::move(LogFile)) {
  SmallVector<StringRef, 16> Words = {Program};
  Words.append(Arguments.begin(), Arguments.end());
  const std::optional<StringRef> Output = Log;
  const std::optional<StringRef> Redirects[] = {std::nullopt, Output, Output};
  bool Failed = false;
  Process = sys::ExecuteNoWait(Program, Words, std::nullopt, Redirects, 0,
                               &Failure, &Failed);
  HasStarted = !Failed;
}

bool ToolRun::succeeds() {
  return HasStarted &&
         sys::Wait(Process, std::nullopt, &Failure).ReturnCode == 0;
}

std::string ToolRun::words() const {
  std::string Text;
  if (Log)
    if (auto Buffer = MemoryBuffer::getFile(*Log))
      Text = (*Buffer)->getBuffer().str();
  return Text + Failure;
}

} // namespace crsan::assembler
