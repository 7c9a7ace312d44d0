// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which source place a site id names.
#include "Report/SiteTable.h"
#include "Report/Demangle.h"
#include "crsan/ToolkitFile.h"
#include "crsan/abi/Version.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

using namespace crsan;

namespace {

/// A table in place. Offsets are 64 bits wide, so that no count can overflow;
/// nothing is assumed of the bytes' alignment.
class TableView {
public:
  explicit TableView(std::span<const uint8_t> Bytes) : Bytes(Bytes) {
    if (!Bytes.empty())
      std::memcpy(&Header, Bytes.data(),
                  std::min(Bytes.size(), sizeof(Header)));
  }

  /// What is wrong with the table; nothing else may be called before.
  std::optional<std::string> check() const;

  abi::SiteEntry site(uint32_t I) const {
    return at<abi::SiteEntry>(sizeof(Header), I);
  }
  abi::Frame frame(uint32_t I) const { return at<abi::Frame>(frames(), I); }
  abi::Companion companion(uint32_t I) const {
    return at<abi::Companion>(companions(), I);
  }
  abi::Variable variable(uint32_t I) const {
    return at<abi::Variable>(variables(), I);
  }
  abi::SharedUse sharedUse(uint32_t I) const {
    return at<abi::SharedUse>(sharedUses(), I);
  }
  abi::OmittedAccess omitted(uint32_t I) const {
    return at<abi::OmittedAccess>(omissions(), I);
  }
  uint32_t windowOfSite(uint32_t I) const { return at<uint32_t>(checked(), I); }
  uint32_t checksOfWindow(uint32_t I) const {
    return at<uint32_t>(windows(), I);
  }
  std::string function(uint32_t I) const {
    return string(at<uint32_t>(functions(), I));
  }
  std::string string(uint32_t Offset) const {
    if (Offset == 0)
      return {};
    return reinterpret_cast<const char *>(Bytes.data()) + strings() + Offset;
  }

  abi::ModuleHeader Header{};

private:
  uint64_t frames() const {
    return sizeof(Header) + uint64_t(Header.NumSites) * sizeof(abi::SiteEntry);
  }
  uint64_t companions() const {
    return frames() + uint64_t(Header.NumFrames) * sizeof(abi::Frame);
  }
  uint64_t variables() const {
    return companions() +
           uint64_t(Header.NumCompanions) * sizeof(abi::Companion);
  }
  uint64_t sharedUses() const {
    return variables() + uint64_t(Header.NumVariables) * sizeof(abi::Variable);
  }
  uint64_t omissions() const {
    return sharedUses() +
           uint64_t(Header.NumSharedUses) * sizeof(abi::SharedUse);
  }
  uint64_t checked() const {
    return omissions() +
           uint64_t(Header.NumOmitted) * sizeof(abi::OmittedAccess);
  }
  uint64_t windows() const {
    return checked() + uint64_t(Header.NumChecked) * sizeof(uint32_t);
  }
  uint64_t functions() const {
    return windows() + uint64_t(Header.NumWindows) * sizeof(uint32_t);
  }
  uint64_t strings() const {
    return functions() + uint64_t(Header.NumFunctions) * sizeof(uint32_t);
  }

  template <typename T> T at(uint64_t Begin, uint32_t I) const {
    T Result;
    std::memcpy(&Result, Bytes.data() + Begin + uint64_t(I) * sizeof(T),
                sizeof(T));
    return Result;
  }

  bool isString(uint32_t Offset) const {
    return Offset == 0 || Offset < Header.StringSize;
  }
  bool isFrame(uint32_t I) const {
    return I == abi::NoFrame || I < Header.NumFrames;
  }
  std::optional<std::string> checkHeader() const;
  std::optional<std::string> checkSites() const;
  std::optional<std::string> checkCompanions() const;
  std::optional<std::string> checkVariables() const;
  std::optional<std::string> checkSharedUses() const;
  std::optional<std::string> checkOmissions() const;
  std::optional<std::string> checkFrames() const;

  std::span<const uint8_t> Bytes;
};

} // namespace

const SourceFrame &crsan::frameToName(const std::vector<SourceFrame> &Frames) {
  for (const SourceFrame &F : Frames)
    if (F.Line && !isToolkitFile(F.File))
      return F;
  return Frames.front();
}

static std::string damaged(std::string_view What) {
  return fmt::format(
      "the site table of an instrumented module is damaged ({}); "
      "rebuild the program",
      What);
}

std::optional<std::string> TableView::checkHeader() const {
  // Magic and version come first in every version, whatever follows.
  if (Bytes.size() < 2 * sizeof(uint32_t))
    return damaged("truncated");
  if (Header.Magic != abi::Magic)
    return damaged("no site table");
  if (Header.Version != abi::Version)
    return fmt::format(
        "a module was instrumented by another CRSan (its ABI version is {}, "
        "this library's {}); rebuild the program with this CRSan",
        Header.Version, abi::Version);
  if (Bytes.size() < sizeof(Header) ||
      Bytes.size() < strings() + Header.StringSize)
    return damaged("truncated");
  if (Header.StringSize && Bytes[strings() + Header.StringSize - 1] != '\0')
    return damaged("text without end");
  return std::nullopt;
}

static bool isAccess(abi::AccessKind Access) {
  switch (Access) {
  case abi::AccessKind::Load:
  case abi::AccessKind::Store:
  case abi::AccessKind::Update:
  case abi::AccessKind::Barrier:
    return true;
  }
  return false;
}

static bool isScope(uint8_t Scope) {
  return Scope <= uint8_t(abi::Scope::System);
}

static bool isSpace(abi::Space Space) {
  switch (Space) {
  case abi::Space::Generic:
  case abi::Space::Global:
  case abi::Space::Shared:
  case abi::Space::Constant:
  case abi::Space::Cluster:
    return true;
  }
  return false;
}

std::optional<std::string> TableView::checkSites() const {
  for (uint32_t I = 0; I < Header.NumSites; ++I) {
    abi::SiteEntry Entry = site(I);
    if (!isFrame(Entry.Frame) || !isString(Entry.Kernel) ||
        !isAccess(Entry.Access) || !isSpace(Entry.MemorySpace) ||
        !isScope(Entry.Scope) || Entry.Variable > Header.NumVariables ||
        uint64_t(Entry.FirstCompanion) + Entry.NumCompanions >
            Header.NumCompanions)
      return damaged(fmt::format("site {}", I));
  }
  return std::nullopt;
}

std::optional<std::string> TableView::checkCompanions() const {
  for (uint32_t I = 0; I < Header.NumCompanions; ++I)
    if (!isFrame(companion(I).Frame) || !isAccess(companion(I).Access))
      return damaged(fmt::format("companion {}", I));
  return std::nullopt;
}

std::optional<std::string> TableView::checkVariables() const {
  for (uint32_t I = 0; I < Header.NumVariables; ++I)
    if (!isString(variable(I).Name) || !isSpace(variable(I).MemorySpace))
      return damaged(fmt::format("variable {}", I));
  return std::nullopt;
}

std::optional<std::string> TableView::checkSharedUses() const {
  for (uint32_t I = 0; I < Header.NumSharedUses; ++I)
    if (!isString(sharedUse(I).Kernel) ||
        sharedUse(I).Variable >= Header.NumVariables)
      return damaged(fmt::format("shared variable {}", I));
  return std::nullopt;
}

static bool isOmission(abi::Omission Why) {
  switch (Why) {
#define CRSAN_OMISSION(Name, Remark, What, Reason) case abi::Omission::Name:
#include "crsan/abi/Omissions.def"
    return true;
  }
  return false;
}

std::optional<std::string> TableView::checkOmissions() const {
  for (uint32_t I = 0; I < Header.NumOmitted; ++I)
    if (!isFrame(omitted(I).Frame) || !isString(omitted(I).Kernel) ||
        !isOmission(omitted(I).Why))
      return damaged(fmt::format("omitted access {}", I));
  for (uint32_t I = 0; I < Header.NumChecked; ++I)
    if (windowOfSite(I) >= Header.NumWindows)
      return damaged(fmt::format("window of site {}", I));
  return std::nullopt;
}

std::optional<std::string> TableView::checkFrames() const {
  for (uint32_t I = 0; I < Header.NumFrames; ++I) {
    abi::Frame F = frame(I);
    if (!isString(F.Function) || !isString(F.File) || !isFrame(F.InlinedAt))
      return damaged(fmt::format("frame {}", I));
  }
  // A chain that comes back to itself would never end: walk each, marking
  // frames with the walk that met them first.
  std::vector<uint32_t> MetBy(Header.NumFrames, abi::NoFrame);
  for (uint32_t Walk = 0; Walk < Header.NumFrames; ++Walk)
    for (uint32_t I = Walk; I != abi::NoFrame; I = frame(I).InlinedAt) {
      if (MetBy[I] == Walk)
        return damaged(fmt::format("frame {} is inlined into itself", I));
      if (MetBy[I] != abi::NoFrame)
        break;
      MetBy[I] = Walk;
    }
  return std::nullopt;
}

std::optional<std::string> TableView::check() const {
  if (auto Problem = checkHeader())
    return Problem;
  if (Header.NumKernels > Header.NumFunctions)
    return damaged("more kernels than functions");
  if (Header.NumWaiting > Header.NumKernels)
    return damaged("more waiting kernels than kernels");
  for (uint32_t I = 0; I < Header.NumFunctions; ++I)
    if (!isString(at<uint32_t>(functions(), I)))
      return damaged(fmt::format("function {}", I));
  if (auto Problem = checkSites())
    return Problem;
  if (auto Problem = checkCompanions())
    return Problem;
  if (auto Problem = checkVariables())
    return Problem;
  if (auto Problem = checkSharedUses())
    return Problem;
  if (auto Problem = checkOmissions())
    return Problem;
  return checkFrames();
}

static std::vector<SourceFrame> framesFrom(const TableView &Table,
                                           uint32_t Innermost) {
  std::vector<SourceFrame> Frames;
  for (uint32_t I = Innermost; I != abi::NoFrame;) {
    abi::Frame F = Table.frame(I);
    Frames.push_back({demangle(Table.string(F.Function)), Table.string(F.File),
                      F.Line, F.Column});
    I = F.InlinedAt;
  }
  return Frames;
}

static VariableInfo variableFrom(const TableView &Table, uint32_t Index) {
  const abi::Variable V = Table.variable(Index);
  return {Table.string(V.Name), V.MemorySpace, V.Size, V.Element,
          std::to_array(V.Extent)};
}

static SiteInfo decode(const TableView &Table, uint32_t Entry) {
  abi::SiteEntry E = Table.site(Entry);
  SiteInfo Site{E.Id,
                E.Access,
                E.MemorySpace,
                E.Flags,
                abi::Scope(E.Scope),
                E.Size,
                demangle(Table.string(E.Kernel)),
                framesFrom(Table, E.Frame),
                {}};
  Site.IsHost = Table.Header.Flags & abi::IsHostCode;
  if (E.Variable)
    Site.Variable = variableFrom(Table, E.Variable - 1);
  for (uint32_t I = 0; I < E.NumCompanions; ++I) {
    const abi::Companion C = Table.companion(E.FirstCompanion + I);
    Site.Companions.push_back({C.Access, framesFrom(Table, C.Frame)});
  }
  return Site;
}

std::variant<ModuleInfo, TableError>
SiteTable::add(std::span<const uint8_t> Table) {
  TableView View(Table);
  if (auto Problem = View.check())
    return TableError{*Problem};

  const abi::ModuleHeader &Header = View.Header;
  const uint32_t Number = Tables.size();
  bool IsNew = false;
  for (uint32_t I = 0; I < Header.NumSites; ++I)
    IsNew |= Index.try_emplace(View.site(I).Id, Location{Number, I}).second;
  IsNew |= Header.NumOmitted && !Units.contains(Header.Unit);
  if (IsNew) {
    Units.insert(Header.Unit);
    Tables.emplace_back(Table.begin(), Table.end());
  }

  ModuleInfo Info{Header.Unit,
                  Header.Version,
                  Header.NumSites,
                  Header.NumWindows,
                  Header.Flags,
                  Header.Skipped,
                  Header.Exempt,
                  {},
                  {},
                  {},
                  {},
                  {},
                  {},
                  {}};
  for (uint32_t I = 0; I < Header.NumSites; ++I)
    Info.NumSites -= View.site(I).Access == abi::AccessKind::Barrier;
  for (uint32_t I = 0; I < Header.NumFunctions; ++I) {
    Info.Functions.push_back(View.function(I));
    if (I < Header.NumKernels)
      Info.Kernels.push_back(Info.Functions.back());
    if (I < Header.NumWaiting)
      Info.WaitingKernels.push_back(Info.Functions.back());
  }
  for (uint32_t I = 0; I < Header.NumVariables; ++I)
    Info.Variables.push_back(variableFrom(View, I));
  for (uint32_t I = 0; I < Header.NumSharedUses; ++I)
    Info.SharedUses.push_back({demangle(View.string(View.sharedUse(I).Kernel)),
                               variableFrom(View, View.sharedUse(I).Variable)});
  for (uint32_t I = 0; I < Header.NumChecked; ++I)
    Info.WindowOfSite.push_back(View.windowOfSite(I));
  for (uint32_t I = 0; I < Header.NumWindows; ++I)
    Info.ChecksOfWindow.push_back(View.checksOfWindow(I));
  return Info;
}

void SiteTable::add(SiteInfo Site) {
  auto [It, IsNew] = Index.try_emplace(Site.Id);
  if (!IsNew)
    return;
  Decoded.push_back(std::move(Site));
  It->second.Decoded = &Decoded.back();
}

uint64_t SiteTable::addForeign(SiteInfo Site) {
  // 0 is no site.
  for (uint64_t Id = Site.Id;; Id = std::max<uint64_t>(Id + 1, 1)) {
    const SiteInfo *Known = find(Id);
    SiteInfo Here = Site;
    Here.Id = Id;
    if (Known && *Known != Here)
      continue;
    add(std::move(Here));
    return Id;
  }
}

const SiteInfo *SiteTable::find(uint64_t Id) const {
  auto It = Index.find(Id);
  if (It == Index.end())
    return nullptr;
  Location &Where = It->second;
  if (!Where.Decoded) {
    Decoded.push_back(decode(TableView(Tables[Where.Table]), Where.Entry));
    Where.Decoded = &Decoded.back();
  }
  return Where.Decoded;
}

void SiteTable::forEach(const std::function<void(const SiteInfo &)> &Do) const {
  for (const auto &[Id, Where] : Index)
    Do(*find(Id));
}

std::vector<OmissionInfo> SiteTable::omissions() const {
  std::vector<OmissionInfo> All;
  for (const std::vector<uint8_t> &Table : Tables) {
    const TableView View(Table);
    for (uint32_t I = 0; I < View.Header.NumOmitted; ++I) {
      const abi::OmittedAccess O = View.omitted(I);
      All.push_back(
          {demangle(View.string(O.Kernel)), framesFrom(View, O.Frame), O.Why});
    }
  }
  return All;
}

std::vector<const SiteInfo *>
SiteTable::strongReadsOf(const std::string &Kernel) const {
  std::vector<const SiteInfo *> Found;
  forEach([&](const SiteInfo &Site) {
    if (Site.Kernel == Kernel && Site.isStrong() &&
        Site.Access != abi::AccessKind::Store && !Site.Frames.empty())
      Found.push_back(&Site);
  });
  std::sort(Found.begin(), Found.end(),
            [](const SiteInfo *A, const SiteInfo *B) { return A->Id < B->Id; });
  return Found;
}
