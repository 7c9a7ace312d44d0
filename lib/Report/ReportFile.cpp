//===- ReportFile.cpp - What a run recorded, as JSON ----------------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Report/ReportFile.h"
#include "Report/Demangle.h"
#include "Report/Explanation.h"
#include "Report/StrictJSON.h"
#include "Report/Words.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

using namespace crsan;
using nlohmann::json;
using nlohmann::ordered_json;

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

static const Names<abi::RaceKind> &kindNames() {
  static const Names<abi::RaceKind> Kinds = [] {
    Names<abi::RaceKind> Result;
    for (const KindWords &Words : allKindWords())
      Result.push_back({Words.Key, Words.Kind});
    return Result;
  }();
  return Kinds;
}

static const Names<abi::AccessKind> Accesses = {
    {"load", abi::AccessKind::Load},
    {"store", abi::AccessKind::Store},
    {"update", abi::AccessKind::Update}};

static const Names<abi::Scope> Scopes = {{"block", abi::Scope::Block},
                                         {"cluster", abi::Scope::Cluster},
                                         {"device", abi::Scope::Device},
                                         {"system", abi::Scope::System}};

static const Names<abi::RaceReasons> Reasons = {
    {"same_warp", abi::SameWarp},
    {"same_block", abi::SameBlock},
    {"other_grid", abi::OtherGrid},
    {"earlier_no_sync", abi::EarlierNoSync},
    {"earlier_fenced_block", abi::EarlierFencedBlock},
    {"earlier_fenced_device", abi::EarlierFencedDevice},
    {"earlier_barrier", abi::EarlierBarrier},
    {"later_acquired", abi::LaterAcquired},
    {"later_holds_lock", abi::LaterHoldsLock},
    {"earlier_used_lock", abi::EarlierUsedLock},
    {"several_readers", abi::SeveralReaders},
    {"earlier_in_flight", abi::EarlierInFlight},
    {"earlier_waited", abi::EarlierWaited},
    {"unordered_launch", abi::UnorderedLaunch},
    {"earlier_ended", abi::EarlierEnded},
    {"earlier_holds_lock", abi::EarlierHoldsLock},
    {"later_unfenced", abi::LaterUnfenced}};

static const Names<abi::Space> Spaces = {{"generic", abi::Space::Generic},
                                         {"global", abi::Space::Global},
                                         {"shared", abi::Space::Shared},
                                         {"constant", abi::Space::Constant},
                                         {"cluster", abi::Space::Cluster}};

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static std::vector<SourceFrame> readFrames(JSONMembers &M) {
  std::vector<SourceFrame> Frames;
  for (const JSONNode &Element : M.elements("frames")) {
    JSONMembers FrameMembers(Element);
    SourceFrame &F = Frames.emplace_back();
    FrameMembers.text("function", F.Function);
    F.Function = demangle(F.Function);
    FrameMembers.text("file", F.File);
    FrameMembers.number("line", F.Line);
    FrameMembers.number("column", F.Column);
    FrameMembers.finish();
  }
  return Frames;
}

static SiteInfo readSite(const JSONNode &Object) {
  JSONMembers M(Object);
  SiteInfo Site;
  Site.Id = M.require("id").number<uint64_t>();
  M.choice("access", Accesses, Site.Access);
  M.choice("space", Spaces, Site.Space);
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
  M.choice("scope", Scopes, Site.Scope);
  M.number("size", Site.Size);
  M.text("kernel", Site.Kernel);
  Site.Kernel = demangle(Site.Kernel);
  Site.Frames = readFrames(M);
  for (const JSONNode &Element : M.elements("companions")) {
    JSONMembers CompanionMembers(Element);
    CompanionInfo &C = Site.Companions.emplace_back();
    CompanionMembers.choice("access", Accesses, C.Access);
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
    O.Rec.After |= Reason.choice(Reasons);
  if (auto Grid = M.get("grid"))
    O.Grid = readIndex(*Grid, {Any, Any, Any});
  if (auto Shape = M.get("block_shape"))
    O.BlockShape = readIndex(*Shape, {1025, 1025, 65});
  O.Rec.Flags = abi::TwoSided;
}

static void readValues(JSONMembers &M, abi::Record &Rec) {
  M.number("before", Rec.Before);
  M.number("after", Rec.After);
  bool Hashes = false, Same = false;
  M.flag("hash", Hashes);
  M.flag("same_value", Same);
  Rec.Flags = (Hashes ? abi::ValuesAreHashes : 0) | (Same ? abi::SameValue : 0);
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
  M.choice("space", Spaces, Rec.MemorySpace);
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
  if (hasTwoSides(Rec.Kind))
    readTwoSided(M, O);
  else
    readValues(M, Rec);
  M.number("count", O.Count);
  M.flag("at_least", O.AtLeast);
  M.number("device", O.Device);
  M.finish();
  return O;
}

static MetadataSummary readMetadata(const JSONNode &Object) {
  JSONMembers M(Object);
  MetadataSummary S;
  M.number("checks", S.Checked);
  M.number("unchecked", S.Unchecked);
  M.text("why_unchecked", S.WhyUnchecked);
  M.number("sites", S.Sites);
  M.number("exact_bytes", S.Exact);
  M.number("cached_bytes", S.Cached);
  M.number("untracked_bytes", S.None);
  M.finish();
  return S;
}

static RunSummary readSummary(const JSONNode &Object) {
  JSONMembers M(Object);
  RunSummary S;
  M.number("kernels_launched", S.KernelsLaunched);
  M.number("kernels_failed", S.KernelsFailed);
  M.number("kernels_not_instrumented", S.KernelsNotInstrumented);
  M.number("kernels_switched_off", S.KernelsSwitchedOff);
  M.number("sites", S.Sites);
  M.number("windows", S.Windows);
  M.number("checks", S.Checks);
  M.number("windows_checked", S.WindowsChecked);
  M.number("dropped_records", S.DroppedRecords);
  M.number("skipped_accesses", S.SkippedAccesses);
  M.number("exempt_accesses", S.ExemptAccesses);
  M.number("seed", S.Seed);
  M.number("delay_ns", S.DelayNs);
  M.number("budget", S.Budget);
  M.number("max_interval", S.MaxInterval);
  M.flag("counts_complete", S.CountsComplete);
  M.flag("shuffled", S.Shuffled);
  M.flag("simulated", S.IsSimulated);
  M.number("modules", S.Modules);
  if (auto Metadata = M.get("metadata"))
    S.Metadata = readMetadata(*Metadata);
  for (const JSONNode &Note : M.elements("notes"))
    S.Notes.push_back(Note.text());
  M.finish();
  return S;
}

static ReportFile readFile(const JSONNode &Top) {
  JSONMembers M(Top);
  ReportFile File;
  for (const JSONNode &Site : M.elements("sites"))
    File.Sites.add(readSite(Site));
  for (const JSONNode &Record : M.elements("records"))
    File.Occurrences.push_back(readRecord(Record));
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

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static std::string hex(uint64_t Number) {
  return fmt::format("0x{:x}", Number);
}

template <typename T, typename U>
static const char *nameIn(const Names<T> &Choices, U Meaning) {
  for (const auto &[Text, Value] : Choices)
    if (Value == Meaning)
      return Text;
  return "";
}

/// Adds the member unless it is what a reader takes for granted.
template <typename T>
static void addUnless(ordered_json &Object, const char *Key, const T &Value,
                      const T &Default) {
  if (Value != Default)
    Object[Key] = Value;
}

static ordered_json frameJSON(const SourceFrame &F) {
  ordered_json Object = ordered_json::object();
  addUnless(Object, "function", F.Function, {});
  addUnless(Object, "file", F.File, {});
  addUnless(Object, "line", F.Line, 0u);
  addUnless(Object, "column", F.Column, 0u);
  return Object;
}

static ordered_json framesJSON(const std::vector<SourceFrame> &Frames) {
  ordered_json Array = ordered_json::array();
  for (const SourceFrame &F : Frames)
    Array.push_back(frameJSON(F));
  return Array;
}

static ordered_json siteJSON(const SiteInfo &Site) {
  ordered_json Object = {{"id", hex(Site.Id)},
                         {"access", nameIn(Accesses, Site.Access)},
                         {"space", nameIn(Spaces, Site.Space)},
                         {"size", Site.Size}};
  if (Site.isStrong()) {
    Object[Site.isAtomic() ? "atomic" : "strong"] = true;
    Object["scope"] = nameIn(Scopes, Site.Scope);
    addUnless(Object, "swap", bool(Site.Flags & abi::IsSwap), false);
  }
  addUnless(Object, "asynchronous", Site.isCopy(), false);
  addUnless(Object, "of_update", bool(Site.Flags & abi::IsOfUpdate), false);
  addUnless(Object, "kernel", Site.Kernel, {});
  Object["frames"] = framesJSON(Site.Frames);
  for (const CompanionInfo &C : Site.Companions)
    Object["companions"].push_back({{"access", nameIn(Accesses, C.Access)},
                                    {"frames", framesJSON(C.Frames)}});
  return Object;
}

static void addTwoSided(ordered_json &Object, const Occurrence &O) {
  const uint64_t Block = O.Rec.Before >> 16;
  if (Block != abi::UnknownBlock)
    Object["earlier_block"] = Block;
  Object["earlier_thread"] = O.Rec.Before & 0xffff;
  ordered_json &List = Object["reasons"] = ordered_json::array();
  for (const auto &[Text, Reason] : Reasons)
    if (O.Rec.After & Reason)
      List.push_back(Text);
  addUnless(Object, "grid", O.Grid, {});
  addUnless(Object, "block_shape", O.BlockShape, {});
}

static void addValues(ordered_json &Object, const abi::Record &Rec) {
  Object["before"] = hex(Rec.Before);
  Object["after"] = hex(Rec.After);
  addUnless(Object, "hash", bool(Rec.Flags & abi::ValuesAreHashes), false);
  addUnless(Object, "same_value", bool(Rec.Flags & abi::SameValue), false);
}

static ordered_json recordJSON(const Occurrence &O) {
  const abi::Record &Rec = O.Rec;
  ordered_json Object = {{"site", hex(Rec.Site)},
                         {"kind", nameIn(kindNames(), Rec.Kind)}};
  if (Rec.Other)
    Object["other"] = hex(Rec.Other);
  Object["address"] = hex(Rec.Address);
  addUnless(Object, "memory", O.Memory, {});
  Object["space"] = nameIn(Spaces, Rec.MemorySpace);
  Object["size"] = Rec.Size;
  Object["block"] = Rec.Block;
  Object["thread"] = {Rec.Thread & 0x3ff, Rec.Thread >> 10 & 0x3ff,
                      Rec.Thread >> 20 & 0x3f};
  ordered_json Lanes = ordered_json::array();
  for (unsigned Lane = 0; Lane < 32; ++Lane)
    if (Rec.Lanes >> Lane & 1)
      Lanes.push_back(Lane);
  addUnless(Object, "lanes", Lanes, ordered_json::array());
  if (hasTwoSides(Rec.Kind))
    addTwoSided(Object, O);
  else
    addValues(Object, Rec);
  Object["count"] = std::max<uint64_t>(O.Count, 1);
  addUnless(Object, "at_least", O.AtLeast, false);
  addUnless(Object, "device", O.Device, 0);
  return Object;
}

static ordered_json metadataJSON(const MetadataSummary &S) {
  return {{"checks", S.Checked},
          {"unchecked", S.Unchecked},
          {"why_unchecked", S.WhyUnchecked},
          {"sites", S.Sites},
          {"exact_bytes", S.Exact},
          {"cached_bytes", S.Cached},
          {"untracked_bytes", S.None}};
}

static ordered_json summaryJSON(const RunSummary &S) {
  ordered_json Object = {{"kernels_launched", S.KernelsLaunched},
                         {"kernels_failed", S.KernelsFailed},
                         {"kernels_not_instrumented", S.KernelsNotInstrumented},
                         {"kernels_switched_off", S.KernelsSwitchedOff},
                         {"sites", S.Sites},
                         {"windows", S.Windows},
                         {"checks", S.Checks},
                         {"windows_checked", S.WindowsChecked},
                         {"dropped_records", S.DroppedRecords},
                         {"skipped_accesses", S.SkippedAccesses},
                         {"exempt_accesses", S.ExemptAccesses},
                         {"seed", S.Seed},
                         {"delay_ns", S.DelayNs},
                         {"budget", S.Budget},
                         {"max_interval", S.MaxInterval},
                         {"counts_complete", S.CountsComplete},
                         {"shuffled", S.Shuffled},
                         {"simulated", S.IsSimulated},
                         {"modules", S.Modules},
                         {"notes", S.Notes}};
  if (S.Metadata)
    Object["metadata"] = metadataJSON(*S.Metadata);
  return Object;
}

/// One side of a finding, as a reader of the source sees it.
static ordered_json sideJSON(const Finding &F, Side Which) {
  const bool IsLater = Which == Side::Later;
  const std::optional<SiteInfo> &Site = IsLater ? F.Site : F.Other;
  ordered_json Object = {{"site", hex(IsLater ? F.First.Site : F.First.Other)},
                         {"access", accessWords(Site ? &*Site : nullptr)}};
  if (Site && !Site->Frames.empty())
    Object.update(frameJSON(Site->Frames.front()));
  if (IsLater || F.isTwoSided())
    Object["thread"] = threadWords(F, Which);
  if (Site)
    addUnless(Object, "kernel", Site->Kernel, {});
  for (const CompanionInfo &C : IsLater ? F.AlsoSite : F.AlsoOther) {
    ordered_json &Also = Object["also"].emplace_back();
    Also["access"] = accessWords(C);
    Also.update(frameJSON(C.Frames.front()));
  }
  return Object;
}

static ordered_json findingJSON(const Finding &F) {
  const KindWords &Words = wordsOf(F.kind());
  ordered_json Object = {{"kind", Words.Key}};
  if (*Words.Code)
    Object["code"] = Words.Code;
  ordered_json Others = ordered_json::array();
  for (abi::RaceKind Kind : F.OtherKinds)
    Others.push_back(wordsOf(Kind).Key);
  addUnless(Object, "other_kinds", Others, ordered_json::array());
  Object["heading"] = heading(F);
  addUnless(Object, "memory", F.Memory, {});
  Object["access"] = sideJSON(F, Side::Later);
  if (F.First.Other)
    Object["other"] = sideJSON(F, Side::Earlier);
  Object["explanation"] = explain(F);
  Object["count"] = F.Count;
  Object["at_least"] = F.AtLeast;
  Object["devices"] = F.Devices;
  Object["instances"] = F.Instances;
  return Object;
}

std::string crsan::writeReportFile(const ReportFile &File, const Report &R) {
  ordered_json Findings = ordered_json::array(), Sites = ordered_json::array(),
               Records = ordered_json::array();
  for (const Finding &F : R.Findings)
    Findings.push_back(findingJSON(F));
  std::set<uint64_t> Written;
  const auto WriteSite = [&](const SiteInfo *Site) {
    if (Site && Written.insert(Site->Id).second)
      Sites.push_back(siteJSON(*Site));
  };
  for (const Finding &F : R.Findings)
    for (const SiteInfo &Site : F.Told)
      WriteSite(&Site);
  for (const Occurrence &O : File.Occurrences) {
    for (uint64_t Id : {O.Rec.Site, O.Rec.Other})
      WriteSite(File.Sites.find(Id));
    if (wordsOf(O.Rec.Kind).Kind != abi::RaceKind::None)
      Records.push_back(recordJSON(O));
  }
  const ordered_json Document = {{"findings", Findings},
                                 {"sites", Sites},
                                 {"records", Records},
                                 {"summary", summaryJSON(File.Summary)}};
  // A file's name may hold any bytes; JSON may not.
  return Document.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
}
