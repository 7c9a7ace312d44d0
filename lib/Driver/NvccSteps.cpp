// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What nvcc makes and clang does not: -lib, -fatbin and -dlink.
#include "NvccSteps.h"
#include "DeviceCode.h"
#include "Flags.h"
#include "Translation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace crsan::driver;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace {
/// Makes the plan of one command.
class Planner {
public:
  Planner(const NvccCommand &Nvcc, const CommandLine &Line,
          const RaceOptions &Options, const Installation &Where)
      : Nvcc(Nvcc), Line(Line), Options(Options), Where(Where) {}

  llvm::Expected<Plan> library();
  llvm::Expected<Plan> fatbin();
  llvm::Expected<Plan> deviceLink();
  llvm::Expected<Plan> usual();

private:
  const NvccCommand &Nvcc;
  const CommandLine &Line;
  const RaceOptions &Options;
  const Installation &Where;
  llvm::SmallString<128> Folder; ///< Of temporary files.
  Plan P;

  llvm::Error makeFolder();
  std::string temporary(const llvm::Twine &Name);
  std::string output(StringRef Usual) const {
    return Line.last(options::OPT_o).value_or(Usual.str());
  }
  llvm::Error compile(const Argument &Source, const Words &Output);
  llvm::Error archive(const std::string &Archive, const Words &Objects);
};
} // namespace

llvm::Error Planner::makeFolder() {
  if (std::error_code EC = fs::createUniqueDirectory("crsan", Folder))
    return llvm::createStringError("cannot make a temporary folder: " +
                                   EC.message() + "; is TMPDIR writable?");
  return llvm::Error::success();
}

std::string Planner::temporary(const llvm::Twine &Name) {
  llvm::SmallString<128> File(Folder);
  path::append(File, Name);
  P.Temporaries.push_back(File.str().str());
  return P.Temporaries.back();
}

/// Adds the jobs that compile one source of the command; \p Output says what
/// for.
llvm::Error Planner::compile(const Argument &Source, const Words &Output) {
  const bool IsFatbin = Nvcc.Makes == NvccCommand::Product::Fatbin;
  Words Out;
  for (const Argument &A : Line.Arguments)
    if (!A.IsInput && !A.matches(options::OPT_o) &&
        !A.matches(options::OPT_x) && !A.matches(options::OPT_c) &&
        !(IsFatbin && A.matches(options::OPT_offload_arch_EQ)))
      llvm::append_range(Out, A.Words);
  llvm::append_range(Out, Output);
  if (!Source.Language.empty())
    llvm::append_range(Out, Words{"-x", Source.Language});
  Out.push_back(Source.spelling().str());
  const CommandLine One = CommandLine::parse(Out);
  llvm::Expected<Plan> Compilation = translate(One, Options, Where, &Nvcc);
  if (!Compilation)
    return Compilation.takeError();
  llvm::append_range(P.Jobs, Compilation->Jobs);
  return llvm::Error::success();
}

llvm::Error Planner::archive(const std::string &Archive, const Words &Objects) {
  llvm::ErrorOr<std::string> Program =
      llvm::sys::findProgramByName(Nvcc.Archiver);
  if (!Program)
    return llvm::createStringError(
        "'" + Nvcc.Archiver +
        "' was not found, which makes archives; install binutils, or name "
        "another one with -arbin");
  Words Out = {"crs", Archive};
  llvm::append_range(Out, Objects);
  P.Jobs.push_back({Out, *Program});
  return llvm::Error::success();
}

llvm::Expected<Plan> Planner::library() {
  if (llvm::Error E = makeFolder())
    return std::move(E);
  Words Objects;
  for (const Argument &A : Line.Arguments) {
    if (!A.IsInput)
      continue;
    if (A.Input == InputKind::Linker) {
      Objects.push_back(A.spelling().str());
      continue;
    }
    Objects.push_back(temporary(path::stem(A.spelling()) + "-" +
                                llvm::Twine(P.Jobs.size()) + ".o"));
    if (llvm::Error E = compile(A, {"-c", "-o", Objects.back()}))
      return std::move(E);
  }
  if (llvm::Error E = archive(output("a.a"), Objects))
    return std::move(E);
  P.Temporaries.push_back(Folder.str().str());
  P.LastLinks = true;
  return std::move(P);
}

llvm::Expected<Plan> Planner::fatbin() {
  const Argument *Source = nullptr;
  Words Architectures, ToolOptions;
  for (const Argument &A : Line.Arguments) {
    if (A.IsInput && A.Input == InputKind::Cuda && !Source)
      Source = &A;
    else if (A.IsInput)
      return llvm::createStringError(
          "'-fatbin' compiles one CUDA source; write "
          "one command for each");
    if (A.matches(options::OPT_offload_arch_EQ))
      llvm::append_range(Architectures, A.Values);
    if (A.matches(options::OPT_Xcuda_fatbinary))
      llvm::append_range(ToolOptions, A.Values);
  }
  if (!Source)
    return llvm::createStringError("'-fatbin' has no CUDA source");
  if (Architectures.empty())
    Architectures = {"sm_75"};
  llvm::Expected<CudaToolkit> Toolkit =
      CudaToolkit::find(Line.last(options::OPT_cuda_path_EQ));
  if (!Toolkit)
    return Toolkit.takeError();
  if (llvm::Error E = makeFolder())
    return std::move(E);
  Words Out = {"-64", "--create", output("a.fatbin")};
  for (StringRef Architecture : Architectures)
    for (const auto &[Kind, Flag] : {std::pair("elf", "-c"), {"ptx", "-S"}}) {
      const std::string File = temporary(Architecture + "." + Kind);
      if (llvm::Error E =
              compile(*Source, {("--offload-arch=" + Architecture).str(), Flag,
                                "-o", File}))
        return std::move(E);
      StringRef Number = Architecture;
      Number.consume_front("sm_");
      Out.push_back(("--image3=kind=" + llvm::Twine(Kind) + ",sm=" + Number +
                     ",file=" + File)
                        .str());
    }
  llvm::append_range(Out, ToolOptions);
  P.Jobs.push_back({Out, Toolkit->Root + "/bin/fatbinary"});
  P.Temporaries.push_back(Folder.str().str());
  P.LastLinks = true;
  return std::move(P);
}

llvm::Expected<Plan> Planner::deviceLink() {
  if (Line.hasInput(InputKind::Cuda) || Line.hasInput(InputKind::Host))
    return llvm::createStringError(
        "'-dlink' links objects; compile the sources with -dc first");
  const DeviceCodeFiles Files = findDeviceCode(Line);
  const std::string Object = output("a_dlink.o");
  if (Files.Architectures.empty()) {
    // Nothing to link and to register.
    P.Jobs.push_back({{"-x", "c", "-c", "/dev/null", "-o", Object}});
    return std::move(P);
  }
  Command C = {.Line = Line, .Options = Options, .Where = Where, .Nvcc = &Nvcc};
  llvm::Expected<CudaToolkit> Toolkit =
      CudaToolkit::find(Line.last(options::OPT_cuda_path_EQ));
  if (!Toolkit)
    return Toolkit.takeError();
  C.Toolkit = *Toolkit;
  if (llvm::Error E = makeFolder())
    return std::move(E);
  Words Linked = Files.Archives;
  // Objects of the same name would replace each other.
  for (const auto &[Index, File] : llvm::enumerate(Files.Objects)) {
    Linked.push_back(temporary(llvm::Twine(Index) + ".a"));
    if (C.isDryRun())
      touch(Linked.back());
    if (llvm::Error E = archive(Linked.back(), {File}))
      return std::move(E);
  }
  Words Out = {"--offload-link", "--cuda-path=" + Toolkit->Root, "-nostdlib",
               "-no-pie"};
  // The linker wrapper looks for -r, and would link code that is to be linked
  // again; -i is the linker's other word for it.
  llvm::append_range(Out, Words{"-Xlinker", "-i"});
  for (const std::string &Architecture : Files.Architectures)
    llvm::append_range(Out,
                       Words{"-Xlinker", "--should-extract=" + Architecture});
  for (const std::string &Mark : Files.Marks)
    llvm::append_range(Out, Words{"-Xlinker", "--defsym=" + Mark + "=0"});
  for (const Argument &A : Line.Arguments)
    if (A.matches(options::OPT_Xoffload_linker) || A.matches(options::OPT_v) ||
        A.matches(options::OPT__HASH_HASH_HASH))
      llvm::append_range(Out, A.Words);
  llvm::append_range(Out, deviceRuntimeFlags(C));
  llvm::append_range(Out, Linked);
  llvm::append_range(Out, Words{"-o", Object});
  P.Jobs.push_back({Out});
  P.Temporaries.push_back(Folder.str().str());
  P.LastLinks = true;
  return std::move(P);
}

llvm::Expected<Plan> Planner::usual() {
  // -run with nothing to compile or link runs the program.
  if (Nvcc.Runs) {
    const auto Inputs = llvm::make_filter_range(
        Line.Arguments, [](const Argument &A) { return A.IsInput; });
    if (llvm::range_size(Inputs) == 1 &&
        fs::can_execute((*Inputs.begin()).spelling())) {
      P.Then = {(*Inputs.begin()).spelling().str()};
      llvm::append_range(P.Then, Nvcc.RunArguments);
      return std::move(P);
    }
  }
  llvm::Expected<Plan> Translated = translate(Line, Options, Where, &Nvcc);
  if (!Translated || !Nvcc.Runs)
    return Translated;
  llvm::SmallString<128> Program(output("a.out"));
  fs::make_absolute(Program);
  Translated->Then = {Program.str().str()};
  llvm::append_range(Translated->Then, Nvcc.RunArguments);
  return Translated;
}

llvm::Expected<Plan> crsan::driver::planNvccCommand(const NvccCommand &Nvcc,
                                                    const CommandLine &Line,
                                                    const RaceOptions &Options,
                                                    const Installation &Where) {
  Planner Planned(Nvcc, Line, Options, Where);
  llvm::Expected<Plan> P =
      Nvcc.Makes == NvccCommand::Product::DeviceLink ? Planned.deviceLink()
      : Nvcc.Makes == NvccCommand::Product::Fatbin   ? Planned.fatbin()
      : Nvcc.Makes == NvccCommand::Product::Library  ? Planned.library()
                                                     : Planned.usual();
  if (!P)
    return P;
  P->IsDryRun = Line.has(options::OPT__HASH_HASH_HASH);
  P->IsVerbose = Line.has(options::OPT_v);
  return P;
}
