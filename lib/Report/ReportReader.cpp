// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a run recorded, from JSON.
#include "Report/Demangle.h"
#include "Report/ReportFile.h"
#include "Report/StrictJSON.h"
#include "ReportNames.h"
#include "SummaryFields.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

using namespace crsan;
using nlohmann::json;

static SourceFrame readFrame(JSONMembers &M) {
  SourceFrame F;
  M.text("function", F.Function);
  F.Function = demangle(F.Function);
  M.text("file", F.File);
  M.number("line", F.Line);
  M.number("column", F.Column);
  return F;
}

static std::vector<SourceFrame> readFrames(JSONMembers &M) {
  std::vector<SourceFrame> Frames;
  for (const JSONNode &Element : M.elements("frames")) {
    JSONMembers FrameMembers(Element);
    Frames.push_back(readFrame(FrameMembers));
    FrameMembers.finish();
  }
  return Frames;
}

static SiteInfo readSite(const JSONNode &Object) {
  JSONMembers M(Object);
  SiteInfo Site;
  Site.Id = M.require("id").number<uint64_t>();
  M.choice("access", AccessNames, Site.Access);
  M.choice("space", SpaceNames, Site.Space);
  bool Strong = false, Atomic = false, Swap = false, Asynchronous = false,
       OfUpdate = false;
  M.flag("strong", Strong);
  M.flag("atomic", Atomic);
  M.flag("swap", Swap);
  M.flag("asynchronous", Asynchronous);
  M.flag("of_update", OfUpdate);
  // An atomic is strong whether or not somebody cared to say so.
  Site.Flags = (Strong || Atomic ? abi::IsStrong : 0) |
               (Atomic ? abi::IsAtomic : 0) | (Swap ? abi::IsSwap : 0) |
               (Asynchronous ? abi::IsCopy : 0) |
               (OfUpdate ? abi::IsOfUpdate : 0) | abi::flagsOf(Site.Access);
  if (Site.isStrong())
    Site.Scope = abi::Scope::System;
  M.choice("scope", ScopeNames, Site.Scope);
  M.choice("order", OrderNames, Site.Order);
  M.flag("volatile", Site.IsVolatile);
  M.text("operation", Site.Operation);
  M.flag("host", Site.IsHost);
  M.flag("fault", Site.IsFault);
  M.number("size", Site.Size);
  M.text("kernel", Site.Kernel);
  Site.Kernel = demangle(Site.Kernel);
  Site.Frames = readFrames(M);
  for (const JSONNode &Element : M.elements("companions")) {
    JSONMembers CompanionMembers(Element);
    CompanionInfo &C = Site.Companions.emplace_back();
    CompanionMembers.choice("access", AccessNames, C.Access);
    C.Frames = readFrames(CompanionMembers);
    CompanionMembers.finish();
  }
  M.finish();
  return Site;
}

/// Three numbers, x first, each less than its limit.
static Index3 readIndex(const JSONNode &Array, std::array<uint64_t, 3> Limits) {
  const std::vector<JSONNode> Elements = Array.elements();
  if (Elements.size() != 3)
    Array.refuse("must be an array of three numbers");
  Index3 Index;
  for (size_t I = 0; I < 3; ++I) {
    Index[I] = Elements[I].number<uint32_t>();
    if (Index[I] >= Limits[I])
      Elements[I].refuse(
          fmt::format("{} is not less than {}", Index[I], Limits[I]));
  }
  return Index;
}

static uint32_t readLanes(const std::vector<JSONNode> &Elements) {
  uint32_t Lanes = 0;
  for (const JSONNode &Element : Elements) {
    const uint32_t Lane = Element.number<uint32_t>();
    if (Lane >= 32)
      Element.refuse(fmt::format("{} is not a lane of a warp", Lane));
    Lanes |= uint32_t(1) << Lane;
  }
  return Lanes;
}

/// What a record has in the place of values if both sides are known.
static void readTwoSided(JSONMembers &M, Occurrence &O) {
  uint64_t Block = abi::UnknownBlock;
  uint16_t Thread = 0;
  constexpr uint64_t Any = uint64_t(1) << 32;
  if (auto Member = M.get("earlier_block")) {
    Block = Member->number<uint64_t>();
    if (Block >= abi::UnknownBlock)
      Member->refuse(fmt::format("{} is not less than {}", Block,
                                 uint64_t(abi::UnknownBlock)));
  }
  M.number("earlier_thread", Thread);
  O.Rec.Before = abi::earlierThread(Block, Thread);
  for (const JSONNode &Reason : M.elements("reasons"))
    O.Rec.After |= Reason.choice(ReasonNames);
  if (auto Grid = M.get("grid"))
    O.Grid = readIndex(*Grid, {Any, Any, Any});
  if (auto Shape = M.get("block_shape"))
    O.BlockShape = readIndex(*Shape, {1025, 1025, 65});
  if (auto Grid = M.get("earlier_grid"))
    O.EarlierGrid = readIndex(*Grid, {Any, Any, Any});
  if (auto Shape = M.get("earlier_block_shape"))
    O.EarlierBlockShape = readIndex(*Shape, {1025, 1025, 65});
  for (const JSONNode &Id : M.elements("told"))
    O.Told.push_back(Id.number<uint64_t>());
  M.text("explanation", O.Explanation);
  O.Rec.Flags = abi::TwoSided;
}

static void readValues(JSONMembers &M, Occurrence &O) {
  abi::Record &Rec = O.Rec;
  M.number("before", Rec.Before);
  M.number("after", Rec.After);
  bool Hashes = false, Same = false, OtherBlock = false, SameInterval = false;
  M.flag("hash", Hashes);
  M.flag("same_value", Same);
  M.flag("other_block", OtherBlock);
  M.flag("same_interval", SameInterval);
  Rec.Flags = (Hashes ? abi::ValuesAreHashes : 0) |
              (Same ? abi::SameValue : 0) | (OtherBlock ? abi::OtherBlock : 0) |
              (SameInterval ? abi::SameInterval : 0);
  M.text("explanation", O.Explanation);
}

static void readFault(JSONMembers &M, Occurrence &O) {
  const JSONNode Fault = M.require("fault");
  O.Fault = Fault.text();
  if (O.Fault.empty())
    Fault.refuse("must say what happened");
  constexpr uint64_t Any = uint64_t(1) << 32;
  if (auto Grid = M.get("grid"))
    O.Grid = readIndex(*Grid, {Any, Any, Any});
  if (auto Shape = M.get("block_shape"))
    O.BlockShape = readIndex(*Shape, {1025, 1025, 65});
  M.text("explanation", O.Explanation);
}

static Occurrence readRecord(const JSONNode &Object) {
  JSONMembers M(Object);
  Occurrence O;
  abi::Record &Rec = O.Rec;
  Rec.Site = M.require("site").number<uint64_t>();
  Rec.Kind = M.require("kind").choice(kindNames());
  M.number("other", Rec.Other);
  M.number("address", Rec.Address);
  M.text("memory", O.Memory);
  M.text("allocated_at", O.AllocatedAt);
  M.text("launched_at", O.LaunchedAt);
  M.text("host_wrote_at", O.HostWroteAt);
  M.choice("space", SpaceNames, Rec.MemorySpace);
  M.number("size", Rec.Size);
  Rec.Lanes = readLanes(M.elements("lanes"));
  if (auto Block = M.get("block")) {
    constexpr uint64_t Any = uint64_t(1) << 32;
    auto Index = readIndex(*Block, {Any, Any, Any});
    std::copy(Index.begin(), Index.end(), Rec.Block);
  }
  if (auto Thread = M.get("thread")) {
    auto [X, Y, Z] = readIndex(*Thread, {1024, 1024, 64});
    Rec.Thread = X | Y << 10 | Z << 20;
  }
  if (Rec.Kind == KernelFault)
    readFault(M, O);
  else if (hasTwoSides(Rec.Kind))
    readTwoSided(M, O);
  else
    readValues(M, O);
  M.number("count", O.Count);
  M.flag("at_least", O.AtLeast);
  M.number("device", O.Device);
  M.number("run", O.Run);
  M.finish();
  return O;
}

template <typename T> static void readFields(JSONMembers &M, T &Summary) {
  visitFields(Summary, [&]<typename V>(const char *Key, V &Value) {
    if constexpr (std::is_same_v<V, bool>)
      M.flag(Key, Value);
    else if constexpr (std::is_integral_v<V>)
      M.number(Key, Value);
    else
      M.text(Key, Value);
  });
}

/// A summary with no members of other kinds.
template <typename T> static T readPlain(const JSONNode &Object) {
  JSONMembers M(Object);
  T Summary;
  readFields(M, Summary);
  M.finish();
  return Summary;
}

static RunSummary readSummary(const JSONNode &Object) {
  JSONMembers M(Object);
  RunSummary S;
  readFields(M, S);
  if (auto Metadata = M.get("metadata"))
    S.Metadata = readPlain<MetadataSummary>(*Metadata);
  if (auto Host = M.get("host"))
    S.Host = readPlain<HostSummary>(*Host);
  if (auto Oracle = M.get("oracle"))
    S.Oracle = readPlain<OracleSummary>(*Oracle);
  for (const JSONNode &Note : M.elements("notes"))
    S.Notes.push_back(Note.text());
  M.finish();
  return S;
}

static RunInfo readRun(const JSONNode &Object) {
  JSONMembers M(Object);
  RunInfo Run;
  M.number("seed", Run.Seed);
  M.text("program", Run.Program);
  M.text("replay", Run.Replay);
  M.text("failure", Run.Failure);
  M.finish();
  return Run;
}

static AccessCoverage readCoverage(const JSONNode &Object) {
  JSONMembers M(Object);
  AccessCoverage A;
  A.Place = readFrame(M);
  M.text("kernel", A.Kernel);
  A.Kernel = demangle(A.Kernel);
  M.text("not_checked", A.NotChecked);
  M.choice("access", AccessNames, A.Access);
  M.number("checks", A.Checks);
  M.flag("followed", A.IsFollowed);
  M.finish();
  return A;
}

static ReportFile readFile(const JSONNode &Top) {
  JSONMembers M(Top);
  ReportFile File;
  for (const JSONNode &Site : M.elements("sites"))
    File.Sites.add(readSite(Site));
  for (const JSONNode &Run : M.elements("runs"))
    File.Runs.push_back(readRun(Run));
  for (const JSONNode &Record : M.elements("records")) {
    File.Occurrences.push_back(readRecord(Record));
    const uint32_t Run = File.Occurrences.back().Run;
    if (Run >= std::max<size_t>(File.Runs.size(), 1))
      Record.refuse(fmt::format("there is no run {}", Run));
  }
  Coverage Checked;
  for (const JSONNode &Access : M.elements("coverage"))
    Checked.push_back(readCoverage(Access));
  addCoverage(File.Checked, std::move(Checked));
  File.Summary = readSummary(M.require("summary"));
  M.get("findings"); // Made from the rest; see writeReportFile.
  M.finish();
  return File;
}

std::variant<ReportFile, ReportFileError>
crsan::parseReportFile(std::string_view Text) {
  try {
    const json Document = json::parse(Text);
    return readFile(JSONNode(Document, ""));
  } catch (const json::exception &E) {
    // The library puts its own name and error number first: "[json...] ".
    std::string_view What = E.what();
    const size_t End = What.find("] ");
    return ReportFileError{std::string(
        End == std::string_view::npos ? What : What.substr(End + 2))};
  } catch (const BadJSON &E) {
    return ReportFileError{E.what()};
  }
}
