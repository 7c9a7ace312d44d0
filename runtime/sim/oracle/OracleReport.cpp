//===- OracleReport.cpp - Findings of the oracle, as text -----------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "OracleReport.h"

#include "Report/Demangle.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

using namespace crsan;
using namespace crsan::sim;

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

/// Equal for what is one place for the reader; accesses without lines are their
/// instruction. Names of functions do not tell places apart, for instances of a
/// template differ in nothing else.
static std::string placeOf(const RaceSide &S,
                           const std::vector<SourceFrame> &Frames) {
  std::string Place = fmt::format("{}{}{}", S.IsRead, S.IsWrite, S.IsAtomic);
  if (S.Instruction < 0)
    return Place + S.Name;
  if (Frames.empty() || Frames.front().Line == 0)
    return Place + fmt::format("#{}", S.Instruction);
  for (const SourceFrame &F : Frames)
    fmt::format_to(std::back_inserter(Place), "|{}:{}:{}", F.File, F.Line,
                   F.Column);
  return Place;
}

static std::vector<SourceFrame> framesOf(const RaceSide &S,
                                         const LinesOf &Lines) {
  if (S.Instruction < 0 || !Lines)
    return {};
  std::vector<SourceFrame> Frames = Lines(S.Instruction);
  for (SourceFrame &F : Frames)
    F.Function = demangle(F.Function);
  return Frames;
}

OracleReport sim::buildOracleReport(const Oracle &O, const LinesOf &Lines) {
  OracleReport R;
  R.Counts = O.counts();
  std::map<std::pair<std::string, std::string>, size_t> Index;
  for (const RaceFinding &Race : O.findings()) {
    OracleFinding F;
    F.First = Race;
    F.First.Earlier.Name = demangle(Race.Earlier.Name);
    F.First.Later.Name = demangle(Race.Later.Name);
    F.Earlier = framesOf(Race.Earlier, Lines);
    F.Later = framesOf(Race.Later, Lines);
    F.Count = Race.Count;
    std::pair Key(placeOf(Race.Earlier, F.Earlier),
                  placeOf(Race.Later, F.Later));
    if (Key.second < Key.first)
      std::swap(Key.first, Key.second);
    const auto [It, IsNew] = Index.try_emplace(Key, R.Findings.size());
    if (IsNew)
      R.Findings.push_back(std::move(F));
    else
      R.Findings[It->second].Count += Race.Count;
  }
  // The earliest first among equals.
  std::vector<size_t> Order(R.Findings.size());
  std::iota(Order.begin(), Order.end(), size_t(0));
  const auto KeyOf = [&](size_t I) {
    const OracleFinding &F = R.Findings[I];
    const SourceFrame At = F.Later.empty() ? SourceFrame() : F.Later[0];
    return std::tuple(~F.Count, At.File, At.Line, At.Column, I);
  };
  std::sort(Order.begin(), Order.end(),
            [&](size_t A, size_t B) { return KeyOf(A) < KeyOf(B); });
  std::vector<OracleFinding> Sorted;
  for (size_t I : Order)
    Sorted.push_back(std::move(R.Findings[I]));
  R.Findings = std::move(Sorted);
  return R;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

namespace {

class Printer {
public:
  explicit Printer(const TextOptions &Options) : Options(Options) {}

  void finding(const OracleFinding &F);
  void counts(const OracleCounts &C);
  void summary(const OracleReport &R);

  template <typename... Ts>
  void line(fmt::format_string<Ts...> Format, Ts &&...Args) {
    fmt::format_to(std::back_inserter(Text), Format, std::forward<Ts>(Args)...);
    Text += '\n';
  }

  std::string Text;

private:
  void frames(const RaceSide &S, const std::vector<SourceFrame> &Frames);
  std::string position(const SourceFrame &F) const;

  const TextOptions &Options;
};

} // namespace

static std::string counted(uint64_t N, std::string_view One,
                           std::string_view Many) {
  return fmt::format("{} {}", N, N == 1 ? One : Many);
}
static std::string counted(uint64_t N, std::string_view One) {
  return counted(N, One, fmt::format("{}s", One));
}

enum class PairKind : uint8_t { ReadWrite, WriteWrite, Atomic };

static PairKind kindOf(const RaceFinding &F) {
  if (F.Earlier.IsAtomic || F.Later.IsAtomic)
    return PairKind::Atomic;
  return F.Earlier.IsWrite && F.Later.IsWrite ? PairKind::WriteWrite
                                              : PairKind::ReadWrite;
}

static const char *nameOf(PairKind K) {
  switch (K) {
  case PairKind::ReadWrite:
    return "read and write";
  case PairKind::WriteWrite:
    return "two writes";
  case PairKind::Atomic:
    return "atomic and other access";
  }
  return "unknown";
}

static const char *spacePhrase(MemorySpace S) {
  switch (S) {
  case MemorySpace::Global:
    return "in global memory";
  case MemorySpace::Constant:
    return "in constant memory";
  case MemorySpace::Shared:
    return "in shared memory";
  }
  return "in memory";
}

static std::string heading(const RaceFinding &F) {
  const std::string Where = fmt::format(
      "of {} {}", counted(F.Later.Size, "byte"), spacePhrase(F.Space));
  switch (kindOf(F)) {
  case PairKind::ReadWrite:
    return fmt::format("unordered read and write {}", Where);
  case PairKind::WriteWrite:
    return fmt::format("unordered writes {}", Where);
  case PairKind::Atomic:
    return F.Earlier.IsAtomic && F.Later.IsAtomic
               ? fmt::format("unordered atomics {}", Where)
               : fmt::format("unordered atomic and plain access {}", Where);
  }
  return Where;
}

std::string Printer::position(const SourceFrame &F) const {
  if (F.File.empty())
    return "an unknown line (compile with -gline-tables-only or -g)";
  std::string_view File = F.File;
  if (File.starts_with(Options.StripPathPrefix))
    File.remove_prefix(Options.StripPathPrefix.size());
  if (F.Line == 0)
    return fmt::format("{}, unknown line", File);
  if (F.Column == 0)
    return fmt::format("{}:{}", File, F.Line);
  return fmt::format("{}:{}:{}", File, F.Line, F.Column);
}

void Printer::frames(const RaceSide &S,
                     const std::vector<SourceFrame> &Frames) {
  if (S.IsHost)
    return line("    #0 {} in a stream", S.Name);
  if (Frames.empty())
    return line("    #0 in an unknown function at {}", position({}));
  for (size_t I = 0; I < Frames.size(); ++I)
    line("    #{} {}{} at {}", I, I ? "inlined in " : "",
         Frames[I].Function.empty() ? "an unknown function"
                                    : Frames[I].Function,
         position(Frames[I]));
}

static std::string actorOf(const RaceSide &S) {
  if (S.IsHost)
    return fmt::format("{} in a stream", S.Name);
  return fmt::format("block ({},{},{}) thread ({},{},{})", S.Block.X, S.Block.Y,
                     S.Block.Z, S.Thread.X, S.Thread.Y, S.Thread.Z);
}

static std::string addressOf(const RaceFinding &F) {
  if (F.Space == MemorySpace::Shared && SharedAddress::is(F.Address))
    return fmt::format("offset 0x{:x} (shared)",
                       SharedAddress::offset(F.Address));
  return fmt::format("address 0x{:x} ({})", F.Address,
                     F.Space == MemorySpace::Constant ? "constant" : "global");
}

void Printer::finding(const OracleFinding &F) {
  const RaceFinding &R = F.First;
  line("==================");
  line("CRSan: data race: {}", heading(R));
  line("  {}:", sim::nameOf(R.Later));
  frames(R.Later, F.Later);
  line("  conflicts with the {} of {} before it:", sim::nameOf(R.Earlier),
       counted(R.Earlier.Size, "byte"));
  frames(R.Earlier, F.Earlier);
  if (!R.Later.IsHost)
    line("  kernel: {}", R.Later.Name);
  if (!R.Earlier.IsHost && (R.Later.IsHost || R.Earlier.Name != R.Later.Name))
    line("  kernel of the other: {}", R.Earlier.Name);
  line("  first seen: {} against {} {}", actorOf(R.Later), actorOf(R.Earlier),
       addressOf(R));
  line("  occurrences: {}", F.Count);
  line("  {}", R.Missing);
  if (!Options.Replay.empty())
    line("  replay: {}", Options.Replay);
  line("==================");
}

void Printer::counts(const OracleCounts &C) {
  line("CRSan: oracle checked {}: {} of {} in {}, {}, {}, {}",
       counted(C.Grids, "kernel launch", "kernel launches"),
       counted(C.Accesses, "access", "accesses"), counted(C.Threads, "thread"),
       counted(C.Blocks, "block"), counted(C.Barriers, "barrier arrival"),
       counted(C.Fences, "fence"),
       counted(C.Copies, "copy or fill", "copies and fills"));
}

void Printer::summary(const OracleReport &R) {
  if (R.Findings.empty() && R.Counts.Accesses == 0)
    return line("SUMMARY: CRSan: nothing was checked: {}",
                R.Counts.Grids ? "the kernels accessed no memory"
                               : "no kernel was launched");
  if (R.Findings.empty())
    return line("SUMMARY: CRSan: no data races found");
  std::vector<std::string> Parts;
  for (PairKind K :
       {PairKind::ReadWrite, PairKind::WriteWrite, PairKind::Atomic})
    if (const auto N = std::count_if(
            R.Findings.begin(), R.Findings.end(),
            [&](const OracleFinding &F) { return kindOf(F.First) == K; }))
      Parts.push_back(fmt::format("{} of {}", N, nameOf(K)));
  line("SUMMARY: CRSan: {} ({})", counted(R.Findings.size(), "data race"),
       fmt::join(Parts, ", "));
}

std::string sim::renderText(const OracleReport &R, const TextOptions &Options) {
  Printer P(Options);
  for (const OracleFinding &F : R.Findings)
    P.finding(F);
  for (const std::string &Note : R.Notes)
    P.line("CRSan: {}", Note);
  P.counts(R.Counts);
  P.summary(R);
  return std::move(P.Text);
}
