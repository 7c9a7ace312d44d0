// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Special registers.

#include "SpecialRegisters.h"
#include "PTX/Printer.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace crsan::lift {

namespace {

/// The intrinsic of a register that stays what it is while a thread runs.
Intrinsic::ID intrinsicOf(StringRef Name) {
#define CRSAN_XYZ(Register)                                                    \
  .Case("%" #Register ".x", Intrinsic::nvvm_read_ptx_sreg_##Register##_x)      \
      .Case("%" #Register ".y", Intrinsic::nvvm_read_ptx_sreg_##Register##_y)  \
      .Case("%" #Register ".z", Intrinsic::nvvm_read_ptx_sreg_##Register##_z)
  return StringSwitch<Intrinsic::ID>(Name) CRSAN_XYZ(tid) CRSAN_XYZ(ntid)
      CRSAN_XYZ(ctaid) CRSAN_XYZ(nctaid) CRSAN_XYZ(clusterid)
          CRSAN_XYZ(nclusterid) CRSAN_XYZ(cluster_ctaid)
              CRSAN_XYZ(cluster_nctaid)
                  .Case("%cluster_ctarank",
                        Intrinsic::nvvm_read_ptx_sreg_cluster_ctarank)
                  .Case("%cluster_nctarank",
                        Intrinsic::nvvm_read_ptx_sreg_cluster_nctarank)
                  .Case("%laneid", Intrinsic::nvvm_read_ptx_sreg_laneid)
                  .Default(Intrinsic::not_intrinsic);
#undef CRSAN_XYZ
}

unsigned bitsOf(StringRef Name) {
  if (Name == "%is_explicit_cluster")
    return 1;
  const bool Is64 = Name.ends_with("64") || Name == "%globaltimer" ||
                    Name == "%gridid" || Name == "%current_graph_exec";
  return Is64 ? 64 : 32;
}

} // namespace

Value *readSpecialRegister(IRBuilder<> &B, const ptx::Operand &Op) {
  if (Op.Text == "WARP_SZ")
    return B.getInt32(32);
  const std::string Name = ptx::print(Op);
  if (const Intrinsic::ID Id = intrinsicOf(Name))
    return B.CreateIntrinsic(Id, {});
  static constexpr StringLiteral Others[] = {"%is_explicit_cluster",
                                             "%warpid",
                                             "%nwarpid",
                                             "%smid",
                                             "%nsmid",
                                             "%gridid",
                                             "%lanemask_eq",
                                             "%lanemask_le",
                                             "%lanemask_lt",
                                             "%lanemask_ge",
                                             "%lanemask_gt",
                                             "%clock",
                                             "%clock_hi",
                                             "%clock64",
                                             "%globaltimer",
                                             "%globaltimer_lo",
                                             "%globaltimer_hi",
                                             "%total_smem_size",
                                             "%aggr_smem_size",
                                             "%dynamic_smem_size",
                                             "%current_graph_exec"};
  const bool IsKnown = is_contained(Others, Name) ||
                       StringRef(Name).starts_with("%envreg") ||
                       StringRef(Name).starts_with("%pm") ||
                       StringRef(Name).starts_with("%reserved_smem");
  if (!IsKnown)
    return nullptr;
  // It may be another one at each read: a warp moves, and time passes.
  const unsigned Bits = bitsOf(Name);
  Type *T = B.getIntNTy(Bits);
  const std::string Text =
      (Bits == 1 ? "mov.pred" : "mov.u" + std::to_string(Bits)) + " $0, " +
      Name + ";";
  auto *Asm = InlineAsm::get(FunctionType::get(T, false), Text,
                             Bits == 1    ? "=b"
                             : Bits == 64 ? "=l"
                                          : "=r",
                             /*hasSideEffects=*/true);
  CallInst *Call = B.CreateCall(Asm);
  Call->setDoesNotThrow();
  return Call;
}

} // namespace crsan::lift
