// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// crsan-nvcc's command line to nvcc's.
#include "NvccTranslation.h"
#include "HostPart.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace crsan::nvcc;
using crsan::driver::Argument;
using crsan::driver::CommandLine;
using crsan::driver::Installation;
using crsan::driver::RaceOptions;
using llvm::StringRef;

llvm::Error crsan::nvcc::checkOptions(const CommandLine &Line,
                                      const RaceOptions &Options) {
  const NvccLine Nvcc(Line);
  if (Options.Host)
    return llvm::createStringError(
        "-fsanitize-cuda-race-host needs clang; build the program with "
        "crsan-clang++, or leave the option out");
  if (!Options.IgnoreLists.empty())
    return llvm::createStringError(
        "-fsanitize-ignorelist= needs clang; build the program with "
        "crsan-clang++, or name the races to suppress "
        "(CRSAN_OPTIONS=suppressions=FILE)");
  if (!Options.PassOptions.empty())
    return llvm::createStringError("'-mllvm " + Options.PassOptions.front() +
                                   "' needs clang; leave it out");
  auto IsLinkTime = [](StringRef Value) { return Value.contains("lto_"); };
  if (Nvcc.has({"--dlink-time-opt", "--lto", "--ltoir", "--optix-ir"}) ||
      llvm::any_of(Nvcc.values("--generate-code"), IsLinkTime) ||
      llvm::any_of(Nvcc.values("--gpu-code"), IsLinkTime) ||
      llvm::any_of(Nvcc.values("--gpu-architecture"), IsLinkTime))
    return llvm::createStringError(
        "code for link-time optimization and for OptiX cannot be checked, "
        "since "
        "it is no PTX yet; leave out -dlto, -ltoir, -optix-ir and lto_ "
        "architectures, or compile this file without -fsanitize=cuda-race");
  return llvm::Error::success();
}

/// `sm_90a` or `compute_90a`, without the prefix.
static StringRef suffix(StringRef Architecture) {
  return Architecture.substr(Architecture.find('_') + 1);
}

static unsigned number(StringRef Architecture) {
  unsigned Number = 0;
  suffix(Architecture).consumeInteger(10, Number);
  return Number;
}

/// The option by which PTX gets into a program that would have none: the driver
/// needs none, but the simulated GPU executes nothing else. Of the newest
/// architecture that is asked for.
static std::optional<std::string> optionForPTX(const NvccLine &Nvcc) {
  const Words Codes = Nvcc.values("--gpu-code");
  const Words Specs = Nvcc.values("--generate-code");
  auto IsPTX = [](StringRef Codes) { return Codes.contains("compute_"); };
  if (!Codes.empty()) {
    const Words Virtual = Nvcc.values("--gpu-architecture");
    if (Virtual.empty() || llvm::any_of(Codes, IsPTX))
      return std::nullopt;
    return "-code=compute_" + suffix(Virtual.back()).str();
  }
  std::string Newest;
  for (StringRef Spec : Specs) {
    const auto [Arch, Code] = Spec.split(",code=");
    if (IsPTX(Code) || !Spec.contains(",code="))
      return std::nullopt;
    const StringRef Name = suffix(Arch.split("arch=").second);
    if (Newest.empty() || number(Arch) > number("_" + Newest))
      Newest = Name.str();
  }
  if (Newest.empty())
    return std::nullopt;
  return "-gencode=arch=compute_" + Newest + ",code=compute_" + Newest;
}

static void addCompileFlags(Words &Out, const NvccLine &Nvcc,
                            const Installation &Where,
                            const ToolkitView &View) {
  Out.push_back("-D__SANITIZE_CUDA_RACE__=1");
  Out.insert(Out.end(),
             {"-include", View.objectHeader(), "-isystem", Where.includeDir()});
  if (!Nvcc.has({"--generate-line-info", "--device-debug"}))
    Out.push_back("-lineinfo");
  if (Nvcc.embedsDeviceCode())
    if (std::optional<std::string> Option = optionForPTX(Nvcc))
      Out.push_back(*Option);
}

/// A path as nvcc passes it on in one piece.
static std::string quoted(const std::string &Path) {
  return StringRef(Path).find_first_of(" ,") == StringRef::npos
             ? Path
             : "\"" + Path + "\"";
}

static void addLinkFlags(Words &Out, const NvccLine &Nvcc,
                         const RaceOptions &Options, const Installation &Where,
                         const RealNvcc &Real, const ToolkitView &View) {
  // Behind -x, nvcc would take the file for a source.
  if (Nvcc.has({"--x"}))
    Out.insert(Out.end(), {"-Xlinker", quoted(View.hostPart())});
  else
    Out.push_back(View.hostPart());
  Words Linker = crsan::driver::wrapperOptions();
  llvm::append_range(Linker, crsan::driver::exportOptions(Options.HaltOnError));
  // As lib/Driver/LinkFlags.cpp has it: LD_LIBRARY_PATH precedes the folders.
  llvm::append_range(Linker, Words{"--enable-new-dtags", "-rpath", "$ORIGIN",
                                   "-rpath", quoted(Where.libraryDir()),
                                   "-rpath", quoted(Real.libraryDir())});
  for (const std::string &Word : Linker)
    Out.insert(Out.end(), {"-Xlinker", Word});
}

Words crsan::nvcc::translate(const CommandLine &Line,
                             const RaceOptions &Options,
                             const Installation &Where, const RealNvcc &Real,
                             const ToolkitView &View) {
  const NvccLine Nvcc(Line);
  Words Out;
  for (const Argument &A : Line.Arguments)
    for (const std::string &Word : A.Words)
      // The simulated GPU takes the place of the shared library.
      Out.push_back(Options.CudaRuntime == "shared" && Word == "-lcudart_static"
                        ? "-lcudart"
                        : Word);
  Out.push_back("-cudart=" + Options.CudaRuntime);
  if (Nvcc.compilesCuda())
    addCompileFlags(Out, Nvcc, Where, View);
  if (Nvcc.links())
    addLinkFlags(Out, Nvcc, Options, Where, Real, View);
  return Out;
}
