// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a run recorded, as JSON.
#include "Report/Explanation.h"
#include "Report/ReportFile.h"
#include "Report/Words.h"
#include "ReportNames.h"
#include "SummaryFields.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <set>

using namespace crsan;
using nlohmann::json;
using nlohmann::ordered_json;

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
  ordered_json Object = {{"id", hex(Site.Id)}};
  if (Site.IsFault) {
    Object["fault"] = true;
    addUnless(Object, "kernel", Site.Kernel, {});
    Object["frames"] = framesJSON(Site.Frames);
    return Object;
  }
  Object["access"] = nameIn(AccessNames, Site.Access);
  Object["space"] = nameIn(SpaceNames, Site.Space);
  Object["size"] = Site.Size;
  if (Site.isStrong()) {
    Object[Site.isAtomic() ? "atomic" : "strong"] = true;
    Object["scope"] = nameIn(ScopeNames, Site.Scope);
    if (Site.Order != abi::MemoryOrder::Weak)
      Object["order"] = nameIn(OrderNames, Site.Order);
    addUnless(Object, "volatile", Site.IsVolatile, false);
    addUnless(Object, "swap", bool(Site.Flags & abi::IsSwap), false);
  }
  addUnless(Object, "asynchronous", Site.isCopy(), false);
  addUnless(Object, "of_update", bool(Site.Flags & abi::IsOfUpdate), false);
  addUnless(Object, "operation", Site.Operation, {});
  addUnless(Object, "host", Site.IsHost, false);
  addUnless(Object, "kernel", Site.Kernel, {});
  Object["frames"] = framesJSON(Site.Frames);
  for (const CompanionInfo &C : Site.Companions)
    Object["companions"].push_back({{"access", nameIn(AccessNames, C.Access)},
                                    {"frames", framesJSON(C.Frames)}});
  return Object;
}

static void addTwoSided(ordered_json &Object, const Occurrence &O) {
  const uint64_t Block = O.Rec.Before >> 16;
  if (Block != abi::UnknownBlock)
    Object["earlier_block"] = Block;
  Object["earlier_thread"] = O.Rec.Before & 0xffff;
  ordered_json &List = Object["reasons"] = ordered_json::array();
  for (const auto &[Text, Reason] : ReasonNames)
    if (O.Rec.After & Reason)
      List.push_back(Text);
  addUnless(Object, "grid", O.Grid, {});
  addUnless(Object, "block_shape", O.BlockShape, {});
  addUnless(Object, "earlier_grid", O.EarlierGrid, {});
  addUnless(Object, "earlier_block_shape", O.EarlierBlockShape, {});
  for (uint64_t Id : O.Told)
    Object["told"].push_back(hex(Id));
  addUnless(Object, "explanation", O.Explanation, {});
}

static void addValues(ordered_json &Object, const Occurrence &O) {
  const abi::Record &Rec = O.Rec;
  Object["before"] = hex(Rec.Before);
  Object["after"] = hex(Rec.After);
  addUnless(Object, "hash", bool(Rec.Flags & abi::ValuesAreHashes), false);
  addUnless(Object, "same_value", bool(Rec.Flags & abi::SameValue), false);
  addUnless(Object, "other_block", bool(Rec.Flags & abi::OtherBlock), false);
  addUnless(Object, "same_interval", bool(Rec.Flags & abi::SameInterval),
            false);
  addUnless(Object, "explanation", O.Explanation, {});
}

static void addThread(ordered_json &Object, const abi::Record &Rec) {
  Object["block"] = Rec.Block;
  Object["thread"] = threadIndex(Rec);
  ordered_json Lanes = ordered_json::array();
  for (unsigned Lane = 0; Lane < 32; ++Lane)
    if (Rec.Lanes >> Lane & 1)
      Lanes.push_back(Lane);
  addUnless(Object, "lanes", Lanes, ordered_json::array());
}

/// What a fault has beside its site and its kind.
static void addFault(ordered_json &Object, const Occurrence &O) {
  Object["fault"] = O.Fault;
  addUnless(Object, "explanation", O.Explanation, {});
  addUnless(Object, "grid", O.Grid, {});
  addUnless(Object, "block_shape", O.BlockShape, {});
}

static ordered_json recordJSON(const Occurrence &O) {
  const abi::Record &Rec = O.Rec;
  ordered_json Object = {{"site", hex(Rec.Site)},
                         {"kind", nameIn(kindNames(), Rec.Kind)}};
  if (Rec.Other)
    Object["other"] = hex(Rec.Other);
  const bool IsFault = Rec.Kind == KernelFault;
  if (!IsFault || Rec.Address)
    Object["address"] = hex(Rec.Address);
  addUnless(Object, "memory", O.Memory, {});
  addUnless(Object, "allocated_at", O.AllocatedAt, {});
  addUnless(Object, "launched_at", O.LaunchedAt, {});
  addUnless(Object, "host_wrote_at", O.HostWroteAt, {});
  if (!IsFault) {
    Object["space"] = nameIn(SpaceNames, Rec.MemorySpace);
    Object["size"] = Rec.Size;
  }
  if (!IsFault || Rec.Lanes)
    addThread(Object, Rec);
  if (IsFault)
    addFault(Object, O);
  else if (hasTwoSides(Rec.Kind))
    addTwoSided(Object, O);
  else
    addValues(Object, O);
  Object["count"] = std::max<uint64_t>(O.Count, 1);
  addUnless(Object, "at_least", O.AtLeast, false);
  addUnless(Object, "device", O.Device, 0);
  addUnless(Object, "run", O.Run, 0u);
  return Object;
}

template <typename T> static ordered_json fieldsJSON(const T &Summary) {
  ordered_json Object;
  visitFields(Summary,
              [&](const char *Key, const auto &Value) { Object[Key] = Value; });
  return Object;
}

static ordered_json summaryJSON(const RunSummary &S) {
  ordered_json Object = fieldsJSON(S);
  Object["notes"] = S.Notes;
  if (S.Metadata)
    Object["metadata"] = fieldsJSON(*S.Metadata);
  if (S.Host)
    Object["host"] = fieldsJSON(*S.Host);
  if (S.Oracle)
    Object["oracle"] = fieldsJSON(*S.Oracle);
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
  if ((IsLater && F.knowsThread()) || F.isTwoSided())
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
  addUnless(Object, "fault", F.Fault, {});
  Object["heading"] = heading(F);
  addUnless(Object, "memory", F.Memory, {});
  addUnless(Object, "allocated_at", F.AllocatedAt, {});
  addUnless(Object, "launched_at", F.LaunchedAt, {});
  addUnless(Object, "host_wrote_at", F.HostWroteAt, {});
  Object["access"] = sideJSON(F, Side::Later);
  if (F.First.Other)
    Object["other"] = sideJSON(F, Side::Earlier);
  Object["explanation"] = explain(F);
  Object["count"] = F.Count;
  Object["at_least"] = F.AtLeast;
  Object["devices"] = F.Devices;
  Object["instances"] = F.Instances;
  Object["runs"] = F.Runs;
  return Object;
}

static ordered_json runsJSON(const std::vector<RunInfo> &Runs) {
  ordered_json Array = ordered_json::array();
  for (const RunInfo &Run : Runs) {
    ordered_json &Object = Array.emplace_back();
    Object["seed"] = Run.Seed;
    addUnless(Object, "program", Run.Program, {});
    addUnless(Object, "replay", Run.Replay, {});
    addUnless(Object, "failure", Run.Failure, {});
  }
  return Array;
}

static ordered_json coverageJSON(const Coverage &All) {
  ordered_json Array = ordered_json::array();
  for (const AccessCoverage &A : All) {
    ordered_json Object = frameJSON(A.Place);
    addUnless(Object, "kernel", A.Kernel, {});
    if (A.isCheckable()) {
      Object["access"] = nameIn(AccessNames, A.Access);
      Object["checks"] = A.Checks;
      addUnless(Object, "followed", A.IsFollowed, false);
    } else {
      Object["not_checked"] = A.NotChecked;
    }
    Array.push_back(std::move(Object));
  }
  return Array;
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
  ordered_json Document = {{"findings", Findings},
                           {"sites", Sites},
                           {"records", Records},
                           {"runs", runsJSON(File.Runs)},
                           {"summary", summaryJSON(File.Summary)}};
  if (!File.Checked.empty())
    Document["coverage"] = coverageJSON(File.Checked);
  // A file's name may hold any bytes; JSON may not.
  return Document.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
}
