//===- crsan-ptxas.cpp - ptxas for instrumented modules -------------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// crsan-clang has clang run this in place of ptxas, with ptxas's arguments and
// --crsan-toolkit=ROOT. It assembles the program and the device runtime apart
// (lib/PTX/RuntimeSplit.h says why) and links the two. Relocatable code is not
// split, but its PTX is put into it, compressed, as one more variable: that is
// the one thing in it which survives objects, archives and the device linker,
// and from which the simulated GPU can run the program (ABI.h, PTXPrefix).
// In both, what ptxas does to the lanes of a warp where it takes checks for
// polls is undone (lib/PTX/Yields.h). Whatever cannot be treated so is
// assembled by ptxas alone, as ever.
//
//===----------------------------------------------------------------------===//

#include "RuntimeSplit.h"
#include "Yields.h"
#include "crsan/ABI.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <string>
#include <vector>

using namespace llvm;

namespace {

/// What the runtime may use, so that it costs no kernel its occupancy: with 32
/// registers a thread, every multiprocessor holds all the threads it can.
constexpr StringLiteral RuntimeRegisters = "--maxrregcount=32";
/// In metadata mode every synchronisation calls it, and what does not fit goes
/// to memory, each time.
constexpr StringLiteral MetadataRegisters = "--maxrregcount=64";
/// The checks in line want more registers than their speed is worth.
constexpr StringLiteral CheckedRegisters = "--maxrregcount=128";
/// ptxas compiles several kernels at a time: checks make it four times the
/// work. Not as many as there are processors, which other compilations need
/// too.
constexpr StringLiteral ProgramThreads = "--split-compile=4";

struct CommandLine {
  std::string Toolkit;
  std::string Input, Output, Architecture;
  std::vector<std::string> Whole; ///< For ptxas, as given.
  std::vector<std::string> Flags; ///< Without input and output.
  bool IsRelocatable = false;
  bool IsDebug = false;

  static CommandLine parse(ArrayRef<const char *> Arguments);
  std::string tool(StringRef Name) const {
    SmallString<128> Path(Toolkit);
    sys::path::append(Path, "bin", Name);
    return Path.str().str();
  }
};

CommandLine CommandLine::parse(ArrayRef<const char *> Arguments) {
  CommandLine C;
  for (size_t I = 0; I < Arguments.size(); ++I) {
    StringRef A = Arguments[I];
    if (A.consume_front("--crsan-toolkit=")) {
      C.Toolkit = A.str();
      continue;
    }
    C.Whole.push_back(A.str());
    const bool HasValue = (A == "--output-file" || A == "-o" ||
                           A == "--gpu-name" || A == "-arch") &&
                          I + 1 < Arguments.size();
    if (HasValue) {
      const std::string Value = Arguments[++I];
      C.Whole.push_back(Value);
      if (A == "--output-file" || A == "-o") {
        C.Output = Value;
        continue;
      }
      C.Architecture = Value;
      C.Flags.push_back(A.str());
      C.Flags.push_back(Value);
      continue;
    }
    if (!A.starts_with("-")) {
      C.Input = A.str();
      continue;
    }
    C.IsRelocatable |= A == "-c" || A == "--compile-only";
    C.IsDebug |= A == "-g" || A == "--device-debug";
    C.Flags.push_back(A.str());
  }
  return C;
}

/// A tool of the toolkit at work. Its words go to our stderr, or nowhere if
/// ptxas will be asked again.
class Running {
public:
  Running(const std::string &Program, ArrayRef<std::string> Arguments,
          bool IsQuiet) {
    SmallVector<StringRef, 16> Words = {Program};
    Words.append(Arguments.begin(), Arguments.end());
    std::optional<StringRef> Redirects[] = {std::nullopt, std::nullopt,
                                            std::nullopt};
    if (IsQuiet)
      Redirects[1] = Redirects[2] = "";
    Process = sys::ExecuteNoWait(Program, Words, std::nullopt, Redirects, 0,
                                 nullptr, &Failed);
  }
  bool succeeds() {
    return !Failed && sys::Wait(Process, std::nullopt).ReturnCode == 0;
  }

private:
  sys::ProcessInfo Process;
  bool Failed = false;
};

bool write(StringRef Path, StringRef Text) {
  std::error_code Error;
  raw_fd_ostream Out(Path, Error);
  Out << Text;
  Out.close();
  return !Error && !Out.has_error();
}

/// Assembles `Stem`.ptx to `Stem`.o.
Running assemble(const CommandLine &C, const std::string &Stem,
                 std::vector<std::string> Flags) {
  for (const std::string &Word :
       {std::string("-c"), std::string("--output-file"), Stem + ".o",
        Stem + ".ptx"})
    Flags.push_back(Word);
  return Running(C.tool("ptxas"), Flags, true);
}

/// The names that the pass has written down as those of functions in which only
/// its checks read strongly.
StringSet<> waitless(StringRef PTX) {
  StringSet<> Names;
  while (!PTX.empty()) {
    auto [Line, Rest] = PTX.split('\n');
    if (Line.consume_front(crsan::abi::WaitlessComment))
      Names.insert(Line.trim());
    PTX = Rest;
  }
  return Names;
}

/// See Yields.h. `Names`: of functions of the program.
bool removeYields(const std::string &Path, const StringSet<> &Names) {
  auto Buffer = MemoryBuffer::getFile(Path);
  if (!Buffer)
    return false;
  std::string Object = (*Buffer)->getBuffer().str();
  const unsigned Removed =
      crsan::ptx::removeYields(Object, [&](std::string_view Name) {
        // Entry points, and what they share (HELPER).
        return Name.starts_with("__crsan_md_") ||
               Name.starts_with("__crsan__Z") || Names.contains(Name);
      });
  return Removed == 0 || write(Path, Object);
}

/// False: nothing was made, for whatever reason.
bool assembleApart(const CommandLine &C) {
  if (C.IsRelocatable || C.Input.empty() || C.Output.empty() ||
      C.Architecture.empty())
    return false;
  auto Buffer = MemoryBuffer::getFile(C.Input);
  if (!Buffer)
    return false;
  auto Split = crsan::ptx::splitRuntime((*Buffer)->getBuffer());
  if (!Split)
    return false;
  const std::string Program = C.Output + ".program";
  const std::string Runtime = C.Output + ".runtime";
  std::vector<FileRemover> Removers;
  Removers.reserve(4);
  for (const std::string &Stem : {Program, Runtime})
    for (const char *Extension : {".ptx", ".o"})
      Removers.emplace_back(Stem + Extension);
  if (!write(Program + ".ptx", Split->Program) ||
      !write(Runtime + ".ptx", Split->Runtime))
    return false;
  // However the program is compiled, the runtime is not slow: what it takes
  // longer than a delay, it does not see. Nor is it debugged.
  const bool HasMetadata = StringRef(Split->Runtime).contains("__crsan_md_");
  std::vector<std::string> RuntimeFlags = {
      "-m64", "-O3", "--gpu-name=" + C.Architecture,
      (HasMetadata ? MetadataRegisters : RuntimeRegisters).str()};
  std::vector<std::string> ProgramFlags = C.Flags;
  if (none_of(C.Flags, [](StringRef F) { return F.contains("split-compile"); }))
    ProgramFlags.push_back(ProgramThreads.str());
  if (HasMetadata &&
      none_of(C.Flags, [](StringRef F) { return F.contains("maxrregcount"); }))
    ProgramFlags.push_back(CheckedRegisters.str());
  Running ProgramJob = assemble(C, Program, ProgramFlags);
  // Both are waited for, whatever becomes of the first.
  const bool RuntimeDone = assemble(C, Runtime, RuntimeFlags).succeeds();
  if (!ProgramJob.succeeds() || !RuntimeDone)
    return false;
  const StringSet<> Waitless = waitless((*Buffer)->getBuffer());
  for (const std::string &Stem : {Program, Runtime})
    if (!removeYields(Stem + ".o", Waitless))
      return false;
  std::vector<std::string> Link = {"-m64", "-arch=" + C.Architecture,
                                   "--suppress-stack-size-warning"};
  if (C.IsDebug)
    Link.push_back("-g");
  for (const std::string &Word :
       {std::string("-o"), C.Output, Program + ".o", Runtime + ".o"})
    Link.push_back(Word);
  return Running(C.tool("nvlink"), Link, true).succeeds();
}

/// The text as a variable of its own, appended to it; empty: there is no
/// compression.
std::string withItself(StringRef PTX) {
  if (!compression::zstd::isAvailable())
    return {};
  SmallVector<uint8_t, 0> Packed;
  compression::zstd::compress(arrayRefFromStringRef(PTX), Packed);
  std::string Text = PTX.rtrim('\0').str();
  raw_string_ostream Out(Text);
  // Weak: the same unit may be linked twice.
  Out << "\n.weak .global .align 8 .b8 " << crsan::abi::PTXPrefix
      << format_hex_no_prefix(xxh3_64bits(PTX), 16) << '[' << Packed.size()
      << "] = {";
  for (size_t I = 0; I < Packed.size(); ++I)
    Out << (I == 0 ? "" : I % 32 ? "," : ",\n") << unsigned(Packed[I]);
  Out << "};\n";
  return Text;
}

/// False: nothing was made, for whatever reason.
bool assembleWithPTX(const CommandLine &C) {
  if (!C.IsRelocatable || C.Input.empty() || C.Output.empty())
    return false;
  auto Buffer = MemoryBuffer::getFile(C.Input);
  if (!Buffer)
    return false;
  const std::string Text = withItself((*Buffer)->getBuffer());
  if (Text.empty())
    return false;
  const std::string Source = C.Output + ".whole.ptx";
  FileRemover Remover(Source);
  std::vector<std::string> Arguments = C.Flags;
  for (const std::string &Word :
       {std::string("--output-file"), C.Output, Source})
    Arguments.push_back(Word);
  return write(Source, Text) &&
         Running(C.tool("ptxas"), Arguments, true).succeeds() &&
         removeYields(C.Output, waitless(Text));
}

} // namespace

int main(int Argc, char **Argv) {
  const CommandLine C = CommandLine::parse(ArrayRef(Argv + 1, Argc - 1));
  if (C.Toolkit.empty()) {
    errs() << "CRSan: crsan-ptxas is run by crsan-clang, with "
              "--crsan-toolkit=ROOT\n";
    return 1;
  }
  if (assembleApart(C) || assembleWithPTX(C))
    return 0;
  // ptxas says what is wrong, if anything is.
  return Running(C.tool("ptxas"), C.Whole, false).succeeds() ? 0 : 1;
}
