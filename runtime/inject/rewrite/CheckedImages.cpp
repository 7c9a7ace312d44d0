// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images with checks, which the driver loads in the place of a program's.

#include "rewrite/CheckedImages.h"

#include "common/Log.h"
#include "image/Fatbin.h"
#include "image/ProgramCode.h"
#include "rewrite/Rewriter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <variant>

namespace crsan {

/// What images with checks are made from.
struct CheckedImages::Source {
  std::string PTX;                ///< Modules, with a null between each two.
  std::vector<std::string> GPUs;  ///< sm_90
  std::vector<std::string> Words; ///< Options of crsan-ptxas.
};

/// The suffix of a target that PTX is for alone: 'a' of sm_90a; 0: none.
static char suffixOfTarget(std::string_view PTX, unsigned Target) {
  const std::string Words = fmt::format(".target sm_{}", Target);
  const size_t At = PTX.find(Words);
  const char Next = At == PTX.npos || At + Words.size() >= PTX.size()
                        ? ' '
                        : PTX[At + Words.size()];
  return Next == 'a' || Next == 'f' ? Next : 0;
}

/// The GPUs that can run PTX of this target, as ptxas calls them.
static std::vector<std::string> namesOf(const std::vector<unsigned> &GPUs,
                                        unsigned Target, char Suffix) {
  std::vector<std::string> Names;
  for (unsigned GPU : GPUs)
    if (Suffix ? GPU == Target : GPU >= Target)
      Names.push_back(Suffix ? fmt::format("sm_{}{}", GPU, Suffix)
                             : fmt::format("sm_{}", GPU));
  return Names;
}

/// A fat binary's place for ever.
static const void *keep(const std::string &Bytes) {
  void *Place = ::operator new(Bytes.size(), std::align_val_t(16));
  return std::memcpy(Place, Bytes.data(), Bytes.size());
}

/// The options of ptxas that the program's machine code was made with, as far
/// as they do not name the GPU.
static std::vector<std::string> optionsOf(const CubinOrigin &Origin) {
  std::vector<std::string> Words;
  for (size_t I = 0; I < Origin.Options.size(); ++I) {
    const std::string &Word = Origin.Options[I];
    if (Word == "-arch" || Word == "-m" || Word == "-o")
      ++I;
    else if (Word == "-O" && I + 1 < Origin.Options.size())
      Words.push_back(Word + Origin.Options[++I]); // ptxas takes -O1 alone.
    else
      Words.push_back(Word);
  }
  return Words;
}

const void *CheckedImages::make(const Source &From, const std::string &Name,
                                std::vector<std::string> &Lines) {
  const std::string Key = fmt::format("{}", fmt::join(From.Words, " "));
  const auto [Place, IsNew] = Made.try_emplace({From.PTX, Key}, nullptr);
  if (!IsNew)
    return Place->second;
  const RewrittenCode Code = rewrite(From.PTX, Options.detector, From.Words);
  for (std::string &Line : uncheckedLines(Code, Name))
    Lines.push_back(std::move(Line));
  if (!Code.WhyNotCached.empty())
    Lines.push_back("code with checks is not kept for the next run: " +
                    Code.WhyNotCached);
  if (!Code.Problem.empty())
    return nullptr;
  theLog().detail(1, "code of {} got checks ({}) for {}, {}", Name,
                  Options.detector, fmt::join(From.GPUs, ", "),
                  Code.WasCached ? "kept from an earlier run" : "made now");
  return Place->second = keep(Code.PTX);
}

const void *CheckedImages::replace(const void *Image,
                                   const std::vector<unsigned> &GPUs,
                                   const std::string &Name,
                                   std::vector<std::string> &Lines) {
  if (!Image || GPUs.empty())
    return Image;
  const unsigned Oldest = *std::ranges::min_element(GPUs);
  if (hasChecks(Image, Oldest))
    return Image;
  const auto Leave = [&](const std::string &Why) {
    Lines.push_back(fmt::format("code of {} is not checked: {}", Name, Why));
    return Image;
  };
  auto Found = findPTX(Image, Oldest);
  if (const auto *Why = std::get_if<std::string>(&Found))
    return hasMachineFunctions(Image) ? Leave(*Why) : Image;

  Source From;
  const auto &Texts = std::get<std::vector<std::string>>(Found);
  const unsigned Target = targetOf(Texts.front());
  const char Suffix = suffixOfTarget(Texts.front(), Target);
  From.GPUs = namesOf(GPUs, Target, Suffix);
  if (From.GPUs.empty())
    return Leave(fmt::format(
        "its PTX is for sm_{}{}, which the GPU (sm_{}) is not; build it for "
        "the GPU (nvcc: -arch=native)",
        Target, Suffix ? std::string(1, Suffix) : "", Oldest));
  // The driver would take machine code. PTX for another architecture may be of
  // another program text (__CUDA_ARCH__), which the host does not expect.
  const auto Origin = originOfMachineCode(Image, Oldest);
  if (Origin && Origin->Virtual && Origin->Virtual != Target)
    return Leave(fmt::format(
        "its PTX is for sm_{}, and its machine code was compiled for sm_{}; "
        "embed PTX for that (nvcc: -gencode arch=compute_{},code=compute_{})",
        Target, Origin->Virtual, Origin->Virtual, Origin->Virtual));
  From.PTX = fmt::format("{}", fmt::join(Texts, std::string(1, '\0')));
  From.Words = {fmt::format("--crsan-fatbin={}", fmt::join(From.GPUs, ","))};
  if (!prelinkedFatbins(Image).empty())
    From.Words.push_back("--compile-only");
  else if (Origin)
    for (std::string &Word : optionsOf(*Origin))
      From.Words.push_back(std::move(Word));
  std::lock_guard Lock(Making);
  const void *New = make(From, Name, Lines);
  return New ? New : Image;
}

} // namespace crsan
