// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The flags of a link.
#include "DeviceCode.h"
#include "Flags.h"
#include "HostPart.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace crsan::driver;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// Whether a word of the user's names the CUDA run-time library.
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

/// Device code that clang would leave out of the link (DeviceCode.h).
static void addDeviceCodeOfArchives(Words &Out, const Command &C) {
  Words Dirs = C.Toolkit->libraryDirs();
  for (const char *Dir : {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu",
                          "/lib", "/usr/lib"})
    Dirs.push_back(Dir);
  const ArchivedDeviceCode Found = findArchivedDeviceCode(C.Line, Dirs);
  for (const std::string &Architecture : Found.Architectures)
    toLinker(Out, "--should-extract=" + Architecture);
  for (const std::string &Warning : Found.Warnings)
    llvm::errs() << "CRSan: warning: " << Warning << "\n";
}

/// The host part, whole, since nothing refers to it; and the wrappers of
/// CUDA's functions, which the linker takes as needed (lld takes them if the
/// CUDA run-time library has the wrapped functions, called or not).
static void addHostRuntime(Words &Out, const Command &C) {
  auto Linker = [&](const std::string &Option) { toLinker(Out, Option); };
  Linker("--whole-archive");
  Linker(C.Where.hostRuntime());
  Linker("--no-whole-archive");
  for (const std::string &Option : wrapperOptions())
    Linker(Option);
  Linker(C.Where.wrappers());
  for (const std::string &Option : exportOptions(C.Options.HaltOnError))
    Linker(Option);
}

static void addRunPath(Words &Out, const std::string &Folder) {
  toLinker(Out, "-rpath");
  toLinker(Out, Folder);
}

/// The CUDA run-time library, unless the user names one.
static void addCudaRuntime(Words &Out, const Command &C) {
  const std::string &Kind = C.Options.CudaRuntime;
  if (Kind == "none")
    return;
  const bool IsNamed = namesCudaRuntime(C.Line);
  if (Kind == "static") {
    if (!IsNamed)
      for (const char *Library :
           {"-lcudart_static", "-ldl", "-lrt", "-lpthread"})
        Out.push_back(Library);
    return;
  }
  if (!IsNamed)
    Out.push_back("-lcudart");
  if (!C.Toolkit->libraryDirs().empty())
    addRunPath(Out, C.Toolkit->libraryDirs().front());
}

/// Files are named behind -Xlinker, because behind `-x cuda` clang would take
/// them for sources.
Words crsan::driver::libraryFlags(const Command &C) {
  Words Out;
  if (C.Options.Enabled)
    addHostRuntime(Out, C);
  for (const std::string &Dir : C.Toolkit->libraryDirs())
    Out.push_back("-L" + Dir);
  if (C.linksDeviceCode())
    addDeviceCodeOfArchives(Out, C);
  if (!C.Options.Enabled) {
    addCudaRuntime(Out, C);
    return Out;
  }
  // The program finds its libraries wherever it is started. The folders are in
  // DT_RUNPATH, which LD_LIBRARY_PATH precedes: by that the simulated GPU comes
  // in. The program's own folder is first, because the program may have been
  // copied to another machine. The host part looks for libcrsan.so in these
  // folders (runtime/host/Host.c).
  toLinker(Out, "--enable-new-dtags");
  addRunPath(Out, "$ORIGIN");
  addRunPath(Out, C.Where.libraryDir());
  addCudaRuntime(Out, C);
  return Out;
}

Words crsan::driver::deviceLinkFlags(const Command &C) {
  // Device code may come from objects and archives too.
  Words Out;
  if (C.linksDeviceCode()) {
    Out.push_back("--offload-link");
    // The linker wrapper hands options of the compilation, which a command that
    // compiles and links has, to the link of device code.
    toLinker(Out, "--device-compiler=-Wno-unused-command-line-argument");
    llvm::append_range(Out, deviceRuntimeFlags(C));
  }
  if (!C.namesToolkit())
    Out.push_back("--cuda-path=" + C.Toolkit->Root);
  return Out;
}

Words crsan::driver::deviceRuntimeFlags(const Command &C) {
  Words Out;
  if (C.Nvcc && !C.Nvcc->HasDeviceRuntime)
    return Out;
  for (const std::string &Dir : C.Toolkit->libraryDirs())
    if (fs::exists(Dir + "/libcudadevrt.a"))
      for (const std::string &Word : {"-L" + Dir, std::string("-lcudadevrt")})
        llvm::append_range(Out, Words{"-Xoffload-linker", Word});
  return Out;
}

/// A word of the user's, as the linker gets it: the static CUDA runtime becomes
/// the shared one, so that one program runs on both GPUs. `--cudart=static`
/// keeps it.
static std::string linkWord(const RaceOptions &Options, StringRef Word) {
  if (!Options.Enabled || Options.CudaRuntime != "shared")
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

void crsan::driver::append(Words &Out, const Command &C, const Argument &A) {
  const bool IsSource = A.IsInput && A.Input != InputKind::Linker;
  for (const std::string &Word : A.Words)
    Out.push_back(IsSource ? Word : linkWord(C.Options, Word));
}

Words crsan::driver::inGroup(const Command &C, const Words &Linked) {
  if (!C.Nvcc)
    return Linked;
  Words Out = {"-Xlinker", "--start-group"};
  llvm::append_range(Out, Linked);
  toLinker(Out, "--end-group");
  return Out;
}

void crsan::driver::appendQuietly(Words &Out, const Words &Flags) {
  Out.push_back("--start-no-unused-arguments");
  llvm::append_range(Out, Flags);
  Out.push_back("--end-no-unused-arguments");
}
