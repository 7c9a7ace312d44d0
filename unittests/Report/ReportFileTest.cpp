// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reports read from JSON.
#include "Report/ReportFile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

// Not `using`: GoogleTest brings another `abi` into the global namespace.
namespace crsan {

static ReportFile parse(std::string_view Text) {
  auto Result = parseReportFile(Text);
  auto *Error = std::get_if<ReportFileError>(&Result);
  EXPECT_FALSE(Error) << Error->Message;
  return Error ? ReportFile() : std::get<ReportFile>(std::move(Result));
}

TEST(ReportFile, ReadsEveryMember) {
  const ReportFile File = parse(R"({
    "sites": [{"id": "0xffffffffffffffff", "access": "store",
               "space": "cluster", "size": 16, "kernel": "_Z1kv",
               "frames": [{"function": "_Z1fv", "file": "k.cu", "line": 1,
                           "column": 2}]}],
    "records": [{"site": "0xffffffffffffffff", "other": 2,
                 "kind": "intra_warp_conflict", "address": "0x10", "before": 3,
                 "after": 4, "block": [5, 6, 7], "thread": [8, 9, 10],
                 "lanes": [0, 31], "space": "shared", "size": 255, "hash": true,
                 "same_value": true, "count": 18446744073709551615,
                 "at_least": true, "device": 3}],
    "summary": {"kernels_launched": 1, "kernels_failed": 2,
                "kernels_not_instrumented": 3, "sites": 4, "windows": 5,
                "checks": 6, "windows_checked": 7, "dropped_records": 8,
                "skipped_accesses": 9, "seed": 10, "delay_ns": 11, "budget": 12,
                "max_interval": 13, "counts_complete": false, "shuffled": true,
                "modules": 14, "notes": ["a", "b"]}})");

  const SiteInfo *Site = File.Sites.find(~uint64_t(0));
  ASSERT_TRUE(Site);
  EXPECT_EQ(Site->Access, abi::AccessKind::Store);
  EXPECT_EQ(Site->Space, abi::Space::Cluster);
  EXPECT_EQ(Site->Size, 16u);
  EXPECT_EQ(Site->Kernel, "k()");
  EXPECT_EQ(Site->Frames, (std::vector<SourceFrame>{{"f()", "k.cu", 1, 2}}));

  ASSERT_EQ(File.Occurrences.size(), 1u);
  const Occurrence &O = File.Occurrences[0];
  EXPECT_EQ(O.Rec.Site, ~uint64_t(0));
  EXPECT_EQ(O.Rec.Other, 2u);
  EXPECT_EQ(O.Rec.Kind, abi::RaceKind::IntraWarpConflict);
  EXPECT_EQ(O.Rec.Address, 0x10u);
  EXPECT_EQ(O.Rec.Before, 3u);
  EXPECT_EQ(O.Rec.After, 4u);
  EXPECT_EQ(O.Rec.Block[2], 7u);
  EXPECT_EQ(O.Rec.Thread, 8u | 9u << 10 | 10u << 20);
  EXPECT_EQ(O.Rec.Lanes, 0x80000001u);
  EXPECT_EQ(O.Rec.MemorySpace, abi::Space::Shared);
  EXPECT_EQ(O.Rec.Size, 255u);
  EXPECT_EQ(O.Rec.Flags, abi::ValuesAreHashes | abi::SameValue);
  EXPECT_EQ(O.Count, ~uint64_t(0));
  EXPECT_TRUE(O.AtLeast);
  EXPECT_EQ(O.Device, 3);

  const RunSummary &S = File.Summary;
  EXPECT_EQ(S.KernelsLaunched, 1u);
  EXPECT_EQ(S.KernelsFailed, 2u);
  EXPECT_EQ(S.KernelsNotInstrumented, 3u);
  EXPECT_EQ(S.Sites, 4u);
  EXPECT_EQ(S.Windows, 5u);
  EXPECT_EQ(S.Checks, 6u);
  EXPECT_EQ(S.WindowsChecked, 7u);
  EXPECT_EQ(S.DroppedRecords, 8u);
  EXPECT_EQ(S.SkippedAccesses, 9u);
  EXPECT_EQ(S.Seed, 10u);
  EXPECT_EQ(S.DelayNs, 11u);
  EXPECT_EQ(S.Budget, 12u);
  EXPECT_EQ(S.MaxInterval, 13u);
  EXPECT_FALSE(S.CountsComplete);
  EXPECT_TRUE(S.Shuffled);
  EXPECT_EQ(S.Modules, 14u);
  EXPECT_EQ(S.Notes, (std::vector<std::string>{"a", "b"}));
}

static const char TwoSidedRun[] = R"({
    "sites": [{"id": 1, "access": "update", "atomic": true, "scope": "cluster",
               "size": 4},
              {"id": 2, "access": "load", "strong": true, "size": 8}],
    "records": [{"site": 1, "other": 2, "kind": "improper_lock",
                 "earlier_block": 281474976710654, "earlier_thread": 1023,
                 "reasons": ["same_warp", "same_block", "other_grid",
                             "earlier_no_sync", "earlier_fenced_block",
                             "earlier_fenced_device", "earlier_barrier",
                             "later_acquired", "later_holds_lock",
                             "earlier_used_lock", "several_readers"],
                 "grid": [4, 5, 6], "block_shape": [1024, 1, 64]},
                {"site": 1, "other": 2, "kind": "inter_kernel"}],
    "summary": {}})";

TEST(ReportFile, ReadsTwoSidedRecords) {
  const ReportFile File = parse(TwoSidedRun);
  const SiteInfo *Atomic = File.Sites.find(1);
  ASSERT_TRUE(Atomic);
  EXPECT_EQ(Atomic->Flags, abi::ReadsMemory | abi::WritesMemory |
                               abi::IsStrong | abi::IsAtomic);
  EXPECT_EQ(Atomic->Scope, abi::Scope::Cluster);
  const SiteInfo *Strong = File.Sites.find(2);
  ASSERT_TRUE(Strong);
  EXPECT_EQ(Strong->Flags, abi::ReadsMemory | abi::IsStrong);
  EXPECT_EQ(Strong->Scope, abi::Scope::System);

  ASSERT_EQ(File.Occurrences.size(), 2u);
  const Occurrence &O = File.Occurrences[0];
  EXPECT_EQ(O.Rec.Kind, abi::RaceKind::ImproperLock);
  EXPECT_EQ(O.Rec.Flags, abi::TwoSided);
  EXPECT_EQ(O.Rec.Before, abi::earlierThread(abi::UnknownBlock - 1, 1023));
  EXPECT_EQ(O.Rec.After, (1u << 11) - 1);
  EXPECT_EQ(O.Grid, (Index3{4, 5, 6}));
  EXPECT_EQ(O.BlockShape, (Index3{1024, 1, 64}));
  EXPECT_EQ(File.Occurrences[1].Rec.Before,
            abi::earlierThread(abi::UnknownBlock, 0));
}

/// What `writeReportFile` makes of a file.
static std::string rewritten(const ReportFile &File) {
  return writeReportFile(File, buildReport(File));
}

TEST(ReportFile, ComesBackAsItWasWritten) {
  const char OneSidedRun[] = R"({
    "sites": [{"id": "0xffffffffffffffff", "access": "store",
               "space": "cluster", "size": 16, "kernel": "_Z1kv",
               "frames": [{"function": "_Z1fv", "file": "k.cu", "line": 1,
                           "column": 2}, {}]}],
    "records": [{"site": "0xffffffffffffffff", "other": 2,
                 "kind": "intra_warp_conflict", "address": "0x10", "before": 3,
                 "after": 4, "block": [5, 6, 7], "thread": [8, 9, 10],
                 "lanes": [0, 31], "space": "shared", "size": 255, "hash": true,
                 "same_value": true, "count": 18446744073709551615,
                 "at_least": true, "device": 3}],
    "summary": {"kernels_launched": 1, "counts_complete": false,
                "notes": ["a", "b"]}})";
  for (const char *Run : {TwoSidedRun, OneSidedRun}) {
    const ReportFile First = parse(Run);
    const std::string Text = rewritten(First);
    const ReportFile Second = parse(Text);
    EXPECT_EQ(rewritten(Second), Text);
    ASSERT_EQ(Second.Occurrences.size(), First.Occurrences.size());
    for (size_t I = 0; I < First.Occurrences.size(); ++I) {
      const Occurrence &A = First.Occurrences[I], &B = Second.Occurrences[I];
      EXPECT_EQ(std::memcmp(&A.Rec, &B.Rec, sizeof(A.Rec)), 0);
      EXPECT_EQ(std::max<uint64_t>(A.Count, 1), B.Count);
      EXPECT_EQ(A.AtLeast, B.AtLeast);
      EXPECT_EQ(A.Device, B.Device);
      EXPECT_EQ(A.Grid, B.Grid);
      EXPECT_EQ(A.BlockShape, B.BlockShape);
    }
    EXPECT_EQ(Second.Sites.size(), First.Sites.size());
    EXPECT_EQ(Second.Summary.Notes, First.Summary.Notes);
    EXPECT_EQ(Second.Summary.CountsComplete, First.Summary.CountsComplete);
  }
}

TEST(ReportFile, WritesOnlySitesThatRecordsName) {
  const ReportFile File = parse(R"({"sites": [{"id": 1}, {"id": 2}],
    "records": [{"site": 2, "kind": "lost_update"}], "summary": {}})");
  const ReportFile Again = parse(rewritten(File));
  EXPECT_FALSE(Again.Sites.find(1));
  EXPECT_TRUE(Again.Sites.find(2));
}

TEST(ReportFile, LeavesOutWhatIsNotGiven) {
  const ReportFile File = parse(R"({"summary": {}})");
  EXPECT_EQ(File.Sites.size(), 0u);
  EXPECT_TRUE(File.Occurrences.empty());
  EXPECT_TRUE(File.Summary.CountsComplete);
}

TEST(ReportFile, RefusesEveryTruncation) {
  const std::string Whole =
      R"({"records": [{"site": "0x1", "kind": "lost_update"}], "summary": {}})";
  parse(Whole);
  for (size_t Size = 0; Size < Whole.size(); ++Size) {
    auto Result = parseReportFile(std::string_view(Whole).substr(0, Size));
    EXPECT_TRUE(std::get_if<ReportFileError>(&Result)) << Size;
  }
}

} // namespace crsan
