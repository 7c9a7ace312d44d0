//===- OracleReport.cpp - Findings of the oracle, as text -----------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "OracleReport.h"

#include "Report/Demangle.h"
#include "Report/Explanation.h"

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
  std::string Place =
      fmt::format("{}{}{}", S.reads(), S.writes(), S.isAtomic());
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

/// Whether the instruction reads, or writes, in a statement that does both at
/// one place: as columns tell, for what a thread happens to have read before it
/// writes there is no update.
static bool isOfUpdate(const Oracle &O, int32_t Instruction,
                       const LinesOf &Lines) {
  const auto PlaceOf = [&](int32_t I) {
    const std::vector<SourceFrame> Frames = Lines(I);
    const SourceFrame F = Frames.empty() ? SourceFrame() : Frames.front();
    return std::tuple(F.File, F.Line, F.Column);
  };
  if (!Lines || Instruction < 0)
    return false;
  const auto Here = PlaceOf(Instruction);
  if (std::get<2>(Here) == 0)
    return false;
  return std::any_of(O.updates().begin(), O.updates().end(), [&](auto &U) {
    return (U.first == Instruction && PlaceOf(U.second) == Here) ||
           (U.second == Instruction && PlaceOf(U.first) == Here);
  });
}

static SiteInfo siteOf(const RaceSide &S,
                       const std::vector<SourceFrame> &Frames, bool IsUpdate) {
  SiteInfo Site;
  Site.Access = S.reads() && S.writes() ? abi::AccessKind::Update
                : S.writes()            ? abi::AccessKind::Store
                                        : abi::AccessKind::Load;
  Site.Flags = (S.isStrong() ? abi::IsStrong : 0) |
               (S.isAtomic() ? abi::IsAtomic : 0) |
               (IsUpdate ? abi::IsOfUpdate : 0);
  // An atomic of which nobody uses the result updates as well.
  if (S.isAtomic())
    Site.Access = abi::AccessKind::Update;
  Site.Frames = Frames;
  return Site;
}

/// The race as metadata mode would show it, for the words of its explanation.
static Finding asFinding(const RaceFinding &Race, const OracleFinding &F) {
  Finding Same;
  abi::Record &Rec = Same.First;
  const bool InBlock = Race.Width <= abi::Distance::Block;
  Rec.Kind = InBlock ? abi::RaceKind::IntraBlock : abi::RaceKind::InterBlock;
  Rec.Flags = abi::TwoSided;
  Rec.After = (InBlock ? uint64_t(abi::SameBlock) : 0) |
              (Race.ToldAt.empty() ? 0 : uint64_t(abi::LaterUnfenced));
  const Dim3 &Later = Race.Later.Block, &Earlier = Race.Earlier.Block;
  Rec.Block[0] = Later.X;
  Rec.Block[1] = Later.Y;
  Rec.Block[2] = Later.Z;
  // Any extent that the block fits into.
  Same.Grid = {Earlier.X + 1, Earlier.Y + 1, Earlier.Z + 1};
  Rec.Before = abi::earlierThread(
      (uint64_t(Earlier.Z) * Same.Grid[1] + Earlier.Y) * Same.Grid[0] +
          Earlier.X,
      0);
  Same.Site = siteOf(Race.Later, F.Later, false);
  Same.Other = siteOf(Race.Earlier, F.Earlier, false);
  return Same;
}

/// What would have ordered the two, or what instead of an order is needed.
static std::string missingOf(const Oracle &O, const RaceFinding &Race,
                             const OracleFinding &F, const LinesOf &Lines) {
  if (Race.Later.IsHost || Race.Earlier.IsHost ||
      Race.Width == abi::Distance::Device || Race.Later.IsAsync ||
      Race.Earlier.IsAsync)
    return Race.Missing;
  Finding Same = asFinding(Race, F);
  const bool Later = isOfUpdate(O, Race.Later.Instruction, Lines);
  const bool Earlier = isOfUpdate(O, Race.Earlier.Instruction, Lines);
  if ((Later || Race.Later.isAtomic()) &&
      (Earlier || Race.Earlier.isAtomic()) && (Later || Earlier)) {
    Same.Site->Flags |= Later ? abi::IsOfUpdate : 0;
    Same.Other->Flags |= Earlier ? abi::IsOfUpdate : 0;
    return explain(Same);
  }
  if (Race.ToldAt.empty())
    return Race.Missing;
  for (const StrongRead &Read : Race.ToldAt) {
    RaceSide Side;
    Side.Flags = abi::ReadsMemory | (Read.IsAtomic ? abi::IsAtomic : 0);
    Side.Order = MemoryOrder::Relaxed;
    const std::vector<SourceFrame> Frames =
        Lines ? Lines(Read.Instruction) : std::vector<SourceFrame>();
    Same.Told.push_back(siteOf(Side, Frames, false));
  }
  return explain(Same);
}

/// Counts what races at the same place of the source; shows what is farther
/// apart.
static void merge(OracleFinding &Into, OracleFinding F) {
  const uint64_t Count = Into.Count + F.Count;
  if (F.First.Width > Into.First.Width)
    Into = std::move(F);
  Into.Count = Count;
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
    F.Missing = missingOf(O, Race, F, Lines);
    std::pair Key(placeOf(Race.Earlier, F.Earlier),
                  placeOf(Race.Later, F.Later));
    if (Key.second < Key.first)
      std::swap(Key.first, Key.second);
    const auto [It, IsNew] = Index.try_emplace(Key, R.Findings.size());
    if (IsNew)
      R.Findings.push_back(std::move(F));
    else
      merge(R.Findings[It->second], std::move(F));
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
  if (F.Earlier.isAtomic() || F.Later.isAtomic())
    return PairKind::Atomic;
  return F.Earlier.writes() && F.Later.writes() ? PairKind::WriteWrite
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

static const char *spacePhrase(abi::Space S) {
  switch (S) {
  case abi::Space::Global:
    return "in global memory";
  case abi::Space::Constant:
    return "in constant memory";
  case abi::Space::Shared:
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
    return F.Earlier.isAtomic() && F.Later.isAtomic()
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
  if (F.Space == abi::Space::Shared && SharedAddress::is(F.Address))
    return fmt::format("offset 0x{:x} (shared)",
                       SharedAddress::offset(F.Address));
  return fmt::format("address 0x{:x} ({})", F.Address,
                     F.Space == abi::Space::Constant ? "constant" : "global");
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
  if (!R.Memory.empty())
    line("  memory: {}", R.Memory);
  line("  occurrences: {}", F.Count);
  line("  {}", F.Missing);
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
