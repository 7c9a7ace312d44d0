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

/// The modules with checks. Unchecked: a line for each function that has none.
static Expected<std::vector<std::string>>
withChecks(StringRef PTX, const Arguments &A,
           std::vector<std::string> &Unchecked) {
  Options How;
  How.Mode = *A.Checks;
  std::vector<std::string> Texts;
  for (StringRef Module : split(PTX, '\0')) {
    if (Module.empty() || isFinal(Module)) {
      if (!Module.empty())
        Texts.push_back(Module.str());
      continue;
    }
    Expected<lift::Rewritten> New = lift::rewrite(Module.str(), How);
    if (!New)
      return New.takeError();
    Texts.push_back(std::move(New->PTX));
    llvm::append_range(Unchecked, New->Unchecked);
  }
  if (Texts.size() != 1 && !(A.Request.IsRelocatable && !A.FatbinFor.empty()))
    return createStringError("several modules are not relocatable");
  return Texts;
}

/// The text below its lines. That a module cannot be checked is no error: it
/// need not be tried again. That a tool fails is one.
static Expected<std::string> withLines(StringRef PTX, const Arguments &A) {
  std::vector<std::string> Unchecked;
  Expected<std::vector<std::string>> New = withChecks(PTX, A, Unchecked);
  std::string Text;
  raw_string_ostream Out(Text);
  if (!New) {
    std::string Why = StringRef(toString(New.takeError())).trim().str();
    llvm::replace(Why, '\n', ' ');
    Out << abi::UncheckedModule << Why << "\n"
        << abi::EndOfRewritten << "\n"
        << PTX;
    return Text;
  }
  for (const std::string &Line : Unchecked)
    Out << abi::UncheckedFunction << Line << "\n";
  Out << abi::EndOfRewritten << "\n";
  if (A.FatbinFor.empty()) {
    Out << New->front();
    return Text;
  }
  Expected<std::string> Fatbin = fatbinOf(*New, A);
  if (!Fatbin) {
    std::string Why = StringRef(toString(Fatbin.takeError())).trim().str();
    llvm::replace(Why, '\n', ' ');
    return createStringError(Why);
  }
  Out << *Fatbin;
  return Text;
}

int runRewrite(const Arguments &A) {
  if (!A.Checks)
    return fail("putting checks into PTX needs --crsan-mode");
  if (A.Inputs.size() != 1)
    return fail("putting checks into PTX needs one file");
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
