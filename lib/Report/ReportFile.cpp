//===- ReportFile.cpp - What a run recorded, as JSON ----------------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Report/ReportFile.h"
#include "Report/Demangle.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

using namespace crsan;
using nlohmann::json;

namespace {

/// Leaves this file as a ReportFileError.
struct BadFile : std::runtime_error {
  BadFile(const std::string &Path, const std::string &Problem)
      : std::runtime_error(Path.empty() ? Problem : Path + ": " + Problem) {}
};

template <typename T> using Names = std::vector<std::pair<const char *, T>>;

/// A value and where it is, for messages such as `records[2].kind: ...`.
class Node {
public:
  Node(const json &Value, std::string Path)
      : Value(Value), Path(std::move(Path)) {}

  [[noreturn]] void refuse(const std::string &Problem) const {
    throw BadFile(Path, Problem);
  }

  template <typename T> T number() const;
  bool flag() const;
  std::string text() const;
  std::vector<Node> elements() const;
  template <typename T> T choice(const Names<T> &Choices) const;

  const json &value() const { return Value; }
  const std::string &path() const { return Path; }

private:
  const json &Value;
  std::string Path;
};

/// The members of an object. Those that nobody asked for are refused at the
/// end.
class Members {
public:
  explicit Members(const Node &Object) : Object(Object) {
    if (!Object.value().is_object())
      Object.refuse("must be an object");
  }

  /// The member, or nothing.
  std::optional<Node> get(const char *Key) {
    Asked.push_back(Key);
    auto It = Object.value().find(Key);
    if (It == Object.value().end())
      return std::nullopt;
    const std::string &Path = Object.path();
    return Node(*It, Path.empty() ? Key : Path + "." + Key);
  }
  Node require(const char *Key) {
    if (std::optional<Node> Member = get(Key))
      return *Member;
    Object.refuse(fmt::format("\"{}\" is missing", Key));
  }

  template <typename T> void number(const char *Key, T &Result) {
    if (auto Member = get(Key))
      Result = Member->number<T>();
  }
  void flag(const char *Key, bool &Result) {
    if (auto Member = get(Key))
      Result = Member->flag();
  }
  void text(const char *Key, std::string &Result) {
    if (auto Member = get(Key))
      Result = Member->text();
  }
  template <typename T>
  void choice(const char *Key, const Names<T> &Choices, T &Result) {
    if (auto Member = get(Key))
      Result = Member->choice(Choices);
  }
  std::vector<Node> elements(const char *Key) {
    auto Member = get(Key);
    return Member ? Member->elements() : std::vector<Node>();
  }

  void finish() const {
    for (const auto &[Key, Member] : Object.value().items())
      if (std::find(Asked.begin(), Asked.end(), Key) == Asked.end())
        Object.refuse(fmt::format("unknown key \"{}\"; known are {}", Key,
                                  fmt::join(Asked, ", ")));
  }

private:
  const Node &Object;
  std::vector<std::string> Asked;
};

} // namespace

/// Integers, also as text with 0x: 64-bit values are hard to read otherwise.
template <typename T> T Node::number() const {
  static_assert(std::is_integral_v<T>);
  uint64_t Number = 0;
  if (Value.is_number_unsigned()) {
    Number = Value.get<uint64_t>();
  } else {
    const std::string Digits =
        Value.is_string() ? Value.get<std::string>() : "";
    const char *End = Digits.data() + Digits.size();
    if (!Digits.starts_with("0x"))
      refuse("must be a number, or text such as \"0x1f\"");
    auto [Stop, Error] = std::from_chars(Digits.data() + 2, End, Number, 16);
    if (Error != std::errc() || Stop != End)
      refuse(
          fmt::format("\"{}\" is not a hexadecimal number of 64 bits", Digits));
  }
  if (Number > uint64_t(std::numeric_limits<T>::max()))
    refuse(fmt::format("{} is more than {}", Number,
                       std::numeric_limits<T>::max()));
  return T(Number);
}

bool Node::flag() const {
  if (!Value.is_boolean())
    refuse("must be true or false");
  return Value.get<bool>();
}

std::string Node::text() const {
  if (!Value.is_string())
    refuse("must be text");
  return Value.get<std::string>();
}

std::vector<Node> Node::elements() const {
  if (!Value.is_array())
    refuse("must be an array");
  std::vector<Node> Result;
  for (size_t I = 0; I < Value.size(); ++I)
    Result.emplace_back(Value[I], fmt::format("{}[{}]", Path, I));
  return Result;
}

template <typename T> T Node::choice(const Names<T> &Choices) const {
  const std::string Name = text();
  std::vector<const char *> Known;
  for (const auto &[Text, Meaning] : Choices) {
    if (Name == Text)
      return Meaning;
    Known.push_back(Text);
  }
  refuse(fmt::format("\"{}\" is none of {}", Name, fmt::join(Known, ", ")));
}

static const Names<abi::RaceKind> Kinds = {
    {"clobbered_read", abi::RaceKind::ClobberedRead},
    {"lost_update", abi::RaceKind::LostUpdate},
    {"intra_warp_lost_update", abi::RaceKind::IntraWarpLostUpdate},
    {"intra_warp_conflict", abi::RaceKind::IntraWarpConflict},
    {"conflict", abi::RaceKind::Conflict}};

static const Names<abi::AccessKind> Accesses = {
    {"load", abi::AccessKind::Load}, {"store", abi::AccessKind::Store}};

static const Names<abi::Space> Spaces = {{"generic", abi::Space::Generic},
                                         {"global", abi::Space::Global},
                                         {"shared", abi::Space::Shared},
                                         {"cluster", abi::Space::Cluster}};

static SiteInfo readSite(const Node &Object) {
  Members M(Object);
  SiteInfo Site;
  Site.Id = M.require("id").number<uint64_t>();
  M.choice("access", Accesses, Site.Access);
  M.choice("space", Spaces, Site.Space);
  M.number("size", Site.Size);
  M.text("kernel", Site.Kernel);
  Site.Kernel = demangle(Site.Kernel);
  for (const Node &Element : M.elements("frames")) {
    Members FrameMembers(Element);
    SourceFrame &F = Site.Frames.emplace_back();
    FrameMembers.text("function", F.Function);
    F.Function = demangle(F.Function);
    FrameMembers.text("file", F.File);
    FrameMembers.number("line", F.Line);
    FrameMembers.number("column", F.Column);
    FrameMembers.finish();
  }
  M.finish();
  return Site;
}

/// Three numbers, x first, each less than its limit.
static std::array<uint32_t, 3> readIndex(const Node &Array,
                                         std::array<uint64_t, 3> Limits) {
  const std::vector<Node> Elements = Array.elements();
  if (Elements.size() != 3)
    Array.refuse("must be an array of three numbers");
  std::array<uint32_t, 3> Index;
  for (size_t I = 0; I < 3; ++I) {
    Index[I] = Elements[I].number<uint32_t>();
    if (Index[I] >= Limits[I])
      Elements[I].refuse(
          fmt::format("{} is not less than {}", Index[I], Limits[I]));
  }
  return Index;
}

static uint32_t readLanes(const std::vector<Node> &Elements) {
  uint32_t Lanes = 0;
  for (const Node &Element : Elements) {
    const uint32_t Lane = Element.number<uint32_t>();
    if (Lane >= 32)
      Element.refuse(fmt::format("{} is not a lane of a warp", Lane));
    Lanes |= uint32_t(1) << Lane;
  }
  return Lanes;
}

static Occurrence readRecord(const Node &Object) {
  Members M(Object);
  Occurrence O;
  abi::Record &Rec = O.Rec;
  Rec.Site = M.require("site").number<uint64_t>();
  Rec.Kind = M.require("kind").choice(Kinds);
  M.number("other", Rec.Other);
  M.number("address", Rec.Address);
  M.number("before", Rec.Before);
  M.number("after", Rec.After);
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
  bool Hashes = false, Same = false;
  M.flag("hash", Hashes);
  M.flag("same_value", Same);
  Rec.Flags = (Hashes ? abi::ValuesAreHashes : 0) | (Same ? abi::SameValue : 0);
  M.number("count", O.Count);
  M.flag("at_least", O.AtLeast);
  M.number("device", O.Device);
  M.finish();
  return O;
}

static RunSummary readSummary(const Node &Object) {
  Members M(Object);
  RunSummary S;
  M.number("kernels_launched", S.KernelsLaunched);
  M.number("kernels_failed", S.KernelsFailed);
  M.number("kernels_not_instrumented", S.KernelsNotInstrumented);
  M.number("sites", S.Sites);
  M.number("windows", S.Windows);
  M.number("checks", S.Checks);
  M.number("windows_checked", S.WindowsChecked);
  M.number("dropped_records", S.DroppedRecords);
  M.number("skipped_accesses", S.SkippedAccesses);
  M.number("seed", S.Seed);
  M.number("delay_ns", S.DelayNs);
  M.number("budget", S.Budget);
  M.number("max_interval", S.MaxInterval);
  M.flag("counts_complete", S.CountsComplete);
  M.flag("shuffled", S.Shuffled);
  M.number("modules", S.Modules);
  for (const Node &Note : M.elements("notes"))
    S.Notes.push_back(Note.text());
  M.finish();
  return S;
}

static ReportFile readFile(const Node &Top) {
  Members M(Top);
  ReportFile File;
  for (const Node &Site : M.elements("sites"))
    File.Sites.add(readSite(Site));
  for (const Node &Record : M.elements("records"))
    File.Occurrences.push_back(readRecord(Record));
  File.Summary = readSummary(M.require("summary"));
  M.finish();
  return File;
}

std::variant<ReportFile, ReportFileError>
crsan::parseReportFile(std::string_view Text) {
  try {
    const json Document = json::parse(Text);
    return readFile(Node(Document, ""));
  } catch (const json::exception &E) {
    // The library puts its own name and error number first: "[json...] ".
    std::string_view What = E.what();
    const size_t End = What.find("] ");
    return ReportFileError{std::string(
        End == std::string_view::npos ? What : What.substr(End + 2))};
  } catch (const BadFile &E) {
    return ReportFileError{E.what()};
  }
}
