// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An image with checks, which the driver loads in the place of a program's.

#include "rewrite/CheckedImage.h"

#include "common/Log.h"
#include "image/ProgramCode.h"
#include "rewrite/Rewriter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <variant>

namespace crsan {

/// The options of ptxas that have an effect on how code runs, and that have a
/// value: as the notes of machine code write them.
static constexpr std::array<std::string_view, 8> ValueOptions = {
    "-maxrregcount", "-dlcm", "-dscm",          "-flcm",
    "-fscm",         "-fmad", "-regUsageLevel", "-Ofc"};

static bool isNumber(std::string_view Text) {
  unsigned Value;
  const char *End = Text.data() + Text.size();
  return std::from_chars(Text.data(), End, Value).ptr == End && !Text.empty();
}

/// The options of ptxas that the program's machine code was made with. The note
/// has further words, file names among them, that are left out.
static std::vector<std::string> optionsOf(const CubinOrigin &Origin) {
  std::vector<std::string> Words;
  for (size_t I = 0; I < Origin.Options.size(); ++I) {
    const std::string &Word = Origin.Options[I];
    const std::string Value =
        I + 1 < Origin.Options.size() ? Origin.Options[I + 1] : std::string();
    if (Word == "-g") {
      Words.push_back(Word);
    } else if (Word == "-O" && isNumber(Value)) {
      Words.push_back(Word + Value); // ptxas refuses `-O 1`, and takes -O1.
      ++I;
    } else if (std::ranges::find(ValueOptions, Word) != ValueOptions.end() &&
               (Word != "-maxrregcount" || isNumber(Value))) {
      Words.insert(Words.end(), {Word, Value});
      ++I;
    }
  }
  return Words;
}

/// Whether a GPU can run what is made of PTX for this target.
static bool runs(unsigned GPU, Target T) {
  switch (T.Suffix) {
  case 'a':
    return GPU == T.Number;
  case 'f':
    return GPU >= T.Number && GPU / 10 == T.Number / 10;
  default:
    return GPU >= T.Number;
  }
}

/// Why the PTX must not take the place of the machine code that a GPU would
/// run; empty: it may.
static std::string whyNotFor(unsigned GPU, const void *Image, Target PTX) {
  if (!runs(GPU, PTX))
    return fmt::format("its PTX is for {}, which the GPU (sm_{}) cannot run; "
                       "build it for the GPU (nvcc: -arch=native)",
                       PTX.text(), GPU);
  // PTX for another architecture may be of another program text
  // (__CUDA_ARCH__), which the host does not expect.
  const auto Origin = originOfMachineCode(Image, GPU);
  if (Origin && Origin->Virtual != PTX)
    return fmt::format(
        "its PTX is for {}, and its machine code was compiled for {}; embed "
        "PTX for that (nvcc: -gencode arch=compute_{},code=compute_{})",
        PTX.text(), Origin->Virtual.text(), Origin->Virtual.digits(),
        Origin->Virtual.digits());
  return {};
}

/// A kernel of linked machine code that no PTX defines, since the program lacks
/// the PTX of some module; empty: there is none.
static std::string missingKernel(const void *Image, unsigned GPU,
                                 const std::vector<std::string> &Texts) {
  std::vector<std::string> Missing = kernelsOfMachineCode(Image, GPU);
  for (const std::string &Text : Texts)
    for (const DefinedFunction &F : definedFunctions(Text))
      if (F.IsKernel)
        std::erase(Missing, F.Name);
  return Missing.empty() ? std::string() : Missing.front();
}

/// Says that it may take a while, of code that takes long.
static void announce(const ImageRequest &R, size_t Bytes) {
  constexpr size_t Much = 2 << 20;
  if (Bytes > Much)
    theLog().say("code of {} is getting checks: {} MiB of PTX, which may take "
                 "minutes. It is kept for the next run",
                 R.Name, Bytes >> 20);
}

std::string imageWithChecks(const void *Image, const ImageRequest &R,
                            std::vector<std::string> &Lines) {
  if (!Image || R.GPUs.empty() ||
      std::ranges::any_of(R.GPUs,
                          [=](unsigned GPU) { return hasChecks(Image, GPU); }))
    return {};
  // What no GPU of the program runs is nobody's loss.
  const auto Leave = [&](const std::string &Why) {
    if (std::ranges::any_of(R.GPUs,
                            [=](unsigned GPU) { return canRun(Image, GPU); }))
      Lines.push_back(
          fmt::format("code of {} is not checked: {}", R.Name, Why));
    return std::string();
  };
  const unsigned Oldest = *std::ranges::min_element(R.GPUs);
  const auto Found = findPTX(Image, Oldest);
  if (std::holds_alternative<std::string>(Found))
    return Leave(fmt::format(
        "it holds no PTX for sm_{}; embed PTX when it is built (nvcc: -gencode "
        "arch=compute_{},code=compute_{})",
        Oldest, Oldest, Oldest));
  const auto &Texts = std::get<std::vector<std::string>>(Found);
  const bool IsLinked = isRelocatable(Image);
  std::vector<std::string> Architectures;
  size_t Bytes = 0;
  for (const std::string &Text : Texts)
    Bytes += Text.size();
  for (unsigned GPU : R.GPUs) {
    for (const std::string &Text : Texts)
      if (const std::string Why =
              whyNotFor(GPU, IsLinked ? nullptr : Image, targetIn(Text));
          !Why.empty())
        return Leave(Why);
    if (IsLinked)
      if (const std::string Kernel = missingKernel(Image, GPU, Texts);
          !Kernel.empty())
        return Leave(fmt::format("the program holds no PTX of the module with "
                                 "the kernel {}; embed PTX of all modules",
                                 Kernel));
    const char Suffix = targetIn(Texts.front()).Suffix;
    Architectures.push_back(Target{GPU, Suffix}.text());
  }
  std::vector<std::string> Words = {
      fmt::format("--crsan-fatbin={}", fmt::join(Architectures, ","))};
  const auto Origin = originOfMachineCode(Image, Oldest);
  std::vector<std::string> Options =
      IsLinked ? std::vector<std::string>{"--compile-only"}
      : Origin ? optionsOf(*Origin)
               : R.DriverOptions;
  Words.insert(Words.end(), Options.begin(), Options.end());
  announce(R, Bytes);
  RewrittenCode Code = rewrite(
      fmt::format("{}", fmt::join(Texts, std::string(1, '\0'))), R.Mode, Words);
  for (std::string &Line : uncheckedLines(Code, R.Name))
    Lines.push_back(std::move(Line));
  if (!Code.WhyNotCached.empty())
    Lines.push_back("code with checks is not kept for the next run: " +
                    Code.WhyNotCached);
  if (!Code.Problem.empty())
    return {};
  theLog().detail(1, "code of {} got checks ({}) for {}, {}", R.Name, R.Mode,
                  fmt::join(Architectures, ", "),
                  Code.WasCached ? "kept from an earlier run" : "made now");
  return std::move(Code.PTX);
}

} // namespace crsan
