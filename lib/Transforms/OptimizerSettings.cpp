// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What LLVM's optimizer must not do, and its code generator need not.

#include "OptimizerSettings.h"
#include "llvm/Support/CommandLine.h"

using namespace llvm;

namespace crsan {

/// Whether LLVM has the option and accepts the value.
static bool setOption(StringRef Name, StringRef Value) {
  auto &All = cl::getRegisteredOptions();
  auto It = All.find(Name);
  if (It == All.end())
    return false;
  // The user may have given the option once, and a second time is an error.
  It->second->reset();
  return !It->second->addOccurrence(0, Name, Value);
}

static constexpr StringLiteral NoPromotion = "disable-licm-promotion";

PromotionInLoops::PromotionInLoops() { setOption(NoPromotion, "false"); }
PromotionInLoops::~PromotionInLoops() { setOption(NoPromotion, "true"); }

void adjustOptimizer(LLVMContext &C, bool IsHostCode) {
  struct Setting {
    StringLiteral Name, Value;
    bool IsForHost = true;
  };
  static constexpr Setting Settings[] = {
      // Where two accesses become one although their lines are marked
      // (Sites/LineMarks.h), LLVM by default gives the result no line, so that
      // profiles stay correct. A finding needs a line: it gets that of one of
      // the two.
      {"pick-merged-source-locations", "true"},
      // This optimization moves a load from a loop's header to a place that is
      // reached without the header, and keeps the load's mark.
      {"enable-load-in-loop-pre", "false"},
      // This optimization replaces the loads of a loop by one load without a
      // mark before the loop, which also lanes execute that only read what they
      // stored. Of host code, the race of the store behind the loop is found.
      {NoPromotion, "true", /*IsForHost=*/false},
      // This optimization loads several elements at a time in a loop that may
      // end at any of them, and keeps the load's mark.
      {"enable-early-exit-vectorization", "false", /*IsForHost=*/false},
      // This optimization takes a load of a vector apart, and drops the load's
      // mark.
      {"disable-vector-combine", "true", /*IsForHost=*/false},
  };
  for (const auto &[Name, Value, IsForHost] : Settings)
    if ((IsForHost || !IsHostCode) && !setOption(Name, Value))
      C.emitError("CRSan: this LLVM does not accept -" + Name + "=" + Value +
                  ", without which races are missed; compile with clang " +
                  LLVM_VERSION_STRING + ", for which CRSan was built");
}

void hastenCodeGenerator() {
  // From how many blocks on the code generator prepares anew only those that it
  // has changed. Below, it prepares all of them until nothing changes.
  setOption("cgpp-huge-func", "1");
}

} // namespace crsan
