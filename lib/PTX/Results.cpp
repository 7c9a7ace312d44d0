// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which operands an instruction writes.

#include "PTX/Results.h"
#include "PTX/Classify.h"

#include <unordered_set>

namespace crsan::ptx {

namespace {

/// Opcodes of which no form has a result.
const std::unordered_set<std::string_view> &opcodesWithoutResult() {
  static const auto *Names = new std::unordered_set<std::string_view>{
      "applypriority", "bra",        "brkpt",
      "brx",           "cp",         "discard",
      "exit",          "fence",      "griddepcontrol",
      "membar",        "nanosleep",  "pmevent",
      "prefetch",      "prefetchu",  "red",
      "ret",           "setmaxnreg", "st",
      "stmatrix",      "sured",      "sust",
      "tensormap",     "trap"};
  return *Names;
}

} // namespace

std::optional<unsigned> resultsOf(const Instruction &I) {
  const std::string_view Opcode = I.Opcode;
  if (opcodesWithoutResult().contains(Opcode))
    return 0;
  if (Opcode == "bar" || Opcode == "barrier")
    return I.has("red") ? 1 : 0;
  if (Opcode == "mbarrier") {
    if ((I.has("init") || I.has("inval") || I.has("expect_tx") ||
         I.has("complete_tx")) &&
        !I.has("arrive"))
      return 0;
    // The state is optional.
    return !I.Operands.empty() && I.Operands[0].What == Operand::Kind::Address
               ? 0
               : 1;
  }
  if (Opcode == "wmma")
    return I.has("store") ? 0 : 1;
  if (Opcode == "wgmma")
    return I.has("mma_async") ? 1 : 0;
  if (Opcode == "multimem")
    return I.has("ld_reduce") ? 1 : 0;
  if (Opcode == "clusterlaunchcontrol")
    return I.has("try_cancel") ? 0 : 1;
  if (Opcode == "tcgen05")
    return I.has("ld") ? 1 : 0;
  // Everything else that is known has a result in front.
  return classify(I).What == Category::Unknown ? std::nullopt
                                               : std::optional(1u);
}

bool keepsRegisters(const Instruction &I) {
  return (I.Opcode == "wgmma" && I.has("mma_async")) ||
         (I.Opcode == "tcgen05" && (I.has("ld") || I.has("st")));
}

bool writesCarry(const Instruction &I) { return I.has("cc"); }

bool readsCarry(const Instruction &I) {
  return I.Opcode == "addc" || I.Opcode == "subc" || I.Opcode == "madc";
}

} // namespace crsan::ptx
