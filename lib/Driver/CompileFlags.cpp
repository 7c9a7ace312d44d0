// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The flags of a compilation.
#include "Flags.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace crsan::driver;
using llvm::StringRef;
namespace fs = llvm::sys::fs;

/// The oldest architecture of CUDA 13. The driver compiles its PTX for newer
/// GPUs when the program starts, but the checks are then not switched on
/// (docs/convergence.md).
static constexpr StringRef DefaultArch = "sm_75";

/// Whether clang can tell the architecture of a GPU that is here: its tool for
/// that, which is another package's, finds one.
static bool hasKnownGpu() {
  if (!fs::exists("/dev/nvidiactl"))
    return false;
  llvm::Expected<Clang> Found = Clang::find(/*CXX=*/false);
  if (!Found) {
    llvm::consumeError(Found.takeError());
    return false;
  }
  llvm::SmallString<128> Tool(llvm::sys::path::parent_path(Found->Program));
  llvm::sys::path::append(Tool, "nvptx-arch");
  constexpr unsigned MostSeconds = 10;
  const std::optional<StringRef> Nowhere[] = {"", "", ""};
  return fs::can_execute(Tool) &&
         llvm::sys::ExecuteAndWait(Tool, {Tool}, std::nullopt, Nowhere,
                                   MostSeconds) == 0;
}

static void addArchFlags(Words &Out, const Command &C) {
  const bool EmbedsPTX = !C.isRelocatable();
  if (EmbedsPTX)
    Out.push_back("--cuda-include-ptx=all");
  if (C.NamesArchitecture)
    return;
  if (hasKnownGpu()) {
    Out.push_back("--offload-arch=native");
    return;
  }
  // Relocatable code carries no PTX (clang 22).
  if (!EmbedsPTX)
    llvm::errs() << "CRSan: warning: -fgpu-rdc without --offload-arch= makes "
                 << "code for " << DefaultArch
                 << " only; name your GPU's architecture\n";
  Out.push_back(("--offload-arch=" + DefaultArch).str());
}

/// The flags by which one side of a compilation loads the pass. Clang 22 loads
/// pass plugins before it reads -mllvm, so that the plugin's own options are
/// known by then. `OnlyToCompiler`: clang's assembler, which loads no plugin,
/// does not get these options; -Xarch_host and -Xarch_device do not take them
/// in this form.
static Words passFlags(const Command &C, const std::string &ModeOption,
                       bool OnlyToCompiler = false) {
  Words Out = {"-fpass-plugin=" + C.Where.passPlugin()};
  const auto Add = [&](const std::string &Option) {
    if (OnlyToCompiler)
      llvm::append_range(Out, Words{"-Xclang", "-mllvm", "-Xclang", Option});
    else
      Out.push_back("-mllvm=" + Option);
  };
  if (!ModeOption.empty())
    Add(ModeOption);
  for (const std::string &File : C.Options.IgnoreLists)
    Add("-crsan-ignorelist=" + File);
  for (const std::string &Option : C.Options.PassOptions)
    Add(Option);
  return Out;
}

static Words devicePassFlags(const Command &C) {
  const std::string &Mode = C.Options.Mode;
  Words Out = passFlags(C, Mode == "collider" ? "" : "-crsan-mode=" + Mode);
  if (!C.isRelocatable())
    Out.push_back("-mllvm=-crsan-whole-program");
  return Out;
}

static Words hostPassFlags(const Command &C, bool OnlyToCompiler) {
  return C.Options.Host ? passFlags(C, "-crsan-host", OnlyToCompiler) : Words();
}

/// Clang runs crsan-ptxas (lib/Assembler), unless the user names a ptxas.
static void addAssemblerFlags(Words &Out, const Command &C) {
  if (C.Line.last(options::OPT_ptxas_path_EQ))
    return;
  Out.push_back("--ptxas-path=" + C.Where.assembler());
  Out.push_back("-Xcuda-ptxas");
  Out.push_back("--crsan-toolkit=" + C.Toolkit->Root);
}

static void addSanitizerFlags(Words &Out, const Command &C) {
  // Instrumented loops are not always unrolled as their pragmas ask.
  Out.push_back("-Wno-pass-failed");
  for (const std::string &Flag : devicePassFlags(C))
    llvm::append_range(Out, Words{"-Xarch_device", Flag});
  for (const std::string &Flag : hostPassFlags(C, /*OnlyToCompiler=*/false))
    llvm::append_range(Out, Words{"-Xarch_host", Flag});
  // With these, clang 22 runs its assembler by itself, with the same -mllvm.
  if (C.Options.Host && (C.Line.has(options::OPT_save_temps_EQ) ||
                         C.Line.has(options::OPT_via_file_asm)))
    Out.push_back("-fno-integrated-as");
  addAssemblerFlags(Out, C);
  Out.push_back("-include");
  Out.push_back(C.Where.markHeader());
}

static void addCudaFlags(Words &Out, const Command &C) {
  Out.push_back("-Wno-unknown-cuda-version");
  if (!C.namesToolkit())
    Out.push_back("--cuda-path=" + C.Toolkit->Root);
  addArchFlags(Out, C);
  if (C.Options.Enabled)
    addSanitizerFlags(Out, C);
  if (C.Nvcc)
    llvm::append_range(Out, Words{"-include", C.Where.nvccHeader()});
  if (C.Options.CompatHeader)
    llvm::append_range(Out, Words{"-isystem", C.Where.clangHeaders(),
                                  "-include", C.Where.compatHeader()});
}

Words crsan::driver::compileFlags(const Command &C, InputKind Kind) {
  // `register` is an error in clang's C++17, and a warning of g++ and nvcc.
  Words Out = {"-Wno-error=register"};
  if (C.Options.Enabled)
    Out.push_back("-D__SANITIZE_CUDA_RACE__=1");
  // A report names sites by line, which it takes from a line table.
  if (C.Options.Enabled && !C.Line.has(options::OPT_g_Group))
    Out.push_back("-gline-tables-only");
  // Warnings and pragmas of g++ and nvcc.
  if (C.Nvcc)
    llvm::append_range(Out, Words{"-Wno-unknown-warning-option",
                                  "-Wno-unknown-pragmas",
                                  "-Wno-ignored-optimization-argument"});
  if (Kind == InputKind::Cuda) {
    addCudaFlags(Out, C);
  } else if (C.Options.Enabled && C.Options.Host) {
    llvm::append_range(Out, hostPassFlags(C, /*OnlyToCompiler=*/true));
    Out.push_back("-Wno-pass-failed");
  }
  return Out;
}

Words crsan::driver::includeFlags(const Command &C, InputKind Kind) {
  Words Out;
  if (C.Toolkit && !C.Toolkit->ccclDir().empty()) {
    Out.push_back("-isystem");
    Out.push_back(C.Toolkit->ccclDir());
  }
  // Clang adds it for CUDA, behind its wrappers, where it has to be.
  if (C.Toolkit && Kind == InputKind::Host) {
    Out.push_back("-isystem");
    Out.push_back(C.Toolkit->includeDir());
  }
  Out.push_back("-isystem");
  Out.push_back(C.Where.includeDir());
  return Out;
}
