// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tables, whole and damaged.
#include "Report/SiteTable.h"
#include "crsan/abi/Version.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

// Not `using`: GoogleTest brings another `abi` into the global namespace.
namespace crsan {

namespace {

/// A table in pieces, so that a test can spoil one.
struct TableImage {
  abi::ModuleHeader Header{};
  std::vector<abi::SiteEntry> Sites;
  std::vector<abi::Frame> Frames;
  std::vector<abi::Companion> Companions;
  std::vector<abi::Variable> Variables;
  std::vector<abi::SharedUse> SharedUses;
  std::vector<abi::OmittedAccess> Omitted;
  std::vector<uint32_t> WindowOfSite, ChecksOfWindow;
  std::vector<uint32_t> Kernels;
  std::string Strings = std::string(1, '\0');

  uint32_t string(std::string_view Text) {
    const uint32_t Offset = Strings.size();
    Strings.append(Text).push_back('\0');
    return Offset;
  }

  std::vector<uint8_t> bytes() {
    Header.Magic = abi::Magic;
    Header.NumSites = Sites.size();
    Header.NumFrames = Frames.size();
    Header.NumCompanions = Companions.size();
    Header.NumVariables = Variables.size();
    Header.NumSharedUses = SharedUses.size();
    Header.NumOmitted = Omitted.size();
    Header.NumChecked = WindowOfSite.size();
    Header.NumKernels = Header.NumFunctions = Kernels.size();
    Header.StringSize = Strings.size();
    std::vector<uint8_t> Out;
    auto Append = [&](const void *Data, size_t Size) {
      const auto *Begin = static_cast<const uint8_t *>(Data);
      Out.insert(Out.end(), Begin, Begin + Size);
    };
    Append(&Header, sizeof(Header));
    Append(Sites.data(), Sites.size() * sizeof(abi::SiteEntry));
    Append(Frames.data(), Frames.size() * sizeof(abi::Frame));
    Append(Companions.data(), Companions.size() * sizeof(abi::Companion));
    Append(Variables.data(), Variables.size() * sizeof(abi::Variable));
    Append(SharedUses.data(), SharedUses.size() * sizeof(abi::SharedUse));
    Append(Omitted.data(), Omitted.size() * sizeof(abi::OmittedAccess));
    Append(WindowOfSite.data(), WindowOfSite.size() * sizeof(uint32_t));
    ChecksOfWindow.resize(Header.NumWindows);
    Append(ChecksOfWindow.data(), ChecksOfWindow.size() * sizeof(uint32_t));
    Append(Kernels.data(), Kernels.size() * sizeof(uint32_t));
    Append(Strings.data(), Strings.size());
    return Out;
  }
};

/// A load inlined into the kernel stencil(int*, int), with a store after it as
/// its companion, and an atomic in the kernel.
TableImage stencilTable() {
  TableImage T;
  T.Header.Version = abi::Version;
  T.Header.Unit = 0x1234;
  T.Header.NumWindows = 5;
  T.Header.Flags = abi::NoShuffle;
  T.Header.Skipped = 3;
  T.Header.Exempt = 4;
  const uint32_t Load = T.string("_Z4loadPi");
  const uint32_t Stencil = T.string("_Z7stencilPii");
  const uint32_t File = T.string("kernel.cu");
  T.Frames = {{Load, File, 31, 9, 1},
              {Stencil, File, 57, 3, abi::NoFrame},
              {Stencil, File, 58, 7, abi::NoFrame}};
  T.Sites = {{0xa, 0, Stencil, abi::AccessKind::Load, abi::Space::Shared, 0, 0,
              4, 0, 1, 1, 0},
             {0xb, 2, 0, abi::AccessKind::Update, abi::Space::Generic,
              abi::IsStrong | abi::IsAtomic, uint8_t(abi::Scope::Cluster), 16,
              1, 0, 0, 0}};
  T.Companions = {{2, abi::AccessKind::Store, {}}};
  T.Variables = {{T.string("_ZZ7stencilPiiE4tile"),
                  4,
                  128,
                  {4, 8, 0},
                  abi::Space::Shared,
                  {}}};
  T.SharedUses = {{Stencil, 0}};
  T.Kernels = {Stencil};
  return T;
}

/// The error text, empty if the table was taken. The bytes lie in a block of
/// exactly their size, so that a checker of memory sees every read beyond it.
std::string errorOf(const std::vector<uint8_t> &Bytes, SiteTable &Sites) {
  auto Exact = std::make_unique<uint8_t[]>(Bytes.size());
  std::copy(Bytes.begin(), Bytes.end(), Exact.get());
  auto Result = Sites.add(std::span<const uint8_t>(Exact.get(), Bytes.size()));
  auto *Error = std::get_if<TableError>(&Result);
  return Error ? Error->Message : "";
}

std::string errorOf(TableImage T) {
  SiteTable Sites;
  std::string Error = errorOf(T.bytes(), Sites);
  EXPECT_EQ(Sites.size(), Error.empty() ? T.Sites.size() : 0);
  return Error;
}

constexpr char DamagedStart[] =
    "the site table of an instrumented module is damaged (";

#define EXPECT_DAMAGED(Error, What)                                            \
  EXPECT_EQ(Error, std::string(DamagedStart) + What + "); rebuild the program")

} // namespace

TEST(SiteTable, ReadsModuleAndSites) {
  SiteTable Sites;
  auto Result = Sites.add(stencilTable().bytes());
  auto *Info = std::get_if<ModuleInfo>(&Result);
  ASSERT_TRUE(Info);
  EXPECT_EQ(Info->Unit, 0x1234u);
  EXPECT_EQ(Info->Version, abi::Version);
  EXPECT_EQ(Info->NumSites, 2u);
  EXPECT_EQ(Info->NumWindows, 5u);
  EXPECT_EQ(Info->Flags, abi::NoShuffle);
  EXPECT_EQ(Info->Skipped, 3u);
  EXPECT_EQ(Info->Exempt, 4u);
  EXPECT_EQ(Info->Kernels, std::vector<std::string>{"_Z7stencilPii"});
  EXPECT_EQ(Sites.size(), 2u);

  const SiteInfo *Load = Sites.find(0xa);
  ASSERT_TRUE(Load);
  EXPECT_EQ(Load->Id, 0xau);
  EXPECT_EQ(Load->Access, abi::AccessKind::Load);
  EXPECT_EQ(Load->Space, abi::Space::Shared);
  EXPECT_EQ(Load->Size, 4u);
  EXPECT_EQ(Load->Kernel, "stencil(int*, int)");
  EXPECT_EQ(Load->Frames, (std::vector<SourceFrame>{
                              {"load(int*)", "kernel.cu", 31, 9},
                              {"stencil(int*, int)", "kernel.cu", 57, 3}}));

  EXPECT_FALSE(Load->isStrong());
  EXPECT_EQ(Load->Companions,
            (std::vector<CompanionInfo>{
                {abi::AccessKind::Store,
                 {{"stencil(int*, int)", "kernel.cu", 58, 7}}}}));

  const SiteInfo *Atomic = Sites.find(0xb);
  ASSERT_TRUE(Atomic);
  EXPECT_EQ(Atomic->Access, abi::AccessKind::Update);
  EXPECT_TRUE(Atomic->isStrong());
  EXPECT_TRUE(Atomic->isAtomic());
  EXPECT_EQ(Atomic->Scope, abi::Scope::Cluster);
  EXPECT_EQ(Atomic->Kernel, "");
  EXPECT_EQ(Atomic->Frames.size(), 1u);
  EXPECT_TRUE(Atomic->Companions.empty());

  ASSERT_TRUE(Load->Variable);
  EXPECT_FALSE(Atomic->Variable);
  EXPECT_EQ(variableWords(*Load->Variable), "tile (__shared__, 128 bytes)");
  EXPECT_EQ(placeInVariable(*Load->Variable, 4 * (8 + 3)),
            "tile[1][3] (__shared__)");
  ASSERT_EQ(Info->Variables.size(), 1u);
  EXPECT_EQ(Info->Variables[0].LinkageName, "_ZZ7stencilPiiE4tile");
  ASSERT_EQ(Info->SharedUses.size(), 1u);
  EXPECT_EQ(Info->SharedUses[0].Kernel, "stencil(int*, int)");
  EXPECT_EQ(Info->SharedUses[0].Variable, *Load->Variable);

  EXPECT_EQ(Sites.find(0xa), Load) << "pointers must stay";
  EXPECT_FALSE(Sites.find(0xc));
}

TEST(SiteTable, ReadsWhatIsNotCheckedAndWhatCountsWhere) {
  TableImage T = stencilTable();
  T.Omitted = {{0, T.Kernels[0], abi::Omission::Assembly, {}},
               {2, 0, abi::Omission::Ignored, {}}};
  T.WindowOfSite = {4, 0};
  SiteTable Sites;
  auto Result = Sites.add(T.bytes());
  auto *Info = std::get_if<ModuleInfo>(&Result);
  ASSERT_TRUE(Info);
  EXPECT_EQ(Info->WindowOfSite, (std::vector<uint32_t>{4, 0}));
  EXPECT_EQ(Info->ChecksOfWindow, std::vector<uint32_t>(5));
  Sites.add(T.bytes()); // As another context would load it.
  const std::vector<OmissionInfo> Omitted = Sites.omissions();
  ASSERT_EQ(Omitted.size(), 2u);
  EXPECT_EQ(Omitted[0].Why, abi::Omission::Assembly);
  EXPECT_EQ(Omitted[0].Kernel, "stencil(int*, int)");
  EXPECT_EQ(Omitted[0].Frames.size(), 2u);
  EXPECT_EQ(Omitted[1].Why, abi::Omission::Ignored);

  T.WindowOfSite = {5};
  EXPECT_DAMAGED(errorOf(T), "window of site 0");
  T = stencilTable();
  T.Omitted = {{7, 0, abi::Omission::Copy, {}}};
  EXPECT_DAMAGED(errorOf(T), "omitted access 0");
  T.Omitted = {{0, 0, abi::Omission(200), {}}};
  EXPECT_DAMAGED(errorOf(T), "omitted access 0");
}

TEST(SiteTable, NamesPlacesInVariables) {
  VariableInfo V{"_ZN3app6pointsE", abi::Space::Global, 64, 16, {4, 0, 0}};
  EXPECT_EQ(placeInVariable(V, 48), "app::points[3] (__device__)");
  EXPECT_EQ(placeInVariable(V, 17), "app::points[1] + 1 byte (__device__)");
  V = {"counter", abi::Space::Global, 4, 4, {}};
  EXPECT_EQ(placeInVariable(V, 0), "counter (__device__)");
  V = {"_ZL4seen__static__0123", abi::Space::Global, 4, 4, {}};
  EXPECT_EQ(variableWords(V), "seen (__device__, 4 bytes)");
  // Of a length that the launch says, and of elements that nobody told of.
  V = {"rest", abi::Space::Shared, 0, 8, {abi::AnyExtent, 0, 0}};
  EXPECT_EQ(placeInVariable(V, 800), "rest[100] (__shared__)");
  EXPECT_EQ(variableWords(V), "rest (__shared__)");
  V = {"rest", abi::Space::Shared, 0, 0, {}};
  EXPECT_EQ(placeInVariable(V, 800), "rest + 800 bytes (__shared__)");
}

TEST(SiteTable, FindsWhatReadsStrongly) {
  TableImage T = stencilTable();
  T.Sites[1].Kernel = T.Kernels[0];
  SiteTable Sites;
  EXPECT_EQ(errorOf(T.bytes(), Sites), "");
  EXPECT_EQ(Sites.strongReadsOf("stencil(int*, int)"),
            std::vector{Sites.find(0xb)});
  EXPECT_TRUE(Sites.strongReadsOf("other()").empty());
}

TEST(SiteTable, RefusesEveryTruncation) {
  const std::vector<uint8_t> Whole = stencilTable().bytes();
  for (size_t Size = 0; Size < Whole.size(); ++Size) {
    SiteTable Sites;
    EXPECT_DAMAGED(errorOf({Whole.begin(), Whole.begin() + Size}, Sites),
                   "truncated");
    EXPECT_EQ(Sites.size(), 0u);
  }
}

TEST(SiteTable, SurvivesEveryChangedByte) {
  // Many of these are still tables; of one that is taken, every site must be
  // there and can be decoded.
  const std::vector<uint8_t> Whole = stencilTable().bytes();
  for (size_t At = 0; At < Whole.size(); ++At)
    for (int Value = 0; Value < 256; ++Value) {
      std::vector<uint8_t> Changed = Whole;
      Changed[At] = Value;
      SiteTable Sites;
      if (!errorOf(Changed, Sites).empty())
        continue;
      abi::ModuleHeader Header;
      std::memcpy(&Header, Changed.data(), sizeof(Header));
      for (uint32_t I = 0; I < Header.NumSites; ++I) {
        abi::SiteEntry Entry;
        std::memcpy(&Entry, &Changed[sizeof(Header) + I * sizeof(Entry)],
                    sizeof(Entry));
        ASSERT_TRUE(Sites.find(Entry.Id)) << "byte " << At << " = " << Value;
      }
    }
}

TEST(SiteTable, TakesBytesAtAnyAddress) {
  const std::vector<uint8_t> Whole = stencilTable().bytes();
  std::vector<uint8_t> Shifted(1);
  Shifted.insert(Shifted.end(), Whole.begin(), Whole.end());
  SiteTable Sites;
  auto Result = Sites.add(std::span<const uint8_t>(Shifted).subspan(1));
  EXPECT_TRUE(std::get_if<ModuleInfo>(&Result));
  Shifted.assign(Shifted.size(), 0xff);
  EXPECT_TRUE(Sites.find(0xa)) << "the bytes must have been copied";
}

TEST(SiteTable, NamesTheRemedyForAnotherVersion) {
  TableImage T = stencilTable();
  T.Header.Version = abi::Version + 1;
  EXPECT_EQ(errorOf(T), "a module was instrumented by another CRSan (its ABI "
                        "version is " +
                            std::to_string(abi::Version + 1) +
                            ", this library's " + std::to_string(abi::Version) +
                            "); rebuild the program with this CRSan");

  // Another version's header may be shorter than ours.
  SiteTable Sites;
  std::vector<uint8_t> Start = T.bytes();
  Start.resize(8);
  EXPECT_NE(errorOf(Start, Sites).find("another CRSan"), std::string::npos);
}

TEST(SiteTable, RefusesWrongMagic) {
  std::vector<uint8_t> Bytes = stencilTable().bytes();
  Bytes[0] ^= 1;
  SiteTable Sites;
  EXPECT_DAMAGED(errorOf(Bytes, Sites), "no site table");
}

TEST(SiteTable, RefusesReferencesOutOfBounds) {
  TableImage T = stencilTable();
  T.Sites[1].Frame = 3;
  EXPECT_DAMAGED(errorOf(T), "site 1");

  T = stencilTable();
  T.Sites[0].Kernel = T.Strings.size();
  EXPECT_DAMAGED(errorOf(T), "site 0");

  T = stencilTable();
  T.Sites[0].MemorySpace = abi::Space(2);
  EXPECT_DAMAGED(errorOf(T), "site 0");

  T = stencilTable();
  T.Sites[0].Access = abi::AccessKind(4);
  EXPECT_DAMAGED(errorOf(T), "site 0");

  T = stencilTable();
  T.Sites[0].Scope = 4;
  EXPECT_DAMAGED(errorOf(T), "site 0");

  T = stencilTable();
  T.Sites[0].NumCompanions = 2;
  EXPECT_DAMAGED(errorOf(T), "site 0");

  T = stencilTable();
  T.Sites[1].Variable = 2;
  EXPECT_DAMAGED(errorOf(T), "site 1");

  T = stencilTable();
  T.Variables[0].Name = T.Strings.size();
  EXPECT_DAMAGED(errorOf(T), "variable 0");

  T = stencilTable();
  T.SharedUses[0].Variable = 1;
  EXPECT_DAMAGED(errorOf(T), "shared variable 0");

  T = stencilTable();
  T.SharedUses[0].Kernel = T.Strings.size();
  EXPECT_DAMAGED(errorOf(T), "shared variable 0");

  T = stencilTable();
  T.Companions[0].Frame = 3;
  EXPECT_DAMAGED(errorOf(T), "companion 0");

  T = stencilTable();
  T.Companions[0].Access = abi::AccessKind(4);
  EXPECT_DAMAGED(errorOf(T), "companion 0");

  T = stencilTable();
  T.Frames[2].File = T.Strings.size();
  EXPECT_DAMAGED(errorOf(T), "frame 2");

  T = stencilTable();
  T.Frames[0].InlinedAt = 3;
  EXPECT_DAMAGED(errorOf(T), "frame 0");

  T = stencilTable();
  T.Kernels.push_back(T.Strings.size());
  EXPECT_DAMAGED(errorOf(T), "function 1");

  T = stencilTable();
  T.Strings.back() = 'x';
  EXPECT_DAMAGED(errorOf(T), "text without end");
}

TEST(SiteTable, RefusesCountsThatWouldOverflow) {
  std::vector<uint8_t> Bytes = stencilTable().bytes();
  abi::ModuleHeader Header;
  std::memcpy(&Header, Bytes.data(), sizeof(Header));
  Header.NumSites = Header.NumFrames = Header.NumFunctions = ~0u;
  Header.NumCompanions = ~0u;
  Header.StringSize = ~0u;
  std::memcpy(Bytes.data(), &Header, sizeof(Header));
  SiteTable Sites;
  EXPECT_DAMAGED(errorOf(Bytes, Sites), "truncated");
}

TEST(SiteTable, RefusesChainsThatNeverEnd) {
  TableImage T = stencilTable();
  T.Frames[1].InlinedAt = 1;
  EXPECT_DAMAGED(errorOf(T), "frame 1 is inlined into itself");

  T = stencilTable();
  T.Frames[2].InlinedAt = 1;
  T.Frames[1].InlinedAt = 0;
  EXPECT_DAMAGED(errorOf(T), "frame 0 is inlined into itself");

  T = stencilTable();
  T.Frames[2].InlinedAt = 1; // Two chains may end alike.
  EXPECT_EQ(errorOf(T), "");
}

TEST(SiteTable, TakesModulesWithoutSitesOrDebugInformation) {
  TableImage T;
  T.Header.Version = abi::Version;
  T.Strings.clear();
  EXPECT_EQ(errorOf(T), "");

  T.Sites = {{1, abi::NoFrame, 0, abi::AccessKind::Load, abi::Space::Generic, 0,
              0, 4, 0, 0, 0, 0}};
  EXPECT_EQ(errorOf(T), "");
  SiteTable Sites;
  Sites.add(T.bytes());
  ASSERT_TRUE(Sites.find(1));
  EXPECT_TRUE(Sites.find(1)->Frames.empty());
}

TEST(SiteTable, CountsASiteOnce) {
  SiteTable Sites;
  Sites.add(stencilTable().bytes());
  const SiteInfo *First = Sites.find(0xa);

  TableImage Again = stencilTable(); // As another context would load it.
  Again.Sites.push_back({0xc, 2, 0, abi::AccessKind::Store, abi::Space::Global,
                         0, 0, 8, 0, 0, 0, 0});
  auto Result = Sites.add(Again.bytes());
  ASSERT_TRUE(std::get_if<ModuleInfo>(&Result));
  EXPECT_EQ(Sites.size(), 3u);
  EXPECT_EQ(Sites.find(0xa), First);
  ASSERT_TRUE(Sites.find(0xc));
  EXPECT_EQ(Sites.find(0xc)->Size, 8u);

  SiteInfo Decoded;
  Decoded.Id = 0xc;
  Sites.add(std::move(Decoded));
  EXPECT_EQ(Sites.find(0xc)->Size, 8u) << "the first is kept";
}

TEST(SiteTable, MovesWithItsSites) {
  SiteTable Sites;
  Sites.add(stencilTable().bytes());
  const SiteInfo *Load = Sites.find(0xa);
  SiteTable Moved = std::move(Sites);
  EXPECT_EQ(Moved.find(0xa), Load);
  ASSERT_TRUE(Moved.find(0xb));
  EXPECT_EQ(Moved.find(0xb)->Size, 16u);
}

} // namespace crsan
