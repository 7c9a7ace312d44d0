// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks for a program that was built without CRSan and runs on a GPU.
//
// `crsan run` has the loader load this library into the program first. It holds
// the host part (runtime/host), by which the program is one that CRSan reports
// on. The loader runs its constructors before those of the executable, which
// give the executable's fat binaries to CUDA: so they can be replaced here, by
// fat binaries with checks, whether CUDA's run-time library is linked
// statically or not. From there on the code is instrumented code like any
// other. Shared libraries are told to CUDA before that, or when they are
// loaded: their code stays as it is, and the report counts its launches.

#include "FatbinWrappers.h"
#include "ProgramCode.h"
#include "common/Flags.h"
#include "common/Log.h"
#include "crsan/abi/Names.h"
#include "image/Fatbin.h"
#include "rewrite/Rewriter.h"
#include "session/Ending.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include <dlfcn.h>

namespace crsan {

static constexpr char Executable[] = "the executable";
static constexpr char Variable[] = "LD_PRELOAD";

static void sayUnchecked(std::string_view Why) {
  theLog().say("code of {} is not checked: {}", Executable, Why);
}

/// The architectures of the machine code, as ptxas calls them. A PTX that is
/// for one architecture alone (sm_90a) can be assembled for that one only.
static std::vector<std::string> architecturesOf(const void *Code,
                                                std::string_view PTX) {
  const unsigned Target = api::targetOf(PTX);
  const std::string Whole = fmt::format("sm_{}", Target);
  const size_t At = PTX.find(".target " + Whole);
  const char Suffix =
      At == PTX.npos ? ' ' : PTX[At + std::strlen(".target ") + Whole.size()];
  const bool IsSpecific = Suffix == 'a' || Suffix == 'f';
  std::vector<std::string> Names;
  for (const FatEntry &E : fatEntries(Code))
    if (E.What == FatEntry::Kind::Cubin &&
        (IsSpecific ? E.Architecture == Target : E.Architecture >= Target))
      Names.push_back(IsSpecific ? Whole + Suffix
                                 : fmt::format("sm_{}", E.Architecture));
  std::ranges::sort(Names);
  Names.erase(std::unique(Names.begin(), Names.end()), Names.end());
  return Names;
}

/// A fat binary's place for ever.
static const void *keep(const std::string &Bytes) {
  void *Place = ::operator new(Bytes.size(), std::align_val_t(16));
  return std::memcpy(Place, Bytes.data(), Bytes.size());
}

static bool hasFunctions(const FatbinWrapper &Wrapper) {
  return api::hasMachineFunctions(&Wrapper);
}

/// Whether the wrapper is that of relocatable code that was linked: the machine
/// code is in it, and the PTX in others.
static bool isLinked(const FatbinWrapper *Wrapper) {
  return Wrapper->Version == FatbinWrapper::Linked && hasFunctions(*Wrapper);
}

static void addChecks(FatbinWrapper &Wrapper, const Flags &Options) {
  const auto Found = api::findPTX(&Wrapper);
  if (const auto *Why = std::get_if<std::string>(&Found))
    return hasFunctions(Wrapper) ? sayUnchecked(*Why) : void();
  const auto &Texts = std::get<std::vector<std::string>>(Found);
  if (Texts.front().find(abi::ConfigName) != std::string::npos)
    return;
  const std::vector<std::string> For =
      architecturesOf(Wrapper.Data, Texts.front());
  if (For.empty())
    return sayUnchecked("it holds no machine code that its PTX is the source "
                        "of; build it for your GPU (nvcc: -arch=native)");
  const RewrittenCode Code = rewrite(Texts.front(), Options.detector, For);
  for (const std::string &Line : uncheckedLines(Code, Executable))
    theLog().say("{}", Line);
  if (!Code.WhyNotCached.empty())
    theLog().say("code with checks is not kept for the next run: {}",
                 Code.WhyNotCached);
  if (!Code.Problem.empty())
    return;
  if (!replaceData(Wrapper, keep(Code.PTX)))
    return sayUnchecked("its memory cannot be written");
  theLog().detail(1, "code of {} got checks ({}) for {}, {}", Executable,
                  Options.detector, fmt::join(For, ", "),
                  Code.WasCached ? "kept from an earlier run" : "made now");
}

/// Programs that this one starts do not get this library: they may be a shell's
/// tools, of which nobody wants a report.
static void leaveEnvironment() {
  Dl_info Self{};
  const char *Before = std::getenv(Variable);
  if (!Before || !dladdr(Executable, &Self) || !Self.dli_fname)
    return;
  std::string After;
  std::string_view Rest = Before;
  while (!Rest.empty()) {
    const size_t End = std::min(Rest.find_first_of(": "), Rest.size());
    const std::string_view File = Rest.substr(0, End);
    if (!File.empty() && File != Self.dli_fname)
      After += (After.empty() ? "" : ":") + std::string(File);
    Rest.remove_prefix(std::min(End + 1, Rest.size()));
  }
  if (After.empty())
    unsetenv(Variable);
  else
    setenv(Variable, After.c_str(), 1);
}

__attribute__((constructor(102))) static void replaceCode() {
  leaveEnvironment();
  const std::vector<FatbinWrapper *> Wrappers = wrappersOfExecutable();
  if (Wrappers.empty())
    return;
  const Flags &Options = readOptions();
  if (!Options.enabled || !Options.addsChecks() || !Options.add_checks_on_gpu)
    return;
  if (std::ranges::any_of(Wrappers, isLinked))
    return sayUnchecked("it is relocatable (-rdc), and was linked when it was "
                        "built; build it with crsan-nvcc");
  for (FatbinWrapper *Wrapper : Wrappers)
    addChecks(*Wrapper, Options);
}

} // namespace crsan
