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
// and from which the simulated GPU can run the program (abi::PTXPrefix).
// In both, what ptxas does to the lanes of a warp because of checks is undone
// (lib/PTX/Convergence.h), and a mark says so (abi::Config::Assembled). Kernels
// keep to so many registers
// that they can be launched as without checks: a kernel without launch bounds
// with blocks of 1,024 threads, and one that may wait for other blocks with as
// many blocks on the device (lib/Transforms/NativeTwin.h).
//
//===----------------------------------------------------------------------===//

#include "Convergence.h"
#include "RuntimeSplit.h"
#include "crsan/abi/Config.h"
#include "crsan/abi/Names.h"
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
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <string>
#include <vector>

using namespace llvm;

namespace {

/// Of a thread. With so many, a multiprocessor holds all the threads it can, so
/// a runtime within this limit costs no kernel its residency.
constexpr unsigned FullResidency = 32;
/// With so many, a block can have 1,024 threads: a kernel without launch bounds
/// is launched with any number. In metadata mode every synchronisation calls
/// the runtime, which is faster with more than FullResidency.
constexpr unsigned LargestBlock = 64;
/// ptxas compiles several kernels at a time: checks make it four times the
/// work. Not as many as there are processors, which other compilations need
/// too.
constexpr StringLiteral ProgramThreads = "--split-compile=4";

struct CommandLine {
  std::string Toolkit;
  std::string Input, Output, Architecture;
  std::vector<std::string> Flags; ///< Without input, output, --maxrregcount.
  unsigned MaxRegisters = LargestBlock; ///< Of kernels without launch bounds.
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
    const bool HasValue = (A == "--output-file" || A == "-o" ||
                           A == "--gpu-name" || A == "-arch") &&
                          I + 1 < Arguments.size();
    if (HasValue) {
      const std::string Value = Arguments[++I];
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
    if (A.ltrim('-').starts_with("maxrregcount")) {
      const bool IsApart = !A.contains('=') && I + 1 < Arguments.size();
      const StringRef Value = IsApart ? Arguments[++I] : A.split('=').second;
      unsigned Most;
      if (!Value.getAsInteger(10, Most))
        C.MaxRegisters = std::min(C.MaxRegisters, Most);
      continue;
    }
    C.IsRelocatable |= A == "-c" || A == "--compile-only";
    C.IsDebug |= A == "-g" || A == "--device-debug";
    C.Flags.push_back(A.str());
  }
  return C;
}

/// A tool of the toolkit at work. Its words go to our stdout and stderr, or to
/// the file `Output`, or nowhere, if that is empty.
class Running {
public:
  Running(const std::string &Program, ArrayRef<std::string> Arguments,
          std::optional<StringRef> Output) {
    SmallVector<StringRef, 16> Words = {Program};
    Words.append(Arguments.begin(), Arguments.end());
    const std::optional<StringRef> Redirects[] = {std::nullopt, Output, Output};
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

std::string limit(unsigned Registers) {
  return "--maxrregcount=" + std::to_string(Registers);
}

/// The text with abi::AssembledMark where the module defines its configuration.
std::string withMark(StringRef PTX) {
  const std::string Size = std::to_string(sizeof(crsan::abi::Config));
  const Regex Definition("^\\.(weak|visible)[ \t]+\\.const[^;=]*" +
                             std::string(crsan::abi::ConfigName) + "\\[" +
                             Size + "\\];$",
                         Regex::Newline);
  SmallVector<StringRef, 2> Found;
  if (!Definition.match(PTX, &Found))
    return PTX.str();
  const StringRef Declared = Found[0].drop_back();
  std::string Text(PTX.begin(), Declared.end());
  raw_string_ostream Out(Text);
  Out << " = {";
  static_assert(offsetof(crsan::abi::Config, Assembled) + sizeof(uint64_t) ==
                sizeof(crsan::abi::Config));
  for (size_t I = 0; I < offsetof(crsan::abi::Config, Assembled); ++I)
    Out << "0,";
  for (unsigned Byte = 0; Byte < sizeof(uint64_t); ++Byte)
    Out << (Byte ? "," : "")
        << (crsan::abi::AssembledMark >> (8 * Byte) & 0xff);
  Out << "}" << StringRef(Declared.end(), PTX.end() - Declared.end());
  return Text;
}

/// Assembles `Stem`.ptx to `Stem`.o, for the device linker.
Running assemble(const CommandLine &C, const std::string &Stem,
                 std::vector<std::string> Flags) {
  for (const std::string &Word :
       {std::string("-c"), std::string("--output-file"), Stem + ".o",
        Stem + ".ptx"})
    Flags.push_back(Word);
  return Running(C.tool("ptxas"), Flags, "");
}

/// What the kernels that have native twins may use, so that as many of their
/// blocks fit on the device as without checks.
std::map<std::string, unsigned> limitsByTwins(const CommandLine &C,
                                              const std::string &Twins) {
  std::map<std::string, unsigned> Limits;
  if (Twins.empty())
    return Limits;
  const std::string Stem = C.Output + ".twins";
  const FileRemover Source(Stem + ".ptx"), Object(Stem + ".o"),
      Words(Stem + ".txt");
  if (!write(Stem + ".ptx", Twins))
    return Limits;
  std::vector<std::string> Arguments = {"-m64", "-O3", "--verbose",
                                        "--gpu-name=" + C.Architecture};
  if (C.IsRelocatable)
    Arguments.push_back("-c");
  for (const std::string &Word :
       {std::string("--output-file"), Stem + ".o", Stem + ".ptx"})
    Arguments.push_back(Word);
  if (!Running(C.tool("ptxas"), Arguments, Stem + ".txt").succeeds())
    return Limits;
  auto Output = MemoryBuffer::getFile(Stem + ".txt");
  if (!Output)
    return Limits;
  constexpr unsigned Unit = 8; // Registers are given out by so many.
  for (const auto &[Name, Used] :
       crsan::ptx::usedRegisters((*Output)->getBuffer()))
    if (StringRef Kernel = Name; Kernel.consume_front(crsan::abi::TwinPrefix))
      Limits[Kernel.str()] =
          std::max(FullResidency, (Used + Unit - 1) / Unit * Unit);
  return Limits;
}

/// How many registers a thread may have, in kernels and in what these call.
struct RegisterLimits {
  std::map<std::string, unsigned> Kernels; ///< Without bounds of their own.
  unsigned Functions;                      ///< The least of all kernels.
};

RegisterLimits registerLimits(const CommandLine &C, StringRef Program,
                              const std::string &Twins) {
  const std::map<std::string, unsigned> ByTwin = limitsByTwins(C, Twins);
  RegisterLimits Limits = {{}, C.MaxRegisters};
  for (const crsan::ptx::EntryBounds &Kernel :
       crsan::ptx::entryBounds(Program)) {
    const unsigned Fit = Kernel.registersThatFit();
    unsigned Limit = Fit ? Fit : C.MaxRegisters;
    if (auto Native = ByTwin.find(Kernel.Name); Native != ByTwin.end())
      Limit = std::min(Limit, Native->second);
    if (Limit != Fit)
      Limits.Kernels[Kernel.Name] = Limit;
    Limits.Functions = std::min(Limits.Functions, Limit);
  }
  Limits.Functions = std::max(Limits.Functions, FullResidency);
  return Limits;
}

/// The names that the pass has written down as those of functions in which no
/// lane waits for another of its warp (lib/Transforms/Polls.h).
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

/// Changes an object file so that checks part no warps, and keep none parted
/// (Convergence.h). `Waitless` are functions of the program.
bool keepWarpsTogether(const std::string &Path, const StringSet<> &Waitless) {
  auto Buffer = MemoryBuffer::getFile(Path);
  if (!Buffer)
    return false;
  std::string Object = (*Buffer)->getBuffer().str();
  auto IsRuntime = [](std::string_view Name) {
    return Name.starts_with("__crsan_");
  };
  unsigned Changes =
      crsan::ptx::removeYields(Object, [&](std::string_view Name) {
        return IsRuntime(Name) || Waitless.contains(Name);
      });
  Changes += crsan::ptx::reserveGatherings(Object, std::not_fn(IsRuntime));
  return Changes == 0 || write(Path, Object);
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
  const RegisterLimits Limits = registerLimits(C, Split->Program, Split->Twins);
  Split->Program = crsan::ptx::limitRegisters(Split->Program, Limits.Kernels);
  const std::string Program = C.Output + ".program";
  const std::string Runtime = C.Output + ".runtime";
  std::vector<FileRemover> Removers;
  Removers.reserve(4);
  for (const std::string &Stem : {Program, Runtime})
    for (const char *Extension : {".ptx", ".o"})
      Removers.emplace_back(Stem + Extension);
  if (!write(Program + ".ptx", withMark(Split->Program)) ||
      !write(Runtime + ".ptx", withMark(Split->Runtime)))
    return false;
  // However the program is compiled, the runtime is not slow: what it takes
  // longer than a delay, it does not see. Nor is it debugged.
  const bool HasMetadata = StringRef(Split->Runtime).contains("__crsan_md_");
  std::vector<std::string> RuntimeFlags = {
      "-m64", "-O3", "--gpu-name=" + C.Architecture,
      limit(HasMetadata ? Limits.Functions : FullResidency)};
  std::vector<std::string> ProgramFlags = C.Flags;
  if (none_of(C.Flags, [](StringRef F) { return F.contains("split-compile"); }))
    ProgramFlags.push_back(ProgramThreads.str());
  ProgramFlags.push_back(limit(Limits.Functions));
  Running ProgramJob = assemble(C, Program, ProgramFlags);
  // Both are waited for, whatever becomes of the first.
  const bool RuntimeDone = assemble(C, Runtime, RuntimeFlags).succeeds();
  if (!ProgramJob.succeeds() || !RuntimeDone)
    return false;
  const StringSet<> Waitless = waitless((*Buffer)->getBuffer());
  for (const std::string &Stem : {Program, Runtime})
    if (!keepWarpsTogether(Stem + ".o", Waitless))
      return false;
  std::vector<std::string> Link = {"-m64", "-arch=" + C.Architecture,
                                   "--suppress-stack-size-warning"};
  if (C.IsDebug)
    Link.push_back("-g");
  for (const std::string &Word :
       {std::string("-o"), C.Output, Program + ".o", Runtime + ".o"})
    Link.push_back(Word);
  return Running(C.tool("nvlink"), Link, "").succeeds();
}

/// The text with itself appended, as a variable of its own.
std::string withItself(StringRef PTX) {
  if (!compression::zstd::isAvailable())
    return PTX.str();
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

/// Assembles the module as a whole, relocatable code with its own text in it.
bool assembleWhole(const CommandLine &C) {
  if (C.Input.empty() || C.Output.empty()) {
    errs() << "CRSan: crsan-ptxas needs an input file and --output-file\n";
    return false;
  }
  auto Buffer = MemoryBuffer::getFile(C.Input);
  if (!Buffer) {
    errs() << "CRSan: cannot read '" << C.Input
           << "': " << Buffer.getError().message() << "\n";
    return false;
  }
  const StringRef Given = (*Buffer)->getBuffer();
  std::string Text = crsan::ptx::dropTwins(Given).value_or(Given.str());
  unsigned MaxRegisters = C.MaxRegisters;
  if (const auto Split = crsan::ptx::splitRuntime(Given)) {
    const RegisterLimits Limits = registerLimits(C, Text, Split->Twins);
    Text = crsan::ptx::limitRegisters(Text, Limits.Kernels);
    MaxRegisters = Limits.Functions;
  }
  const StringSet<> Waitless = waitless(Given);
  Text = withMark(Text);
  if (C.IsRelocatable)
    Text = withItself(Text);
  const std::string Source = C.Output + ".whole.ptx";
  const FileRemover Remover(Source);
  std::vector<std::string> Arguments = C.Flags;
  for (const std::string &Word :
       {limit(MaxRegisters), std::string("--output-file"), C.Output, Source})
    Arguments.push_back(Word);
  if (!write(Source, Text)) {
    errs() << "CRSan: cannot write '" << Source << "'\n";
    return false;
  }
  if (!Running(C.tool("ptxas"), Arguments, "").succeeds()) {
    // What is wrong, ptxas says of the file that it was given.
    Arguments.back() = C.Input;
    if (Running(C.tool("ptxas"), Arguments, std::nullopt).succeeds())
      errs() << "CRSan: ptxas assembles '" << C.Input
             << "', but not with the registers of its kernels limited\n";
    return false;
  }
  if (keepWarpsTogether(C.Output, Waitless))
    return true;
  errs() << "CRSan: cannot rewrite '" << C.Output << "'\n";
  return false;
}

} // namespace

int main(int Argc, char **Argv) {
  const CommandLine C = CommandLine::parse(ArrayRef(Argv + 1, Argc - 1));
  if (C.Toolkit.empty()) {
    errs() << "CRSan: crsan-ptxas is run by crsan-clang, with "
              "--crsan-toolkit=ROOT\n";
    return 1;
  }
  return assembleApart(C) || assembleWhole(C) ? 0 : 1;
}
