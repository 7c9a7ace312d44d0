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

namespace {
/// The making of a fat binary, in a folder of its own.
class Maker {
public:
  Maker(const Arguments &A, std::string Folder)
      : A(A), Folder(std::move(Folder)) {}
  Expected<std::string> make(ArrayRef<std::string> Modules);

private:
  Expected<std::string> assemble(const std::string &Text,
                                 const std::string &Architecture,
                                 const std::string &Name) const;
  Expected<std::string> link(ArrayRef<std::string> Files,
                             const std::string &Architecture) const;
  Error run(const std::string &Tool, ArrayRef<std::string> Words) const;

  const Arguments &A;
  const std::string Folder;
};
} // namespace

Error Maker::run(const std::string &Tool, ArrayRef<std::string> Words) const {
  assembler::ToolRun Run(A.Request.Toolkit + "/bin/" + Tool, Words,
                         Folder + "/log");
  return Run.succeeds() ? Error::success()
                        : createStringError(Tool + " failed: " + Run.words());
}

Expected<std::string> Maker::assemble(const std::string &Text,
                                      const std::string &Architecture,
                                      const std::string &Name) const {
  assembler::Request R = A.Request;
  R.Input = Text;
  R.Output = Folder + "/" + Name + ".cubin";
  R.Architecture = Architecture;
  R.Flags.push_back("--gpu-name=" + Architecture);
  if (Error E = assembler::assemble(R))
    return std::move(E);
  return R.Output;
}

Expected<std::string> Maker::link(ArrayRef<std::string> Files,
                                  const std::string &Architecture) const {
  const std::string Linked = Folder + "/" + Architecture + ".cubin";
  std::vector<std::string> Words = {"--arch=" + Architecture,
                                    "--output-file=" + Linked};
  Words.insert(Words.end(), Files.begin(), Files.end());
  // What kernels that launch kernels need.
  for (StringRef At : {"/lib64", "/lib"})
    Words.push_back("--library-path=" + A.Request.Toolkit + At.str());
  Words.push_back("--library=cudadevrt");
  if (Error E = run("nvlink", Words))
    return std::move(E);
  return Linked;
}

Expected<std::string> Maker::make(ArrayRef<std::string> Modules) {
  const std::string Whole = Folder + "/checked.fatbin";
  std::vector<std::string> Words = {"--64", "--create=" + Whole}, Texts;
  for (const std::string &PTX : Modules) {
    Texts.push_back(Folder + "/" + std::to_string(Texts.size()) + ".ptx");
    if (Error E = write(Texts.back(), PTX))
      return std::move(E);
  }
  if (!A.Request.IsRelocatable)
    Words.push_back(image("ptx", targetOf(Modules.front()), Texts.front()));
  for (const std::string &Architecture : A.FatbinFor) {
    std::vector<std::string> Assembled;
    for (const std::string &Text : Texts) {
      auto Made =
          assemble(Text, Architecture,
                   Architecture + "-" + std::to_string(Assembled.size()));
      if (!Made)
        return Made;
      Assembled.push_back(std::move(*Made));
    }
    auto Linked = A.Request.IsRelocatable
                      ? link(Assembled, Architecture)
                      : Expected<std::string>(Assembled.front());
    if (!Linked)
      return Linked;
    Words.push_back(image("elf", Architecture, *Linked));
  }
  if (Error E = run("fatbinary", Words))
    return std::move(E);
  auto Buffer = MemoryBuffer::getFile(Whole);
  if (!Buffer)
    return createStringError("cannot read '" + Whole +
                             "': " + Buffer.getError().message());
  return (*Buffer)->getBuffer().str();
}

Expected<std::string> fatbinOf(ArrayRef<std::string> Modules,
                               const Arguments &A) {
  SmallString<128> Made;
  if (std::error_code EC = sys::fs::createUniqueDirectory("crsan", Made))
    return createStringError("cannot make a temporary folder: " + EC.message() +
                             "; is there room in TMPDIR?");
  const std::string Folder = Made.str().str();
  const auto Remove = scope_exit([&] { sys::fs::remove_directories(Folder); });
  return Maker(A, Folder).make(Modules);
}

std::string fatbinKey(const Arguments &A) {
  if (A.FatbinFor.empty())
    return {};
  return join(A.FatbinFor, ",") + " " + join(A.Request.Flags, " ") + " " +
         std::to_string(A.Request.MaxRegisters) + " " +
         driver::toolKey(A.Request.Toolkit + "/bin/ptxas") + " " +
         driver::toolKey(A.Request.Toolkit + "/bin/nvlink");
}

} // namespace crsan::ptxas
