// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX in, PTX with checks out.

#include "RewriteRun.h"
#include "Cache.h"
#include "CheckedFatbin.h"
#include "Checks.h"
#include "Rewrite.h"
#include "crsan/abi/Rewritten.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace crsan::ptxas {

static int fail(const Twine &Message) {
  errs() << "CRSan: " << Message << "\n";
  return 1;
}

/// The text below its lines. That a module cannot be checked is no error: it
/// need not be tried again.
static std::string withLines(StringRef PTX, const Arguments &A) {
  if (isFinal(PTX))
    return (Twine(abi::EndOfRewritten) + "\n" + PTX).str();
  Options How;
  How.Mode = *A.Checks;
  std::string Text;
  raw_string_ostream Out(Text);
  Expected<lift::Rewritten> New = lift::rewrite(PTX.str(), How);
  if (New && !A.FatbinFor.empty()) {
    Expected<std::string> Whole = fatbinOf(New->PTX, A);
    if (Whole)
      New->PTX = std::move(*Whole);
    else
      New = Whole.takeError();
  }
  if (!New) {
    std::string Why = StringRef(toString(New.takeError())).trim().str();
    llvm::replace(Why, '\n', ' ');
    Out << abi::UncheckedModule << Why << "\n";
  } else {
    for (const std::string &Line : New->Unchecked)
      Out << abi::UncheckedFunction << Line << "\n";
  }
  Out << abi::EndOfRewritten << "\n" << (New ? StringRef(New->PTX) : PTX);
  return Text;
}

int runRewrite(const Arguments &A) {
  if (!A.Checks)
    return fail("--crsan-rewrite needs --crsan-mode");
  if (A.Inputs.size() != 1)
    return fail("--crsan-rewrite needs one module");
  auto Buffer = MemoryBuffer::getFileOrSTDIN(A.Inputs.front());
  if (!Buffer)
    return fail("cannot read '" + A.Inputs.front() +
                "': " + Buffer.getError().message());
  const StringRef PTX = (*Buffer)->getBuffer().rtrim('\0');
  Expected<driver::Cached> Checked = driver::cached(
      "ptx", {std::to_string(unsigned(*A.Checks)), fatbinKey(A), PTX},
      [&] { return withLines(PTX, A); });
  if (!Checked)
    return fail(toString(Checked.takeError()));
  const std::string Name = A.Request.Output.empty() ? "-" : A.Request.Output;
  std::error_code EC;
  raw_fd_ostream Out(Name, EC);
  if (Checked->WasThere)
    Out << abi::CachedComment << "\n";
  if (!Checked->WhyNot.empty())
    Out << abi::UncachedComment << Checked->WhyNot << "\n";
  Out << Checked->Bytes;
  Out.flush();
  if (!EC)
    EC = Out.error();
  Out.clear_error();
  return EC ? fail("cannot write '" + Name + "': " + EC.message()) : 0;
}

} // namespace crsan::ptxas
