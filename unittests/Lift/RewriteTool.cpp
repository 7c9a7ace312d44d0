// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rewrite-ptx IN OUT [collider|metadata|hybrid]: lifts a module and prints it,
// with checks if a mode is given. Used by test/Lift.

#include "Rewrite.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

int main(int Count, char **Words) {
  auto In = MemoryBuffer::getFile(Words[1]);
  if (!In) {
    errs() << Words[1] << ": " << In.getError().message() << '\n';
    return 1;
  }
  std::optional<crsan::Options> Checks;
  if (Count > 3) {
    Checks.emplace();
    Checks->Mode = StringSwitch<crsan::Mode>(Words[3])
                       .Case("metadata", crsan::Mode::Metadata)
                       .Case("hybrid", crsan::Mode::Hybrid)
                       .Default(crsan::Mode::Collider);
  }
  auto New = crsan::lift::rewrite((*In)->getBuffer().str(), Checks);
  if (!New) {
    errs() << Words[1] << ": " << toString(New.takeError()) << '\n';
    return 1;
  }
  for (const std::string &Line : New->Unchecked)
    errs() << Words[1] << ": not lifted: " << Line << '\n';
  std::error_code Error;
  raw_fd_ostream Out(Words[2], Error);
  Out << New->PTX;
  return Error ? 1 : 0;
}
