//===- ExplanationTest.cpp - What was missing, in words -------------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Report/Explanation.h"
#include "TwoSided.h"

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

TEST(Explanation, NothingThatSynchronises) {
  for (uint64_t Distance : {0, int(SameBlock)})
    for (uint64_t Later : {0, int(LaterAcquired)})
      expectOrder(EarlierNoSync | Distance | Later,
                  "Nothing orders the two: the earlier thread has executed no "
                  "fence, barrier or release since line 40.");
}

TEST(Explanation, ABarrierOrdersItsBlockOnly) {
  expectOrder(EarlierBarrier | SameBlock,
              "The earlier thread has reached a barrier since line 40, but not "
              "one that the later thread has passed before line 31.");
  expectOrder(EarlierBarrier,
              "Line 31 and line 40 are ordered only by a barrier of one block, "
              "but the threads are in different blocks.");
}

TEST(Explanation, AFenceReachesAsFarAsItsScope) {
  expectOrder(EarlierFencedBlock,
              "Line 31 and line 40 are ordered only by a fence of block scope, "
              "but the threads are in different blocks.");
  // The barrier says less than the fence here.
  expectOrder(EarlierFencedBlock | EarlierBarrier | LaterAcquired,
              "Line 31 and line 40 are ordered only by a fence of block scope, "
              "but the threads are in different blocks.");
  for (uint64_t Reasons :
       {uint64_t(EarlierFencedDevice), EarlierFencedDevice | EarlierFencedBlock,
        EarlierFencedBlock | SameBlock})
    expectOrder(Reasons, "The earlier thread has executed a fence since line "
                         "40, but the later has acquired nothing.");
}

TEST(Explanation, AnAcquireMustLeadBack) {
  for (uint64_t Reasons :
       {uint64_t(EarlierFencedDevice), EarlierFencedBlock | SameBlock})
    expectOrder(Reasons | LaterAcquired,
                "The earlier thread has executed a fence since line 40, and "
                "the later has acquired from another thread, but nothing leads "
                "from the one to the other.");
  expectOrder(LaterAcquired,
              "The earlier thread has released since line 40, and the later "
              "has acquired from another thread, but nothing leads from the "
              "one to the other.");
}

TEST(Explanation, AReleaseMustBeAcquired) {
  for (uint64_t Distance : {0, int(SameBlock)})
    expectOrder(Distance, "The earlier thread has released since line 40, but "
                          "the later has acquired nothing.");
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
    EXPECT_EQ(explain(twoSided(WarpBarrier, Reasons)),
              "No __syncwarp() between line 31 and line 40; lanes of a warp do "
              "not run in lockstep.");
  EXPECT_EQ(explain(twoSided(WarpBarrier, SameWarp | EarlierBarrier)),
            "The earlier lane has reached a barrier since line 40, but not one "
            "that the later lane has passed before line 31; lanes of a warp do "
            "not run in lockstep.");
}

TEST(Explanation, LocksMustProtectBothSides) {
  const Case Cases[] = {
      {ImproperLock, LaterHoldsLock | EarlierUsedLock | EarlierNoSync,
       "Both threads use locks, but the earlier thread has executed no fence, "
       "barrier or release since line 40: giving a lock back without one "
       "orders "
       "nothing."},
      {ImproperLock, LaterHoldsLock | EarlierUsedLock | EarlierFencedBlock,
       "Both threads use locks, but the earlier thread's fences since line 40 "
       "have block scope, and the threads are in different blocks."},
      {ImproperLock,
       LaterHoldsLock | EarlierUsedLock | EarlierFencedBlock | SameBlock,
       "Both threads use locks, but no lock that the later thread holds at "
       "line "
       "31 protects line 40."},
      {ImproperLock, LaterHoldsLock | EarlierUsedLock | EarlierFencedDevice,
       "Both threads use locks, but no lock that the later thread holds at "
       "line "
       "31 protects line 40."},
      {ImproperLock, LaterHoldsLock | EarlierNoSync,
       "The lock that the later thread holds at line 31 is not held at line "
       "40."},
      {ImproperLock, EarlierUsedLock | EarlierFencedDevice,
       "The later thread holds no lock at line 31; the earlier thread used one "
       "around line 40."},
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
  for (const auto Kind : {IntraBlock, WarpBarrier})
    EXPECT_EQ(explain(twoSided(Kind, EarlierWaited | EarlierNoSync)),
              "The earlier thread has waited for its asynchronous copy at line "
              "40, which tells no other thread of it: it has executed no "
              "fence, barrier or release since.");
}

TEST(Explanation, NamesTheAtomicOfTooNarrowAScope) {
  Finding F = twoSided(AtomicScope, EarlierNoSync);
  F.Site = atomicAt(31, abi::SyncScope::Device);
  F.Other = atomicAt(40, abi::SyncScope::Block);
  EXPECT_EQ(explain(F),
            "The atomic at line 40 has block scope, and the threads "
            "are in different blocks.");

  std::swap(F.Site, F.Other);
  EXPECT_EQ(explain(F),
            "The atomic at line 40 has block scope, and the threads "
            "are in different blocks.");

  F.Other->Scope = abi::SyncScope::Cluster;
  F.Site->Scope = abi::SyncScope::System;
  EXPECT_EQ(explain(F), "The atomic at line 31 has cluster scope, and the "
                        "threads are in different clusters.");

  F.Site->Scope = abi::SyncScope::Block; // The narrower of the two.
  EXPECT_EQ(explain(F),
            "The atomic at line 40 has block scope, and the threads "
            "are in different blocks.");

  F.Other->Scope = abi::SyncScope::Block;
  EXPECT_EQ(explain(F),
            "The atomic at line 31 and the atomic at line 40 have "
            "block scope, and the threads are in different blocks.");

  F.Other = F.Site;
  EXPECT_EQ(explain(F),
            "The atomic at line 40 has block scope, and the threads "
            "are in different blocks.");

  F.Site->Access = abi::AccessKind::Load;
  F.Site->Flags = abi::IsStrong;
  F.Other = atomicAt(8, abi::SyncScope::Device);
  EXPECT_EQ(explain(F), "The atomic read at line 40 has block scope, and the "
                        "threads are in different blocks.");
  F.Site->Access = abi::AccessKind::Store;
  F.First.After |= OtherGrid;
  EXPECT_EQ(explain(F), "The atomic write at line 40 has block scope, and the "
                        "threads are in different kernels.");

  F.Site.reset();
  EXPECT_EQ(explain(twoSided(AtomicScope)),
            "One of the two accesses has a scope that leaves the other thread "
            "out, and the threads are in different blocks.");
}

TEST(Explanation, NamesTheSideThatIsNotStrong) {
  Finding F = twoSided(NotStrong, EarlierNoSync);
  const std::string Order = "Nothing orders the two: the earlier thread has "
                            "executed no fence, barrier or release since line "
                            "40.";
  F.Other = atomicAt(40, abi::SyncScope::Device);
  EXPECT_EQ(explain(F),
            "The write at line 31 is neither volatile nor atomic. " + Order);
  F.Site = atomicAt(31, abi::SyncScope::Device);
  F.Other = siteAt(40, abi::AccessKind::Load);
  EXPECT_EQ(explain(F),
            "The read at line 40 is neither volatile nor atomic. " + Order);
  F.Other = atomicAt(40, abi::SyncScope::Device);
  EXPECT_EQ(explain(F),
            "Only one of the two accesses is volatile or atomic. " + Order);
}

TEST(Explanation, NamesPlacesAsAReaderWould) {
  Finding F = twoSided(WarpBarrier, SameWarp);
  F.Other = F.Site;
  EXPECT_EQ(explain(F), "No __syncwarp() between the two accesses at line 31; "
                        "lanes of a warp do not run in lockstep.");
  F.Other->Frames[0].File = "include/f.h";
  EXPECT_EQ(explain(F),
            "No __syncwarp() between f.h:31 and k.cu:31; lanes of a "
            "warp do not run in lockstep.");
  F.Other->Frames[0].Line = 0;
  EXPECT_EQ(explain(F), "No __syncwarp() between the earlier access and line "
                        "31; lanes of a warp do not run in lockstep.");
  F.Site.reset();
  F.Other.reset();
  EXPECT_EQ(explain(F),
            "No __syncwarp() between the earlier access and the "
            "later access; lanes of a warp do not run in lockstep.");
  F.First.Kind = InterBlock;
  F.First.After = EarlierFencedBlock;
  EXPECT_EQ(explain(F),
            "The earlier access and the later access are ordered "
            "only by a fence of block scope, but the threads are in "
            "different blocks.");
}

TEST(Explanation, EveryKindAndReasonHasASentence) {
  for (unsigned Kind = 0; Kind <= unsigned(InterKernel); ++Kind)
    for (uint64_t Reasons = 0; Reasons < 1 << 11; ++Reasons)
      EXPECT_TRUE(
          explain(twoSided(abi::RaceKind(Kind), Reasons)).ends_with("."));
}

} // namespace crsan
