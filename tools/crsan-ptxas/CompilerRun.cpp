// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NVIDIA's compiler, and checks in what it makes.

#include "CompilerRun.h"
#include "Checks.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace crsan::ptxas {

/// The word behind the last `Option`; empty if there is none.
static StringRef wordBehind(ArrayRef<std::string> Words, StringRef Option) {
  StringRef Found;
  for (size_t I = 1; I < Words.size(); ++I)
    if (Words[I - 1] == Option)
      Found = Words[I];
  return Found;
}

static int fail(const Twine &Message) {
  errs() << "CRSan: " << Message << "\n";
  return 1;
}

int runCompiler(const Arguments &A) {
  std::vector<StringRef> Words = {A.Compiler};
  Words.insert(Words.end(), A.Given.begin(), A.Given.end());
  const StringRef Output = wordBehind(A.Given, "-o");
  // What is no file (/dev/stdout) cannot be read again.
  SmallString<128> Made(Output);
  FileRemover Remover;
  sys::fs::file_status Kind;
  if (!Output.empty() && !sys::fs::status(Output, Kind) &&
      !sys::fs::is_regular_file(Kind)) {
    if (std::error_code EC = sys::fs::createTemporaryFile("crsan", "ptx", Made))
      return fail("cannot write a temporary file: " + EC.message() +
                  "; is there room in TMPDIR?");
    Remover.setFile(Made);
    std::replace(Words.begin() + 1, Words.end(), Output, StringRef(Made));
  }
  std::string Why;
  const int Status =
      sys::ExecuteAndWait(A.Compiler, Words, std::nullopt, {}, 0, 0, &Why);
  if (Status < 0)
    return fail("'" + Twine(A.Compiler) + "' failed: " + Why);
  if (Status != 0 || Output.empty() || !A.Checks)
    return Status;
  auto Buffer = MemoryBuffer::getFile(Made, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/true,
                                      /*IsVolatile=*/true);
  if (!Buffer)
    return fail("cannot read '" + Made + "': " + Buffer.getError().message());
  const StringRef PTX = (*Buffer)->getBuffer();
  const StringRef Source = wordBehind(A.Given, "--orig_src_file_name");
  std::optional<std::string> Checked =
      withChecks(PTX, *A.Checks, Source.empty() ? Output : Source);
  if (!Checked)
    Checked = asUnchecked(PTX);
  std::error_code EC;
  raw_fd_ostream Out(Output, EC);
  Out << *Checked;
  Out.close();
  if (!EC)
    EC = Out.error();
  Out.clear_error();
  return EC ? fail("cannot write '" + Output + "': " + EC.message()) : 0;
}

} // namespace crsan::ptxas
