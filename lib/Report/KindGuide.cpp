// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kind of race means.
#include "Report/KindGuide.h"
#include "Report/Words.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

using namespace crsan;
using abi::RaceKind;

static constexpr const char *OneSide =
    "The finding names the access that was about to happen (#0). The other "
    "access is not known: look for all writes of the same memory, and for the "
    "synchronisation that should order them with this line. Metadata mode and "
    "the oracle name both sides.";
static constexpr const char *OneWarp =
    "The finding names the store (#0), and the other instruction where there "
    "are two. Lanes of one warp do not run in lockstep.";
static constexpr const char *TwoSides =
    "The finding names both accesses, the later one first, each with its "
    "thread. The sentence below 'occurrences' says which synchronisation there "
    "was, and which was missing.";

static constexpr const char *TwoBarriers =
    "The finding names the two barriers, each with a thread that waited there. "
    "It is no data race by itself; but CUDA C++ does not say what such a "
    "kernel "
    "does: it may hang, or go on with what the two barriers were to order.";

static constexpr const char *OneFault =
    "The finding says what happened and, as far as that is known, in which "
    "kernel, by which thread, in which line and at which address. The context "
    "is lost with the kernel: what was launched later is not checked. A race "
    "may be behind a fault: look at the races of the same report first.";

static constexpr KindGuide Guides[] = {
#include "KindGuide.inc"
};

std::span<const KindGuide> crsan::allKindGuides() { return Guides; }

const KindGuide *crsan::guideTo(RaceKind Kind) {
  const auto *It = std::find_if(std::begin(Guides), std::end(Guides),
                                [=](auto &G) { return G.Kind == Kind; });
  return It == std::end(Guides) ? nullptr : It;
}

static const char *detectorWords(const KindGuide &G) {
  const std::string_view Detector = G.Detector;
  if (Detector == "collider")
    return "The collider reports this kind.";
  if (Detector == "metadata")
    return "Metadata mode reports this kind.";
  if (Detector == "any")
    return "Every run reports this kind, whatever looks for races. The "
           "simulated GPU knows the thread, the line and the address; a GPU "
           "tells what happened, and CRSan which kernels were launched last.";
  if (Detector == "barrier")
    return "The oracle of the simulated GPU and metadata mode report this "
           "kind.";
  if (Detector == "host")
    return "The oracle of the simulated GPU reports this kind, if the program "
           "is built with -fsanitize-cuda-race-host; other detectors report "
           "such races as clobbered reads and lost updates by the host.";
  if (Detector == "operation")
    return "The oracle of the simulated GPU and metadata mode report this "
           "kind; the collider reports such races as clobbered reads, lost "
           "updates or conflicting accesses.";
  return "The oracle of the simulated GPU reports this kind, and metadata mode "
         "where it sees the accesses.";
}

static std::string indented(std::string_view Program) {
  std::string Text;
  for (size_t At = 0; At < Program.size();) {
    const size_t End = Program.find('\n', At) + 1;
    Text += "    ";
    Text += Program.substr(At, End - At);
    At = End;
  }
  return Text;
}

/// What stands above the two programs.
static std::pair<const char *, const char *> programWords(const KindGuide &G) {
  if (G.Kind == RaceKind::BarrierDivergence)
    return {"A program whose threads meet at two barriers",
            "The same with one barrier"};
  if (G.Kind == KernelFault)
    return {"A program whose kernel fails", "The same without the fault"};
  return {"A program that races", "The same without the race"};
}

std::string crsan::guideText(const KindGuide &G) {
  const auto [Bad, Good] = programWords(G);
  return fmt::format("{}\n\n{} {}\n\n{}:\n\n{}\n{}:\n\n{}", G.Meaning,
                     G.Reading, detectorWords(G), Bad, indented(G.Racy), Good,
                     indented(G.Fixed));
}

std::string crsan::guideMarkdown(const KindGuide &G) {
  const auto [Bad, Good] = programWords(G);
  return fmt::format("{}\n\n{} {}\n\n{}:\n\n```cuda\n{}```\n\n"
                     "{}:\n\n```cuda\n{}```\n",
                     G.Meaning, G.Reading, detectorWords(G), Bad, G.Racy, Good,
                     G.Fixed);
}
