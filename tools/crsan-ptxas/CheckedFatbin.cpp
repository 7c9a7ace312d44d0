// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A fat binary of PTX with checks.

#include "CheckedFatbin.h"
#include "Cache.h"
#include "ToolRun.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace crsan::ptxas {

static Error write(const std::string &Path, StringRef Text) {
  std::error_code EC;
  raw_fd_ostream Out(Path, EC);
  Out << Text;
  Out.flush();
  if (!EC)
    EC = Out.error();
  Out.clear_error();
  return EC ? createStringError("cannot write '" + Path + "': " + EC.message())
            : Error::success();
}

/// How fatbinary is told of an image: 90a of sm_90a.
static std::string image(StringRef Kind, StringRef Architecture,
                         const std::string &File) {
  Architecture.consume_front("sm_");
  return ("--image3=kind=" + Kind + ",sm=" + Architecture + ",file=" + File)
      .str();
}

/// "sm_90" of `.target sm_90, debug`.
static StringRef targetOf(StringRef PTX) {
  return PTX.split(".target ").second.take_while([](char C) {
    return isAlnum(C) || C == '_';
  });
}

Expected<std::string> fatbinOf(StringRef PTX, const Arguments &A) {
  SmallString<128> Made;
  if (std::error_code EC = sys::fs::createUniqueDirectory("crsan", Made))
    return createStringError("cannot make a temporary folder: " + EC.message() +
                             "; is there room in TMPDIR?");
  const std::string Folder = Made.str().str();
  const auto Remove = scope_exit([&] { sys::fs::remove_directories(Folder); });
  const std::string Text = Folder + "/checked.ptx";
  if (Error E = write(Text, PTX))
    return std::move(E);
  const std::string Whole = Folder + "/checked.fatbin";
  std::vector<std::string> Words = {"--64", "--create=" + Whole,
                                    image("ptx", targetOf(PTX), Text)};
  for (const std::string &Architecture : A.FatbinFor) {
    assembler::Request R = A.Request;
    R.Input = Text;
    R.Output = Folder + "/" + Architecture + ".cubin";
    R.Architecture = Architecture;
    R.Flags = {"--gpu-name=" + Architecture};
    if (Error E = assembler::assemble(R))
      return std::move(E);
    Words.push_back(image("elf", Architecture, R.Output));
  }
  const std::string Log = Folder + "/log";
  assembler::ToolRun Tool(A.Request.Toolkit + "/bin/fatbinary", Words, Log);
  if (!Tool.succeeds())
    return createStringError("fatbinary failed: " + Tool.words());
  auto Buffer = MemoryBuffer::getFile(Whole);
  if (!Buffer)
    return createStringError("cannot read '" + Whole +
                             "': " + Buffer.getError().message());
  return (*Buffer)->getBuffer().str();
}

std::string fatbinKey(const Arguments &A) {
  if (A.FatbinFor.empty())
    return {};
  return join(A.FatbinFor, ",") + " " +
         driver::toolKey(A.Request.Toolkit + "/bin/ptxas");
}

} // namespace crsan::ptxas
