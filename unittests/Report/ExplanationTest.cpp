// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What was missing, in words.
#include "Report/Explanation.h"
#include "TwoSided.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

// Not `using`: GoogleTest brings another `abi` into the global namespace.
namespace crsan {

using enum abi::RaceKind;
using enum abi::RaceReasons;

namespace {
struct Case {
  abi::RaceKind Kind;
  uint64_t Reasons;
  const char *Expected;
};
} // namespace

/// For kinds that are told from the distance alone.
static void expectOrder(uint64_t Reasons, const char *Expected) {
  const abi::RaceKind Kind = Reasons & OtherGrid   ? InterKernel
                             : Reasons & SameBlock ? IntraBlock
                                                   : InterBlock;
  EXPECT_EQ(explain(twoSided(Kind, Reasons)), Expected) << Reasons;
}

static const std::string BlockRemedy =
    " A __syncthreads() orders the two if all threads of the block execute it, "
    "the earlier thread after line 40 and the later thread before line 31.";
static const std::string GridRemedy =
    " Between blocks, a new launch or a barrier of the grid orders; or a "
    "__threadfence() and then an atomic write by the earlier thread, and an "
    "atomic read of it and then a __threadfence() by the later one.";

static void expectOrder(uint64_t Reasons, const std::string &Expected) {
  expectOrder(Reasons, Expected.c_str());
}

/// The same at both distances, each with what orders threads there.
static void expectBoth(uint64_t Reasons, const std::string &Expected) {
  expectOrder(Reasons, Expected + GridRemedy);
  expectOrder(Reasons | SameBlock, Expected + BlockRemedy);
}

TEST(Explanation, NothingThatSynchronises) {
  for (uint64_t Later : {0, int(LaterAcquired)})
    expectBoth(EarlierNoSync | Later,
               "Nothing orders the two: the earlier thread has executed no "
               "fence, barrier or release since line 40.");
}

TEST(Explanation, TheEndOfAThreadIsNoRelease) {
  expectBoth(EarlierNoSync | EarlierEnded,
             "Nothing orders the two: the earlier thread has ended, and had "
             "executed no fence, barrier or release since line 40. That a "
             "thread ends tells the others nothing.");
}

TEST(Explanation, ABarrierOrdersItsBlockOnly) {
  expectOrder(EarlierBarrier | SameBlock,
              "The earlier thread has reached a barrier since line 40, but not "
              "one that the later thread has passed before line 31." +
                  BlockRemedy);
  expectOrder(EarlierBarrier,
              "The earlier thread has reached a barrier since line 40, which "
              "orders threads of one block, and the threads are in different "
              "blocks." +
                  GridRemedy);
}

TEST(Explanation, AFenceReachesAsFarAsItsScope) {
  const char *Narrow =
      "The earlier thread's fences since line 40 have block scope, and the "
      "threads are in different blocks: a __threadfence() reaches them.";
  expectOrder(EarlierFencedBlock, Narrow);
  // The barrier says less than the fence here.
  expectOrder(EarlierFencedBlock | EarlierBarrier | LaterAcquired, Narrow);
  const std::string Expected =
      "The earlier thread has executed a fence or a release since line 40, but "
      "the later has acquired nothing.";
  expectBoth(EarlierFencedDevice, Expected);
  expectOrder(EarlierFencedDevice | EarlierFencedBlock, Expected + GridRemedy);
  expectOrder(EarlierFencedBlock | SameBlock, Expected + BlockRemedy);
}

TEST(Explanation, AnAcquireMustLeadBack) {
  const std::string Expected =
      "The earlier thread has executed a fence or a release since line 40, and "
      "the later has acquired from another thread, but nothing leads from the "
      "one to the other.";
  expectBoth(EarlierFencedDevice | LaterAcquired, Expected);
  expectOrder(EarlierFencedBlock | SameBlock | LaterAcquired,
              Expected + BlockRemedy);
  expectBoth(LaterAcquired,
             "The earlier thread has arrived at a barrier since line 40, and "
             "the later has learned of another thread, but nothing leads from "
             "the one to the other.");
}

TEST(Explanation, WhoArrivesMustBeWaitedFor) {
  expectBoth(0, "The earlier thread has arrived at a barrier since line 40, "
                "but the later has not waited for it before line 31.");
}

TEST(Explanation, WhatAnAtomicTellsNeedsAFenceBehindIt) {
  Finding F = twoSided(InterBlock, LaterUnfenced | EarlierFencedDevice);
  F.Grid = {2, 1, 1};
  F.Told = {atomicAt(26, abi::Scope::Device)};
  EXPECT_EQ(
      explain(F),
      "Block (1,0,0) learned by the atomic at line 26 that block (0,0,0) "
      "was done, but executed no __threadfence() after it: put one behind "
      "the atomic at line 26, for what an atomic says is ordered by fences "
      "on both sides; a __syncthreads() orders threads of its own block "
      "only.");
  F.Told.push_back(siteAt(28, abi::AccessKind::Load));
  EXPECT_TRUE(explain(F).starts_with(
      "Block (1,0,0) learned by the strong read at line 26 or line 28 that "));
  F.Told.clear();
  EXPECT_TRUE(explain(F).starts_with(
      "Block (1,0,0) learned by an atomic or volatile read that "));
}

TEST(Explanation, PlainUpdatesNeedAtomics) {
  for (const auto Kind : {WarpBarrier, IntraBlock, InterBlock}) {
    Finding F = twoSided(Kind, EarlierNoSync);
    // Of `*P += *Q`, what is read of Q is no part.
    F.Site->Flags = abi::WritesMemory | abi::IsOfUpdate;
    EXPECT_EQ(explain(F).find("atomicAdd"), std::string::npos);
    F.Other->Flags = abi::ReadsMemory | abi::IsOfUpdate;
    EXPECT_EQ(
        explain(F),
        "Both threads read this location, change the value and write it "
        "back, so one of the two changes may be lost; fences do not help. "
        "Make line 31 and line 40 atomic updates (atomicAdd, for "
        "instance), or let one lock protect line 31 and line 40.");
  }
  Finding F = twoSided(NotStrong, EarlierNoSync);
  F.Site->Flags = abi::WritesMemory | abi::IsOfUpdate;
  F.Other = atomicAt(40, abi::Scope::Device);
  EXPECT_EQ(explain(F),
            "The write at line 31 is neither volatile nor atomic. Both threads "
            "read this location, change the value and write it back, so one of "
            "the two changes may be lost; fences do not help. Make line 31 an "
            "atomic update, too (atomicAdd, for instance), or let one lock "
            "protect line 31 and line 40.");
}

TEST(Explanation, OfRacesWithinAWarpAndBeyond) {
  Finding F;
  F.First.Kind = IntraWarpConflict;
  F.Site = siteAt(31, abi::AccessKind::Load);
  EXPECT_NE(explain(F).find("without __syncwarp() between them"),
            std::string::npos);
  F.HasWider = true;
  EXPECT_NE(explain(F).find("a __syncwarp() alone does not mend it"),
            std::string::npos);
}

TEST(Explanation, KernelsAreOrderedByStreamsAndEvents) {
  const char *Expected =
      "The two kernels run at the same time: no stream or event orders them.";
  expectOrder(OtherGrid | EarlierNoSync, Expected);
  expectOrder(OtherGrid | EarlierFencedDevice | LaterAcquired, Expected);
  EXPECT_EQ(explain(twoSided(InterKernel)), Expected);
  EXPECT_EQ(explain(twoSided(ImproperLock, OtherGrid)), Expected);
}

TEST(Explanation, AnEventIsMissingBehindAKernelThatHasEnded) {
  expectOrder(OtherGrid | UnorderedLaunch | EarlierNoSync,
              "No stream, event or synchronisation orders the two kernels: let "
              "the later one's stream wait for an event that is recorded "
              "behind the earlier one, or the host for the earlier one's "
              "stream.");
}

TEST(Explanation, LanesNeedAWarpBarrier) {
  for (uint64_t Reasons : {SameWarp | EarlierNoSync, SameWarp | SameBlock,
                           SameWarp | EarlierFencedBlock})
    EXPECT_EQ(
        explain(twoSided(WarpBarrier, Reasons)),
        "Lanes of a warp do not run in lockstep. A __syncwarp() orders the "
        "two if the earlier lane executes it after line 40 and the later "
        "lane before line 31.");
  EXPECT_EQ(explain(twoSided(WarpBarrier, SameWarp | EarlierBarrier)),
            "The earlier lane has reached a barrier since line 40, but not one "
            "that the later lane has passed before line 31; lanes of a warp do "
            "not run in lockstep. A __syncwarp() orders the two if the earlier "
            "lane executes it after line 40 and the later lane before line "
            "31.");
}

TEST(Explanation, LocksMustProtectBothSides) {
  constexpr uint64_t Both = LaterHoldsLock | EarlierUsedLock;
  const char *Other = "Both threads use locks, but no lock that the later "
                      "thread holds at line 31 protects line 40: one lock has "
                      "to protect line 31 and line 40.";
  const Case Cases[] = {
      {ImproperLock, Both | EarlierNoSync | EarlierHoldsLock,
       "Both threads hold a lock at the same time, so it is not the same one: "
       "one lock has to protect line 31 and line 40."},
      {ImproperLock, Both | EarlierNoSync,
       "Both threads use locks, but the earlier thread has given its lock back "
       "and executed no fence, barrier or release since line 40: put a "
       "__threadfence() in front of what gives the lock back."},
      {ImproperLock, Both | EarlierFencedBlock,
       "Both threads use locks, but the earlier thread's fences since line 40 "
       "have block scope, and the threads are in different blocks: a "
       "__threadfence() reaches them."},
      {ImproperLock, Both | EarlierFencedBlock | SameBlock, Other},
      {ImproperLock, Both | EarlierFencedDevice, Other},
      {ImproperLock, LaterHoldsLock | SameBlock,
       "The later thread holds a lock at line 31, and the earlier thread, of "
       "the same block, holds none at line 40: one lock has to protect "
       "line 31 and line 40. If one thread holds the lock for its block, a "
       "barrier is missing. A __syncthreads() orders the two if all threads of "
       "the block execute it, the earlier thread after line 40 and the later "
       "thread before line 31."},
      {ImproperLock, EarlierUsedLock | SameBlock,
       "The earlier thread used a lock around line 40, and the later thread, "
       "of the same block, holds none at line 31: one lock has to protect "
       "line 31 and line 40. If one thread holds the lock for its block, a "
       "barrier is missing. A __syncthreads() orders the two if all threads of "
       "the block execute it, the earlier thread after line 40 and the later "
       "thread before line 31."},
      {ImproperLock, LaterHoldsLock | EarlierNoSync,
       "The lock that the later thread holds at line 31 is not held at line "
       "40: one lock has to protect line 31 and line 40."},
      {ImproperLock, EarlierUsedLock | EarlierFencedDevice,
       "The later thread holds no lock at line 31; the earlier thread used one "
       "around line 40: one lock has to protect line 31 and line 40."},
      {ImproperLock, 0, "No common lock protects line 31 and line 40."},
  };
  for (const Case &C : Cases)
    EXPECT_EQ(explain(twoSided(C.Kind, C.Reasons)), C.Expected);
}

TEST(Explanation, CopiesThatNobodyWaitedFor) {
  EXPECT_EQ(explain(twoSided(IntraBlock,
                             EarlierInFlight | SameBlock | EarlierBarrier)),
            "The asynchronous copy at line 40 was not waited for "
            "(cp.async.wait_group or wait_all, by the thread that issued it) "
            "before line 31.");
  EXPECT_EQ(explain(twoSided(IntraBlock, EarlierInFlight | EarlierBulkGroup)),
            "The asynchronous copy at line 40 was not waited for "
            "(cp.async.bulk.wait_group, by the thread that issued it) before "
            "line 31.");
  EXPECT_EQ(explain(twoSided(IntraBlock, EarlierInFlight | EarlierByWarpGroup)),
            "The matrix product at line 40 may still read its operands at line "
            "31: the later thread comes after no wait for the product "
            "(wgmma.wait_group).");
  EXPECT_EQ(explain(twoSided(InterBlock, EarlierInFlight | EarlierAtMbarrier)),
            "The asynchronous copy at line 40 may be under way at line 31: the "
            "later thread comes after no wait for the copy's phase of its "
            "mbarrier.");
  const std::string Waited =
      "The earlier thread has waited for its asynchronous copy at line 40, "
      "which tells no other thread of it: it has executed no fence, barrier or "
      "release since.";
  constexpr uint64_t Reasons = EarlierWaited | EarlierNoSync | SameBlock;
  EXPECT_EQ(explain(twoSided(IntraBlock, Reasons)), Waited + BlockRemedy);
  EXPECT_EQ(explain(twoSided(WarpBarrier, Reasons | SameWarp)),
            Waited + " A __syncwarp() orders the two if the earlier lane "
                     "executes it after line 40 and the later lane before line "
                     "31.");
}

TEST(Explanation, NamesTheAtomicOfTooNarrowAScope) {
  Finding F = twoSided(AtomicScope, EarlierNoSync);
  F.Site = atomicAt(31, abi::Scope::Device);
  F.Other = atomicAt(40, abi::Scope::Block);
  EXPECT_EQ(explain(F),
            "The atomic at line 40 has block scope, and the threads "
            "are in different blocks: device scope includes both.");

  std::swap(F.Site, F.Other);
  EXPECT_EQ(explain(F),
            "The atomic at line 40 has block scope, and the threads "
            "are in different blocks: device scope includes both.");

  F.Other->Scope = abi::Scope::Cluster;
  F.Site->Scope = abi::Scope::System;
  EXPECT_EQ(explain(F),
            "The atomic at line 31 has cluster scope, and the "
            "threads are in different clusters: device scope includes both.");

  F.Site->Scope = abi::Scope::Block; // The narrower of the two.
  EXPECT_EQ(explain(F),
            "The atomic at line 40 has block scope, and the threads "
            "are in different blocks: device scope includes both.");

  F.Other->Scope = abi::Scope::Block;
  EXPECT_EQ(explain(F), "The atomic at line 31 and the atomic at line 40 have "
                        "block scope, and the threads are in different blocks: "
                        "device scope includes both.");

  F.Other = F.Site;
  EXPECT_EQ(explain(F),
            "The atomic at line 40 has block scope, and the threads "
            "are in different blocks: device scope includes both.");

  F.Site->Access = abi::AccessKind::Load;
  F.Site->Flags = abi::IsStrong;
  F.Other = atomicAt(8, abi::Scope::Device);
  EXPECT_EQ(explain(F),
            "The atomic read at line 40 has block scope, and the "
            "threads are in different blocks: device scope includes both.");
  F.Site->Access = abi::AccessKind::Store;
  F.First.After |= OtherGrid;
  EXPECT_EQ(explain(F),
            "The atomic write at line 40 has block scope, and the "
            "threads are in different kernels: device scope includes both.");

  F.Site.reset();
  EXPECT_EQ(explain(twoSided(AtomicScope)),
            "One of the two accesses has a scope that leaves the other thread "
            "out, and the threads are in different blocks: device scope "
            "includes both.");
}

TEST(Explanation, NamesTheSideThatIsNotStrong) {
  Finding F = twoSided(NotStrong, EarlierNoSync);
  const std::string Order = "Nothing orders the two: the earlier thread has "
                            "executed no fence, barrier or release since line "
                            "40." +
                            GridRemedy;
  F.Other = atomicAt(40, abi::Scope::Device);
  EXPECT_EQ(explain(F),
            "The write at line 31 is neither volatile nor atomic. " + Order);
  F.Site = atomicAt(31, abi::Scope::Device);
  F.Other = siteAt(40, abi::AccessKind::Load);
  EXPECT_EQ(explain(F),
            "The read at line 40 is neither volatile nor atomic. " + Order);
  F.Other = atomicAt(40, abi::Scope::Device);
  EXPECT_EQ(explain(F),
            "Only one of the two accesses is volatile or atomic. " + Order);
}

TEST(Explanation, NamesPlacesAsAReaderWould) {
  Finding F = twoSided(WarpBarrier, SameWarp);
  const auto Expected = [](const char *Earlier, const char *Later) {
    return fmt::format("Lanes of a warp do not run in lockstep. A __syncwarp() "
                       "orders the two if the earlier lane executes it after "
                       "{} and the later lane before {}.",
                       Earlier, Later);
  };
  F.Other = F.Site;
  EXPECT_EQ(explain(F), Expected("line 31", "line 31"));
  F.Other->Frames[0].File = "include/f.h";
  EXPECT_EQ(explain(F), Expected("f.h:31", "k.cu:31"));
  F.Other->Frames[0].Line = 0;
  EXPECT_EQ(explain(F), Expected("the earlier access", "line 31"));
  F.Site.reset();
  F.Other.reset();
  EXPECT_EQ(explain(F), Expected("the earlier access", "the later access"));
  F.First.Kind = InterBlock;
  F.First.After = EarlierFencedBlock;
  EXPECT_EQ(explain(F),
            "The earlier thread's fences since the earlier access have block "
            "scope, and the threads are in different blocks: a "
            "__threadfence() reaches them.");
}

TEST(Explanation, EveryKindAndReasonHasASentence) {
  for (unsigned Kind = 0; Kind <= unsigned(BarrierDivergence); ++Kind)
    for (uint64_t Reasons = 0; Reasons < 1 << 17; ++Reasons)
      EXPECT_TRUE(
          explain(twoSided(abi::RaceKind(Kind), Reasons)).ends_with("."));
}

TEST(Explanation, BarriersOfOneLineAreReachedInTwoWays) {
  Finding F = twoSided(BarrierDivergence, SameBlock);
  EXPECT_TRUE(explain(F).starts_with("Some threads of the block wait at line "
                                     "31 while others wait at line 40."));
  F.Other->Frames[0].Line = 31;
  EXPECT_TRUE(explain(F).starts_with(
      "Some threads of the block wait at line 31 while others wait at line "
      "31, which they have reached in another way."));
  F.First.After |= OtherIteration;
  EXPECT_TRUE(explain(F).starts_with(
      "Some threads of the block wait at line 31 in one iteration of a loop "
      "while others wait there in another iteration."));
}

} // namespace crsan
