// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a report calls things.
#include "Report/Words.h"
#include "TwoSided.h"

#include <gtest/gtest.h>

#include <set>

// Not `using`: GoogleTest brings another `abi` into the global namespace.
namespace crsan {

using abi::AccessKind;
using abi::Scope;

static std::string words(AccessKind Access, uint8_t Flags, Scope Scope) {
  SiteInfo Site;
  Site.Access = Access;
  Site.Flags = Flags;
  Site.Scope = Scope;
  return accessWords(&Site);
}

TEST(Words, NamesWeakAccesses) {
  EXPECT_EQ(words(AccessKind::Load, 0, Scope::Block), "read");
  EXPECT_EQ(words(AccessKind::Store, 0, Scope::Block), "write");
  EXPECT_EQ(words(AccessKind::Update, 0, Scope::Block), "read-modify-write");
  EXPECT_EQ(accessWords(nullptr), "access");
}

TEST(Words, NamesAtomicUpdatesWithScopesThatMatter) {
  const uint8_t Flags = abi::IsStrong | abi::IsAtomic;
  EXPECT_EQ(words(AccessKind::Update, Flags, Scope::Block),
            "block-scope atomic update");
  EXPECT_EQ(words(AccessKind::Update, Flags, Scope::Cluster),
            "cluster-scope atomic update");
  EXPECT_EQ(words(AccessKind::Update, Flags, Scope::Device), "atomic update");
  EXPECT_EQ(words(AccessKind::Update, Flags, Scope::System), "atomic update");
}

TEST(Words, OnlyAccessesOfSystemScopeMayBeVolatile) {
  EXPECT_EQ(words(AccessKind::Load, abi::IsStrong, Scope::System),
            "volatile or atomic read");
  EXPECT_EQ(words(AccessKind::Store, abi::IsStrong, Scope::System),
            "volatile or atomic write");
  EXPECT_EQ(words(AccessKind::Load, abi::IsStrong, Scope::Device),
            "atomic read");
  EXPECT_EQ(words(AccessKind::Store, abi::IsStrong, Scope::Block),
            "block-scope atomic write");
}

TEST(Words, KindsHaveWordsOfTheirOwn) {
  std::set<std::string> Names, Keys;
  std::vector<abi::RaceKind> Kinds = {KernelFault};
  for (unsigned Kind = 1; Kind <= unsigned(abi::RaceKind::ProxyFence); ++Kind)
    Kinds.push_back(abi::RaceKind(Kind));
  EXPECT_EQ(Kinds.size(), allKindWords().size());
  for (const abi::RaceKind Kind : Kinds) {
    const KindWords &W = wordsOf(Kind);
    EXPECT_EQ(W.Kind, Kind);
    EXPECT_TRUE(Names.insert(W.Name).second);
    EXPECT_TRUE(Keys.insert(W.Key).second);
  }
  EXPECT_EQ(wordsOf(abi::RaceKind::None).Kind, abi::RaceKind::None);
  EXPECT_EQ(wordsOf(abi::RaceKind(99)).Kind, abi::RaceKind::None);
}

TEST(Words, StrongAccessesOfWhichAllIsKnown) {
  SiteInfo Site = atomicAt(1, Scope::Device);
  Site.Order = abi::MemoryOrder::Relaxed;
  EXPECT_EQ(accessWords(&Site), "device-scope relaxed atomic update");
  Site.Access = AccessKind::Load;
  Site.Flags = abi::IsStrong;
  Site.Order = abi::MemoryOrder::Acquire;
  Site.Scope = Scope::Block;
  EXPECT_EQ(accessWords(&Site), "block-scope acquire read");
  Site.IsVolatile = true;
  EXPECT_EQ(accessWords(&Site), "volatile read");
}

TEST(Words, KindsHaveTheCodesOfIGuard) {
  std::string Codes;
  for (const KindWords &W : allKindWords())
    Codes += std::string(W.Code) + ",";
  EXPECT_EQ(Codes, ",,,,,IL,AS,ITS,BR,DR,,,,,,,,");
}

TEST(Words, TheHostHasNoThread) {
  Finding F = twoSided(abi::RaceKind::HostAccess);
  F.Site->IsHost = true;
  EXPECT_EQ(sideWords(F, Side::Later, "src/"),
            "write of 4 bytes at k.cu:31:5 by the host");
  EXPECT_EQ(sideWords(F, Side::Earlier, ""),
            "earlier read of 4 bytes at src/k.cu:40:5 by block 0 thread 3");
  F.First.Kind = abi::RaceKind::LostUpdate;
  F.First.Flags = 0;
  EXPECT_EQ(heading(F), "lost update by the host of 4 bytes in global memory");
  EXPECT_EQ(firstSeenWords(F).find("block"), std::string::npos);
}

TEST(Words, ASideNamesWhatWhereAndWho) {
  Finding F = twoSided(abi::RaceKind::InterBlock);
  EXPECT_EQ(sideWords(F, Side::Later, "src/"),
            "write of 4 bytes at k.cu:31:5 by block (1,0,0) thread (2,1,0)");
  EXPECT_EQ(sideWords(F, Side::Earlier, ""),
            "earlier read of 4 bytes at src/k.cu:40:5 by block 0 thread 3");
}

/// Who the earlier side's sentence says that it was.
static std::string earlier(const Finding &F) {
  const std::string Text = sideWords(F, Side::Earlier, "");
  return Text.substr(Text.find(" by ") + 4);
}

TEST(Words, TheEarlierThreadIsNamedAsFarAsKnown) {
  Finding F = twoSided(abi::RaceKind::InterBlock);
  F.First.Before = abi::earlierThread(7, 37);
  EXPECT_EQ(earlier(F), "block 7 thread 37");
  F.Grid = {3, 2, 2};
  EXPECT_EQ(earlier(F), "block (1,0,1) thread 37");
  F.BlockShape = {8, 4, 2};
  EXPECT_EQ(earlier(F), "block (1,0,1) thread (5,0,1)");
  F.Grid = {};
  EXPECT_EQ(earlier(F), "block 7 thread (5,0,1)");
  F.First.Before = abi::earlierThread(abi::UnknownBlock, 37);
  EXPECT_EQ(earlier(F), "a block that is no longer known, thread (5,0,1)");
}

TEST(Words, WhatDoesNotFitTheGridIsNotConverted) {
  Finding F = twoSided(abi::RaceKind::InterBlock);
  F.First.Before = abi::earlierThread(12, 64);
  F.Grid = {3, 2, 2};
  F.BlockShape = {8, 4, 2};
  EXPECT_EQ(earlier(F), "block 12 thread 64");
}

TEST(Words, TheSameBlockNeedsNoExtent) {
  Finding F = twoSided(abi::RaceKind::WarpBarrier, abi::SameWarp);
  F.First.Before = abi::earlierThread(abi::UnknownBlock, 3);
  EXPECT_EQ(earlier(F), "block (1,0,0) thread 3");
}

TEST(Words, AnotherGridHasAnotherExtent) {
  Finding F = twoSided(abi::RaceKind::InterKernel);
  F.First.Before = abi::earlierThread(7, 37);
  F.Grid = {3, 2, 2};
  F.BlockShape = {8, 4, 2};
  EXPECT_EQ(earlier(F), "block 7 thread 37 of another kernel");
}

TEST(Words, OneOfSeveralReadersIsSaidToBe) {
  Finding F = twoSided(abi::RaceKind::InterBlock, abi::SeveralReaders);
  EXPECT_EQ(earlier(F), "block 0 thread 3 (one of several reads)");
}

TEST(Words, SizesAreThoseOfEachSide) {
  Finding F = twoSided(abi::RaceKind::InterBlock);
  F.Site->Size = F.Other->Size = 0;
  F.First.Size = 255;
  EXPECT_EQ(sideWords(F, Side::Later, "src/"),
            "write of 255 bytes or more at k.cu:31:5 by block (1,0,0) thread "
            "(2,1,0)");
  EXPECT_EQ(sideWords(F, Side::Earlier, "src/"),
            "earlier read at k.cu:40:5 by block 0 thread 3");
  F.Other->Flags = abi::WritesMemory | abi::IsCopy;
  F.Other->Access = AccessKind::Store;
  F.Other->Size = 16;
  EXPECT_EQ(sideWords(F, Side::Earlier, "src/"),
            "earlier asynchronous copy of 16 bytes at k.cu:40:5 by block 0 "
            "thread 3");
}

TEST(Words, HeadersOfToolkitsAreNamedInStacksOnly) {
  Finding F = twoSided(abi::RaceKind::NotStrong);
  const SourceFrame User = F.Site->Frames[0];
  const SourceFrame Clang = {"__iAtomicAdd",
                             "/usr/lib/llvm-22/lib/clang/22/include/"
                             "__clang_cuda_device_functions.h",
                             341, 10};
  const SourceFrame Cuda = {"atomicAdd",
                            "/usr/local/cuda-13.0/include/"
                            "device_atomic_functions.hpp",
                            107, 10};
  F.Site->Frames = {Clang, Cuda, User};
  EXPECT_EQ(sideWords(F, Side::Later, "src/"),
            "write of 4 bytes at k.cu:31:5 by block (1,0,0) thread (2,1,0)");
  // Where no other is known, it has to do.
  F.Site->Frames = {Cuda};
  EXPECT_EQ(&frameToName(F.Site->Frames), &F.Site->Frames[0]);
}

TEST(Words, BarriersAreNoAccesses) {
  Finding F = twoSided(abi::RaceKind::BarrierDivergence, abi::SameBlock);
  F.Site->Access = F.Other->Access = AccessKind::Barrier;
  F.Site->Size = F.Other->Size = F.First.Size = 0;
  EXPECT_EQ(heading(F), "barrier divergence: threads of a block wait at "
                        "different barriers");
  F.First.After |= abi::OtherIteration;
  EXPECT_EQ(heading(F), "barrier divergence: threads of a block wait at one "
                        "barrier in different iterations");
  EXPECT_EQ(sideWords(F, Side::Later, "src/"),
            "barrier at k.cu:31:5 by block (1,0,0) thread (2,1,0)");
  EXPECT_EQ(sideWords(F, Side::Earlier, "src/"),
            "other barrier at k.cu:40:5 by block (1,0,0) thread 3");
  EXPECT_EQ(firstSeenWords(F), "block (1,0,0)");
}

} // namespace crsan
