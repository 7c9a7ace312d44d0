//===- Translation.cpp - CRSan's command line to clang's ---*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Translation.h"
#include "CudaToolkit.h"
#include "DeviceCode.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace crsan::driver;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// The oldest architecture of CUDA 13. Newer GPUs compile its PTX when the
/// program starts.
static constexpr StringRef DefaultArch = "sm_75";

/// How programs launch kernels; a debugged one tells of it (runtime/host).
static constexpr const char *LaunchFunctions[] = {
    "cudaLaunchKernel",
    "cudaLaunchKernel_ptsz",
    "cudaLaunchCooperativeKernel",
    "cudaLaunchCooperativeKernel_ptsz",
    "cudaLaunchKernelExC",
    "cudaLaunchKernelExC_ptsz",
};

namespace {
using Words = std::vector<std::string>;

/// The flags that one part of the work adds, before and after the user's own.
class Translator {
public:
  Translator(const CommandLine &Line, const RaceOptions &Options,
             const Installation &Where)
      : Line(Line), Options(Options), Where(Where), Final(Line.phase()) {}

  llvm::Expected<Plan> run();

private:
  const CommandLine &Line;
  const RaceOptions &Options;
  const Installation &Where;
  const Phase Final;
  std::optional<CudaToolkit> Toolkit;
  bool ArchNamed = false;

  bool compilesCuda() const { return Line.hasInput(InputKind::Cuda); }
  bool compilesHost() const { return Line.hasInput(InputKind::Host); }
  /// Whether the user's command makes an executable or a shared library.
  bool links() const {
    return Final == Phase::Link && Line.hasAnyInput() &&
           !Line.has(options::OPT_r) &&
           !Line.has(options::OPT_offload_device_only);
  }
  bool dryRun() const { return Line.has(options::OPT__HASH_HASH_HASH); }

  llvm::Error findToolkit();
  llvm::Error checkParts() const;
  void addCommonFlags(Words &Out) const;
  void addCudaFlags(Words &Out) const;
  void addPassFlags(Words &Out) const;
  void addAssemblerFlags(Words &Out) const;
  void addArchFlags(Words &Out) const;
  void addLinkFlags(Words &Out) const;
  void addDeviceCodeOfArchives(Words &Out) const;
  void append(Words &Out, const Argument &A) const;
  bool embedsPTX() const;

  Words single() const;
  llvm::Expected<Plan> split() const;
  Words compile(const Argument &Source, const Words &Output) const;
};
} // namespace

llvm::Error Translator::findToolkit() {
  llvm::Expected<CudaToolkit> Found =
      CudaToolkit::find(Line.last(options::OPT_cuda_path_EQ));
  if (Found) {
    Toolkit = *Found;
    return llvm::Error::success();
  }
  // A host file may have nothing to do with CUDA.
  if (compilesCuda() || links())
    return Found.takeError();
  llvm::consumeError(Found.takeError());
  return llvm::Error::success();
}

llvm::Error Translator::checkParts() const {
  if (dryRun())
    return llvm::Error::success();
  for (const auto &[Needed, Path] :
       {std::pair(compilesCuda(), Where.passPlugin()),
        std::pair(links(), Where.hostRuntime()),
        std::pair(links(), Where.launchWrappers())})
    if (Needed && !fs::exists(Path))
      return llvm::createStringError(
          "'" + Path +
          "' is missing, which -fsanitize=cuda-race needs; build CRSan "
          "completely or reinstall it");
  return llvm::Error::success();
}

void Translator::addCommonFlags(Words &Out) const {
  Out.push_back("-D__SANITIZE_CUDA_RACE__=1");
  // Sites are named by line: without a table the report could not say where.
  if (!Line.has(options::OPT_g_Group))
    Out.push_back("-gline-tables-only");
}

bool Translator::embedsPTX() const { return !Line.has(options::OPT_fgpu_rdc); }

void Translator::addArchFlags(Words &Out) const {
  if (embedsPTX())
    Out.push_back("--cuda-include-ptx=all");
  if (ArchNamed)
    return;
  // Relocatable code carries no PTX (clang 22), so that it runs on its own
  // architecture only; there, the GPU at hand is the better guess.
  if (!embedsPTX() && fs::exists("/dev/nvidiactl")) {
    Out.push_back("--offload-arch=native");
    return;
  }
  if (!embedsPTX())
    llvm::errs() << "CRSan: warning: -fgpu-rdc without --offload-arch= makes "
                 << "code for " << DefaultArch
                 << " only; name your GPU's architecture\n";
  Out.push_back(("--offload-arch=" + DefaultArch).str());
}

/// The device side alone loads the pass. Clang 22 loads pass plugins before it
/// reads -mllvm, so that the plugin's own options are known by then.
void Translator::addPassFlags(Words &Out) const {
  auto Device = [&](const llvm::Twine &Option) {
    Out.push_back("-Xarch_device");
    Out.push_back(Option.str());
  };
  Device("-fpass-plugin=" + Where.passPlugin());
  if (Options.Mode != "collider")
    Device("-mllvm=-crsan-mode=" + Options.Mode);
  for (const std::string &File : Options.IgnoreLists)
    Device("-mllvm=-crsan-ignorelist=" + File);
  for (const std::string &Option : Options.PassOptions)
    Device("-mllvm=" + Option);
}

/// Relocatable code is linked at the end anyway, with one runtime; our
/// assembler puts its PTX into it, since the device linker would drop it
/// (embedsPTX).
void Translator::addAssemblerFlags(Words &Out) const {
  if (Line.last(options::OPT_ptxas_path_EQ))
    return;
  Out.push_back("--ptxas-path=" + Where.assembler());
  Out.push_back("-Xcuda-ptxas");
  Out.push_back("--crsan-toolkit=" + Toolkit->Root);
}

void Translator::addCudaFlags(Words &Out) const {
  Out.push_back("-Wno-unknown-cuda-version");
  // Instrumented loops are not always unrolled as their pragmas ask.
  Out.push_back("-Wno-pass-failed");
  if (!Line.last(options::OPT_cuda_path_EQ))
    Out.push_back("--cuda-path=" + Toolkit->Root);
  addArchFlags(Out);
  addPassFlags(Out);
  addAssemblerFlags(Out);
  if (Options.CompatHeader) {
    Out.push_back("-include");
    Out.push_back(Where.compatHeader());
  }
}

/// What the user's words say of the CUDA run-time library.
static bool namesCudaRuntime(const CommandLine &Line) {
  return llvm::any_of(Line.Arguments, [](const Argument &A) {
    return llvm::any_of(A.Words, [&](StringRef Word) {
      return (A.IsInput ? path::filename(Word) : Word).contains("cudart");
    });
  });
}

static void toLinker(Words &Out, const std::string &Option) {
  Out.push_back("-Xlinker");
  Out.push_back(Option);
}

/// See DeviceCode.h.
void Translator::addDeviceCodeOfArchives(Words &Out) const {
  Words Dirs = Toolkit->libraryDirs();
  for (const char *Dir : {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu",
                          "/lib", "/usr/lib"})
    Dirs.push_back(Dir);
  const ArchivedDeviceCode Code = findArchivedDeviceCode(Line, Dirs);
  for (const std::string &Architecture : Code.Architectures)
    toLinker(Out, "--should-extract=" + Architecture);
  for (const std::string &Warning : Code.Warnings)
    llvm::errs() << "CRSan: warning: " << Warning << "\n";
}

/// The host part, once and whole, since nothing refers to it; what wraps
/// launches, which the linker takes as needed (lld if the CUDA run-time library
/// has them, called or not); then the CUDA run-time library, unless the user
/// chose one. -Xlinker, because after `-x cuda` a file name would be taken for
/// a source.
void Translator::addLinkFlags(Words &Out) const {
  auto Linker = [&](const std::string &Option) { toLinker(Out, Option); };
  Linker("--whole-archive");
  Linker(Where.hostRuntime());
  Linker("--no-whole-archive");
  for (const char *Function : LaunchFunctions)
    Linker(std::string("--wrap=") + Function);
  Linker(Where.launchWrappers());
  // Exported, so that the injection library finds it too.
  if (Options.HaltOnError) {
    Linker("--defsym=__crsan_halt_on_error=1");
    Linker("--export-dynamic-symbol=__crsan_halt_on_error");
  }
  for (const std::string &Dir : Toolkit->libraryDirs())
    Out.push_back("-L" + Dir);
  addDeviceCodeOfArchives(Out);
  // Found at run time, wherever the program is started; as DT_RUNPATH, which
  // LD_LIBRARY_PATH goes before: by that the simulated GPU comes in. First
  // beside the program, which may have been copied to another machine. The host
  // part looks for libcrsan.so in these folders (runtime/host/Host.c).
  auto RunPath = [&](const std::string &Folder) {
    Linker("-rpath");
    Linker(Folder);
  };
  Linker("--enable-new-dtags");
  RunPath("$ORIGIN");
  RunPath(Where.libraryDir());
  if (Options.CudaRuntime == "none")
    return;
  bool IsNamed = namesCudaRuntime(Line);
  if (Options.CudaRuntime == "static") {
    if (!IsNamed)
      for (const char *Library :
           {"-lcudart_static", "-ldl", "-lrt", "-lpthread"})
        Out.push_back(Library);
    return;
  }
  if (!IsNamed)
    Out.push_back("-lcudart");
  if (!Toolkit->libraryDirs().empty())
    RunPath(Toolkit->libraryDirs().front());
}

/// The user's word for the linker: the static CUDA runtime becomes the shared
/// one, so that one program runs on both GPUs. `--cudart=static` keeps it.
static std::string linkWord(const RaceOptions &Options, StringRef Word) {
  if (Options.CudaRuntime != "shared")
    return Word.str();
  if (Word == "-lcudart_static")
    return "-lcudart";
  // CMake names the file.
  if (path::filename(Word) != "libcudart_static.a")
    return Word.str();
  llvm::SmallString<128> Shared(path::parent_path(Word));
  path::append(Shared, "libcudart.so");
  return fs::exists(Shared) ? Shared.str().str() : "-lcudart";
}

void Translator::append(Words &Out, const Argument &A) const {
  for (const std::string &Word : A.Words)
    Out.push_back(A.IsInput && A.Input != InputKind::Linker
                      ? Word
                      : linkWord(Options, Word));
}

/// What we add may turn out not to be needed (PTX in a preprocessed file): the
/// user, who did not write it, shall not be warned.
static void appendQuietly(Words &Out, const Words &Added) {
  Out.push_back("--start-no-unused-arguments");
  llvm::append_range(Out, Added);
  Out.push_back("--end-no-unused-arguments");
}

/// Folders are searched after the user's own, so that a newer CCCL wins.
static Words includeFlags(const std::optional<CudaToolkit> &Toolkit,
                          const Installation &Where, InputKind Kind) {
  Words Out;
  if (Toolkit && !Toolkit->ccclDir().empty()) {
    Out.push_back("-isystem");
    Out.push_back(Toolkit->ccclDir());
  }
  // Clang adds it for CUDA, behind its wrappers, where it has to be.
  if (Toolkit && Kind == InputKind::Host) {
    Out.push_back("-isystem");
    Out.push_back(Toolkit->includeDir());
  }
  Out.push_back("-isystem");
  Out.push_back(Where.includeDir());
  return Out;
}

/// One command stays one command if its sources are all of one kind.
Words Translator::single() const {
  Words Out, Before, After;
  if (compilesCuda() || compilesHost())
    addCommonFlags(Before);
  if (compilesCuda())
    addCudaFlags(Before);
  if (compilesCuda() || compilesHost())
    After = includeFlags(Toolkit, Where,
                         compilesCuda() ? InputKind::Cuda : InputKind::Host);
  if (links()) {
    // Device code may come from objects and archives too.
    Before.push_back("--offload-link");
    if (!compilesCuda() && !Line.last(options::OPT_cuda_path_EQ))
      Before.push_back("--cuda-path=" + Toolkit->Root);
    addLinkFlags(After);
  }
  appendQuietly(Out, Before);
  for (const Argument &A : Line.Arguments)
    append(Out, A);
  appendQuietly(Out, After);
  return Out;
}

/// One source of a command that has sources of both kinds.
Words Translator::compile(const Argument &Source, const Words &Output) const {
  Words Out, Before;
  addCommonFlags(Before);
  if (Source.Input == InputKind::Cuda)
    addCudaFlags(Before);
  appendQuietly(Out, Before);
  // What is meant for the linker is not unused, only not used here.
  Out.push_back("--start-no-unused-arguments");
  bool Splits = !Output.empty();
  for (const Argument &A : Line.Arguments) {
    const bool NamesOutput =
        A.matches(options::OPT_o) || A.matches(options::OPT_MF) ||
        A.matches(options::OPT_MD) || A.matches(options::OPT_MMD);
    if (A.IsInput || A.matches(options::OPT_x) || (Splits && NamesOutput))
      continue;
    append(Out, A);
  }
  Out.push_back("--end-no-unused-arguments");
  appendQuietly(Out, includeFlags(Toolkit, Where, Source.Input));
  llvm::append_range(Out, Output);
  if (!Source.Language.empty()) {
    Out.push_back("-x");
    Out.push_back(Source.Language);
  }
  append(Out, Source);
  return Out;
}

/// The name clang gives a dependency file: after the output, or the source.
static std::string dependencyFile(const CommandLine &Line) {
  if (auto Named = Line.last(options::OPT_MF))
    return *Named;
  llvm::SmallString<128> Name(Line.last(options::OPT_o).value_or("a.out"));
  path::replace_extension(Name, "d");
  return Name.str().str();
}

/// Clang leaves inputs out of what it prints if they do not exist.
static void touch(StringRef Path) {
  std::error_code EC;
  llvm::raw_fd_ostream(Path, EC);
}

llvm::Expected<Plan> Translator::split() const {
  Plan P;
  bool Linking = links();
  std::optional<std::string> Output = Line.last(options::OPT_o);
  if (!Linking && Output && Final != Phase::Preprocess &&
      Final != Phase::SyntaxOnly)
    return llvm::createStringError(
        "-o names one file, but CUDA and other sources make several; compile "
        "them one by one");

  // -save-temps keeps the objects too, in the current folder.
  bool Keep = llvm::any_of(Line.Arguments, [](const Argument &A) {
    return A.matches(options::OPT_save_temps_EQ);
  });
  llvm::SmallString<128> Folder;
  if (Linking && !Keep) {
    if (std::error_code EC = fs::createUniqueDirectory("crsan", Folder))
      return llvm::createStringError("cannot make a temporary folder: " +
                                     EC.message() + "; is TMPDIR writable?");
  }
  bool Dependencies =
      Linking && (Line.has(options::OPT_MD) || Line.has(options::OPT_MMD));
  if (Dependencies)
    P.DependencyFile = dependencyFile(Line);

  // A name starting with the source's, and different for a.cu and b/a.cpp.
  auto Temporary = [&](StringRef Source, StringRef Extension) {
    llvm::SmallString<128> File(Folder);
    path::append(File, path::stem(Source) + "-" + llvm::Twine(P.Jobs.size()) +
                           Extension);
    P.Temporaries.push_back(File.str().str());
    return P.Temporaries.back();
  };
  Words Link, LinkBefore = {"--offload-link"}, LinkAfter;
  if (!Line.last(options::OPT_cuda_path_EQ))
    LinkBefore.push_back("--cuda-path=" + Toolkit->Root);
  appendQuietly(Link, LinkBefore);
  Link.push_back("--start-no-unused-arguments");
  for (const Argument &A : Line.Arguments) {
    if (!A.IsInput || A.Input == InputKind::Linker) {
      // The objects that stand for the sources are in no source language.
      if (!A.matches(options::OPT_x))
        append(Link, A);
      continue;
    }
    Words CompileOutput;
    if (Linking) {
      std::string Object = Temporary(A.spelling(), ".o");
      if (dryRun())
        touch(Object);
      CompileOutput = {"-c", "-o", Object};
      if (Dependencies) {
        std::string Part = Temporary(A.spelling(), ".d");
        P.DependencyParts.push_back(Part);
        llvm::append_range(
            CompileOutput,
            Words{Line.has(options::OPT_MMD) ? "-MMD" : "-MD", "-MF", Part});
        if (!Line.last(options::OPT_MT) && !Line.last(options::OPT_MQ))
          llvm::append_range(CompileOutput,
                             Words{"-MQ", Output.value_or("a.out")});
      }
      Link.push_back(Object);
    }
    P.Jobs.push_back({compile(A, CompileOutput)});
  }
  Link.push_back("--end-no-unused-arguments");
  if (Linking) {
    addLinkFlags(LinkAfter);
    appendQuietly(Link, LinkAfter);
    P.Jobs.push_back({Link});
    P.LastLinks = true;
    P.Temporaries.push_back(Folder.str().str());
  }
  if (Keep)
    P.Temporaries.clear();
  if (dryRun())
    P.DependencyFile.clear();
  return P;
}

llvm::Expected<Plan> Translator::run() {
  if (llvm::Error E = checkNvccOptions(Line))
    return std::move(E);
  llvm::Expected<bool> Named = checkArchitectures(Line);
  if (!Named)
    return Named.takeError();
  ArchNamed = *Named;
  if (llvm::Error E = findToolkit())
    return std::move(E);
  if (llvm::Error E = checkParts())
    return std::move(E);
  if (compilesCuda() && compilesHost())
    return split();
  Plan P;
  P.Jobs.push_back({single()});
  return P;
}

llvm::Expected<Plan> crsan::driver::translate(const CommandLine &Line,
                                              const RaceOptions &Options,
                                              const Installation &Where) {
  return Translator(Line, Options, Where).run();
}
