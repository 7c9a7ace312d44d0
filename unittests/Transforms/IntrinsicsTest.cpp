// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// No intrinsic accesses memory in silence.

#include "llvm/IR/Intrinsics.h"
#include "Sites/Omission.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/LLVMContext.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

using namespace llvm;
using namespace crsan;

namespace {

struct NVVMIntrinsic {
  Intrinsic::ID Id;
  StringRef Name;   ///< All of it.
  StringRef Opcode; ///< Its first word.
  MemoryEffects Effects;
};

/// Those that may access memory that threads share, as LLVM declares them.
std::vector<NVVMIntrinsic> accessingIntrinsics() {
  std::vector<NVVMIntrinsic> All;
  LLVMContext C;
  for (Intrinsic::ID Id = 1; Id < Intrinsic::num_intrinsics; ++Id) {
    StringRef Name = Intrinsic::getBaseName(Id), Rest = Name;
    if (!Rest.consume_front("llvm.nvvm."))
      continue;
    const MemoryEffects Effects =
        Intrinsic::getFnAttributes(C, Id).getMemoryEffects();
    if (!Effects.doesNotAccessMemory() &&
        !Effects.onlyAccessesInaccessibleMem())
      All.push_back({Id, Name, Rest.split('.').first, Effects});
  }
  return All;
}

Skip skipOf(const NVVMIntrinsic &I) {
  return crsan::skipOf(I.Id, I.Name, I.Effects);
}

bool hasWord(const NVVMIntrinsic &I, StringRef Word) {
  SmallVector<StringRef, 12> Words;
  I.Name.split(Words, '.');
  return is_contained(Words, Word);
}

/// Of tcgen05: the others access tensor memory, or none.
static bool accessesShared(const NVVMIntrinsic &I) {
  return is_contained(
      {"mma", "cp", "alloc"},
      StringRef(I.Name).split(".tcgen05.").second.split('.').first);
}

TEST(Intrinsics, OnlyWhatIsKnownToBeHarmlessIsNoAccess) {
  // Intent: what a new LLVM adds counts as an access until somebody says that
  // it is none.
  const std::set<StringRef> Harmless = {
      "applypriority",  "bar",       "barrier", "compiler",  "exit", "fence",
      "griddepcontrol", "mbarrier",  "membar",  "nanosleep", "pm",   "prefetch",
      "prefetchu",      "setmaxnreg"};
  for (const NVVMIntrinsic &I : accessingIntrinsics()) {
    if (Harmless.contains(I.Opcode) || I.Opcode == "atomic") {
      EXPECT_FALSE(isOmission(skipOf(I))) << I.Name.str();
      continue;
    }
    // What orders copies, or brings them into a cache only.
    const bool IsOrder = (I.Opcode == "cp" &&
                          (hasWord(I, "commit") || hasWord(I, "wait") ||
                           hasWord(I, "mbarrier") || hasWord(I, "prefetch"))) ||
                         (I.Opcode == "wgmma" && !hasWord(I, "mma_async")) ||
                         (I.Opcode == "tcgen05" && !accessesShared(I));
    EXPECT_NE(isOmission(skipOf(I)), IsOrder) << I.Name.str();
  }
}

TEST(Intrinsics, EachKindHasItsReason) {
  const std::map<StringRef, Skip> Reasons = {
      {"ldmatrix", Skip::Matrix},
      {"stmatrix", Skip::Matrix},
      {"wmma", Skip::Matrix},
      {"tex", Skip::Texture},
      {"tld4", Skip::Texture},
      {"suld", Skip::Texture},
      {"sust", Skip::Texture},
      {"st", Skip::Copy}, // st.bulk
      {"clusterlaunchcontrol", Skip::Copy},
      {"ldu", Skip::Unsupported},
      {"tensormap", Skip::Unknown},
      {"discard", Skip::Unknown},
      {"atomic", Skip::Strong}};
  std::set<StringRef> Seen;
  for (const NVVMIntrinsic &I : accessingIntrinsics())
    if (const auto It = Reasons.find(I.Opcode); It != Reasons.end()) {
      EXPECT_EQ(int(skipOf(I)), int(It->second)) << I.Name.str();
      Seen.insert(It->first);
    }
  EXPECT_EQ(Seen.size(), Reasons.size());
}

} // namespace
