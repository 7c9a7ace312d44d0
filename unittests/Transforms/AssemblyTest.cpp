// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The events of inline PTX.

#include "Events/Event.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Module.h"

#include <gtest/gtest.h>

using namespace llvm;

namespace crsan {
namespace {

/// What a statement does whose operands are a 32-bit result and two 64-bit
/// integers.
class Statement {
public:
  explicit Statement(StringRef Text) : M("test", Context) {
    Type *I32 = Type::getInt32Ty(Context), *I64 = Type::getInt64Ty(Context);
    auto *F = Function::Create(FunctionType::get(I32, {I64, I64}, false),
                               Function::ExternalLinkage, "f", M);
    IRBuilder<> B(BasicBlock::Create(Context, "", F));
    Inst =
        B.CreateCall(InlineAsm::get(FunctionType::get(I32, {I64, I64}, false),
                                    Text, "=r,l,l,~{memory}",
                                    /*hasSideEffects=*/true),
                     {F->getArg(0), F->getArg(1)});
    B.CreateRet(Inst);
    All = eventsOf(*Inst);
  }
  Events All;
  CallInst *Inst;

private:
  LLVMContext Context;
  Module M;
};

// Intent: a window of the collider goes on only across straight code without
// order.
TEST(Assembly, Windows) {
  for (const char *Text :
       {"", "// nothing",
        "{ .reg .u32 t; mov.u32 t, %tid.x; add.u32 $0, t, 1; }",
        "ld.global.u32 $0, [$1]; st.local.u32 [$2], $0;",
        ".pragma \"nounroll\";"})
    EXPECT_TRUE(keepsWindow(Statement(Text).All)) << Text;
  for (const char *Text :
       {"mov.u32 $0, 1; { bar.sync 0; }", "L: add.u32 $0, $0, 1;",
        "ld.acquire.gpu.u32 $0, [$1];", "this is not PTX", "@p trap;",
        "cp.async.wait_all;", "new.instruction $0;", "fence.proxy.async;",
        "activemask.b32 $0;", "@p bra L; L:"})
    EXPECT_FALSE(keepsWindow(Statement(Text).All)) << Text;
}

// Intent: the collider counts what it does not look at.
TEST(Assembly, WhatTheColliderLeavesOut) {
  struct {
    const char *Text;
    Skip Why;
  } Statements[] = {
      {"{ .reg .u64 a; add.u64 a, $1, 4; ld.global.u32 $0, [a]; }",
       Skip::Assembly},
      {"ld.global.u32 $0, [$1]; fence.acq_rel.gpu;", Skip::Assembly},
      {"fence.acq_rel.gpu; st.u32 [$1], 1;", Skip::Assembly},
      {"@p cp.async.ca.shared.global [$1], [$2], 16;", Skip::Copy},
      {"cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group "
       "[$1, {1, 2, 3}], [$2];",
       Skip::Copy},
      {"cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4."
       "mbarrier::complete_tx::bytes [$1], [$2, {0, 1, 2, 3, 4}], [$1];",
       Skip::Copy},
      {"cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::"
       "bytes.cta_group::2 [$1], [$2, {1}], [$1];",
       Skip::Copy},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0}, $1, $2, 1, 1, "
       "1, 0, 0;",
       Skip::Copy},
      {"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {$0, $0}, [$1];",
       Skip::Matrix},
      {"1 not PTX", Skip::Unknown},
      {"new.instruction;", Skip::Unknown},
      {"", Skip::None},
      {"bar.sync 0;", Skip::None},
      {"ld.acquire.gpu.u32 $0, [$1]; mov.u32 $0, 1;", Skip::None},
      {"ld.param.u32 $0, [p];", Skip::None},
      {"shfl.sync.idx.b32 $0, $0, 0, 31, -1;", Skip::None}};
  for (const auto &[Text, Why] : Statements) {
    const Statement S(Text);
    EXPECT_EQ(int(S.All.ByCollider), int(Why)) << Text;
    EXPECT_TRUE(checkedByCollider(*S.Inst, S.All).empty()) << Text;
  }
}

// Intent: the collider looks at all accesses of a statement that only accesses.
TEST(Assembly, WhatTheColliderChecks) {
  struct {
    const char *Text;
    unsigned Accesses;
  } Statements[] = {
      {"ld.global.u32 $0, [$1];", 1},
      {"ld.global.u32 $0, [$1]; st.global.u32 [$2], $0;", 2},
      {"ld.global.b32 { $0 }, [ $1 + 0 ];", 1},
      {"{ .reg .pred p; setp.ne.u64 p, $2, 0; @p st.u32 [$1], 1; }", 1},
      {"cp.async.ca.shared.global [$1], [$2], 16;", 2},
      {"cp.async.bulk.global.shared::cta.bulk_group [$1], [$2], 16;", 2},
      {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
       "[$1], "
       "[$2], 16, [$1];",
       2},
      {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [$1], [$2], "
       "16;",
       1}, // The update is atomic.
      {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [$1], "
       "$0, "
       "[$2];",
       1},
      {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {$0}, [$1];", 1},
      {"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {$0}, [$1], $2;", 1}};
  for (const auto &[Text, Accesses] : Statements) {
    const Statement S(Text);
    EXPECT_EQ(int(S.All.ByCollider), int(Skip::None)) << Text;
    EXPECT_EQ(checkedByCollider(*S.Inst, S.All).size(), Accesses) << Text;
  }
}

// Intent: each kind of statement is the event that its name says.
TEST(Assembly, Kinds) {
  EXPECT_TRUE(isWeak(Statement("ld.global.u32 $0, [$1];").All.List[0]));
  EXPECT_TRUE(isStrong(Statement("ld.relaxed.gpu.u32 $0, [$1];").All.List[0]));
  EXPECT_TRUE(Statement("fence.acq_rel.gpu;").All.has<Fence>());
  EXPECT_TRUE(Statement("bar.warp.sync -1;").All.has<WarpBarrier>());
  EXPECT_TRUE(Statement("barrier.sync 0;").All.has<BlockBarrier>());
  EXPECT_TRUE(Statement("bar.arrive 1, 64;").All.has<Arrive>());
  EXPECT_TRUE(Statement("barrier.cluster.wait;").All.has<Wait>());
  EXPECT_TRUE(Statement("cp.async.commit_group;").All.has<CommitCopies>());
  EXPECT_TRUE(Statement("cp.async.wait_group 1;").All.has<AwaitCopies>());
  EXPECT_TRUE(Statement("exit;").All.has<Leave>());
  EXPECT_TRUE(Statement("activemask.b32 $0;").All.has<Collective>());
  EXPECT_TRUE(Statement("griddepcontrol.wait;").All.has<Unknown>());
  const Statement Copied("cp.async.ca.shared.global [$1], [$2], 16;");
  ASSERT_EQ(Copied.All.List.size(), 2u);
  const auto *To = std::get_if<AsyncAccess>(&Copied.All.List[0]);
  const auto *From = std::get_if<AsyncAccess>(&Copied.All.List[1]);
  ASSERT_TRUE(To && From);
  EXPECT_TRUE(To->What.writes() && !From->What.writes());
  EXPECT_EQ(To->By, Completion::Group);
  // Its coordinate is a result of the statement.
  const Statement Tensor(
      "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group "
      "[$1, {$0}], [$2];");
  EXPECT_TRUE(Tensor.All.has<ProxyFence>());
  EXPECT_FALSE(Tensor.All.has<AsyncAccess>());
}

// Intent: how a copy completes, and what its thread waits for.
TEST(Assembly, Completions) {
  const Statement Load(
      "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::"
      "bytes [$1], [$2], 32, [$1+64];");
  const auto *To = std::get_if<AsyncAccess>(&Load.All.List[0]);
  ASSERT_TRUE(To);
  EXPECT_EQ(To->By, Completion::Barrier);
  EXPECT_EQ(To->Barrier.Offset, 64);
  EXPECT_EQ(To->What.Size, 32u);
  const Statement Store(
      "cp.async.bulk.global.shared::cta.bulk_group [$1], [$2], 16;");
  const auto *From = std::get_if<AsyncAccess>(&Store.All.List[1]);
  ASSERT_TRUE(From);
  EXPECT_EQ(From->By, Completion::BulkGroup);
  EXPECT_EQ(From->What.Where.Space, unsigned(NVPTXAS::ADDRESS_SPACE_SHARED));
  const Statement Wait("cp.async.bulk.wait_group.read 1;");
  const auto *Awaited = std::get_if<AwaitCopies>(&Wait.All.List[0]);
  ASSERT_TRUE(Awaited);
  EXPECT_EQ(Awaited->By, Completion::BulkGroup);
  EXPECT_TRUE(Awaited->OnlyReads);
}

// Intent: which side of a tensor copy is in shared memory, and what a multicast
// copy says of the blocks that it writes.
TEST(Assembly, TensorCopies) {
  const Statement Load(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::"
      "complete_tx::bytes.multicast::cluster.L2::cache_hint [$1], "
      "[$2, {-4, $1}], [$1+8], 3, $2;");
  ASSERT_EQ(Load.All.List.size(), 2u);
  const auto *To = std::get_if<AsyncAccess>(&Load.All.List[0]);
  const auto *From = std::get_if<AsyncAccess>(&Load.All.List[1]);
  ASSERT_TRUE(To && From && To->What.Box && From->What.Box);
  EXPECT_TRUE(To->What.writes() && To->What.Box->InShared);
  EXPECT_EQ(To->What.Box->Coordinates.size(), 2u);
  EXPECT_EQ(To->What.Box->Map.Base, Load.Inst->getArgOperand(1));
  EXPECT_EQ(To->Barrier.Offset, 8);
  EXPECT_TRUE(To->What.Blocks && !From->What.Blocks && From->IsForMany);
  EXPECT_FALSE(From->What.Box->InShared || To->What.isWhole());
  EXPECT_EQ(int(Load.All.ByCollider), int(Skip::Copy));
  EXPECT_EQ(int(Load.All.Unlisted), int(Skip::None));
  EXPECT_EQ(checkedByCollider(*Load.Inst, Load.All).size(), 1u);
  const Statement Add("cp.reduce.async.bulk.tensor.1d.global.shared::cta.add."
                      "bulk_group [$1, {$2}], [$2];");
  const auto *Update = std::get_if<AsyncAccess>(&Add.All.List[0]);
  ASSERT_TRUE(Update && Update->What.Box);
  EXPECT_TRUE(Update->What.isStrong() && !Update->What.Box->InShared);
  const Statement Many(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [$1], [$2], 16, [$1], $0;");
  EXPECT_FALSE(Many.All.has<AsyncAccess>()) << "the mask is a result";
}

// Intent: accesses of 256 bits, as sm_100 has them, are followed as a whole,
// and so are loads past the L1 cache's coherence.
TEST(Assembly, WideAccesses) {
  struct {
    const char *Text;
    unsigned Bytes;
  } Cases[] = {
      {"ld.global.v8.b32 {$0, $0, $0, $0, $0, $0, $0, $0}, [$1];", 32},
      {"ld.global.nc.v4.b64 {$0, $0, $0, $0}, [$1];", 32},
      {"st.global.v4.b64 [$1], {$2, $2, $2, $2};", 32},
      {"st.global.v8.f32 [$1], {$0, $0, $0, $0, $0, $0, $0, $0};", 32},
      {"ld.global.nc.L1::no_allocate.v4.u32 {$0, $0, $0, $0}, [$1];", 16}};
  for (const auto &[Text, Bytes] : Cases) {
    const Statement S(Text);
    ASSERT_EQ(S.All.List.size(), 1u) << Text;
    ASSERT_TRUE(isWeak(S.All.List[0])) << Text;
    EXPECT_EQ(asAccess(S.All.List[0])->Size, Bytes) << Text;
    EXPECT_EQ(checkedByCollider(*S.Inst, S.All).size(), 1u) << Text;
  }
}

// Intent: the operands of a matrix product that lie in shared memory, and what
// ends their reading.
TEST(Assembly, Products) {
  struct {
    const char *Text;
    std::vector<uint32_t> Shapes; ///< None: the product is not followed.
  } Cases[] = {
      {"wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {$0}, $1, $2, 1, 1, "
       "1, 0, 1;",
       {64, 16 | abi::ByColumns}},
      {"{ .reg .pred p; setp.ne.b32 p, $0, 0; wgmma.mma_async.sync.aligned."
       "m64n256k16.f32.bf16.bf16 {$0}, $1, $2, p, 1, 1, 1, 0; }",
       {64 | abi::ByColumns, 256}},
      // The first operand is in registers.
      {"wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {$0}, {$0, $0, $0, "
       "$0}, $2, 1, 1, 1, 1;",
       {8 | abi::ByColumns}},
      {"wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {$0}, $1, $2, 1, 1, "
       "1;",
       {64, 8}},
      {"wgmma.mma_async.sync.aligned.m64n96k32.f16.e4m3.e5m2 {$0}, $1, $2, 1, "
       "1, 1;",
       {64, 96}},
      // Integers are neither negated nor transposed.
      {"wgmma.mma_async.sync.aligned.m64n24k32.s32.s8.u8.satfinite {$0}, $1, "
       "$2, 1;",
       {64, 24}},
      {"wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {$0}, $1, "
       "$2, 1;",
       {64, 8}},
      // Half of a sparse operand is somewhere else.
      {"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {$0}, $1, $2, $0, "
       "0, 1, 1, 1, 0, 0;",
       {}},
      // What is computed, or may be skipped, or comes too late.
      {"{ .reg .b64 d; add.u64 d, $1, 2; wgmma.mma_async.sync.aligned.m64n8k8."
       "f32.tf32.tf32 {$0}, d, $2, 1, 1, 1; }",
       {}},
      {"@p wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {$0}, $1, $2, 1, "
       "1, 1;",
       {}},
      {"bar.sync 0; wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {$0}, "
       "$1, $2, 1, 1, 1;",
       {}}};
  for (const auto &[Text, Shapes] : Cases) {
    const Statement S(Text);
    std::vector<uint32_t> Found;
    for (const Event &E : S.All.List)
      if (const auto *Operand = std::get_if<OperandRead>(&E)) {
        Found.push_back(Operand->Shape);
        EXPECT_EQ(Operand->What.Size, 32 * (Operand->Shape & abi::RowsMask));
        EXPECT_EQ(Operand->What.Where.Base,
                  S.Inst->getArgOperand(
                      Shapes.size() == 2 && Found.size() == 1 ? 0 : 1));
      }
    EXPECT_EQ(Found, Shapes) << Text;
    EXPECT_EQ(int(S.All.Unlisted),
              int(Shapes.empty() ? Skip::Copy : Skip::None))
        << Text;
    EXPECT_EQ(int(S.All.ByCollider), int(Skip::Copy)) << Text;
    EXPECT_FALSE(keepsWindow(S.All)) << Text;
  }
  const Statement Commit("wgmma.commit_group.sync.aligned;");
  const auto *Committed = std::get_if<CommitCopies>(&Commit.All.List[0]);
  ASSERT_TRUE(Committed);
  EXPECT_EQ(Committed->By, Completion::Product);
  const Statement Wait("wgmma.wait_group.sync.aligned 1;");
  const auto *Awaited = std::get_if<AwaitCopies>(&Wait.All.List.back());
  ASSERT_TRUE(Awaited && Awaited->Number);
  EXPECT_EQ(Awaited->By, Completion::Product);
  EXPECT_TRUE(Wait.All.has<ProxyFence>());
  EXPECT_TRUE(Statement("wgmma.fence.sync.aligned;").All.has<Opaque>());
}

// Intent: tensor memory is no memory that is followed; what of tcgen05 accesses
// shared memory is counted, and an arrival is an arrival.
TEST(Assembly, TensorMemory) {
  for (const char *Text :
       {"tcgen05.ld.sync.aligned.32x32b.x1.b32 {$0}, [$1];",
        "tcgen05.st.sync.aligned.32x32b.x1.b32 [$1], {$0};",
        "tcgen05.wait::ld.sync.aligned;",
        "tcgen05.shift.cta_group::1.down [$1];",
        "tcgen05.fence::before_thread_sync;",
        "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;",
        "tcgen05.dealloc.cta_group::1.sync.aligned.b32 $0, 32;"}) {
    const Statement S(Text);
    EXPECT_EQ(int(S.All.Unlisted), int(Skip::None)) << Text;
    EXPECT_EQ(int(S.All.ByCollider), int(Skip::None)) << Text;
    EXPECT_FALSE(S.All.has<Unknown>()) << Text;
  }
  for (const char *Text :
       {"tcgen05.cp.cta_group::1.128x256b [$1], $2;",
        "tcgen05.mma.cta_group::1.kind::f16 [$1], $2, $2, $0, p;",
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [$1], 32;"}) {
    const Statement S(Text);
    EXPECT_EQ(int(S.All.Unlisted), int(Skip::Copy)) << Text;
    EXPECT_EQ(int(S.All.ByCollider), int(Skip::Copy)) << Text;
    EXPECT_TRUE((S.All.has<Opaque, ProxyFence>())) << Text;
  }
  const Statement Commit("tcgen05.commit.cta_group::1.mbarrier::arrive::one."
                         "shared::cluster.b64 [$1];");
  const auto *Arrival = std::get_if<Arrive>(&Commit.All.List.back());
  ASSERT_TRUE(Arrival);
  EXPECT_EQ(Arrival->Where.Base, Commit.Inst->getArgOperand(0));
  EXPECT_EQ(Arrival->Scope, abi::Scope::Cluster);
}

// Intent: the rows of a matrix, and which lanes they belong to.
TEST(Assembly, Matrices) {
  const Statement Load(
      "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {$0, $0}, [$1];");
  const Access *Rows = asAccess(Load.All.List[0]);
  ASSERT_TRUE(Rows);
  EXPECT_EQ(Rows->Rows.Lanes, 16u);
  EXPECT_EQ(Rows->Size, 16u);
  EXPECT_FALSE(Rows->isWhole());
  EXPECT_EQ(Rows->Roles, uint32_t(abi::TransposedRow));
  const Statement Store(
      "wmma.store.d.sync.aligned.col.m32n8k16.global.f32 [$1], {$0}, $2;");
  const Access *Columns = asAccess(Store.All.List[0]);
  ASSERT_TRUE(Columns);
  EXPECT_TRUE(Columns->writes());
  EXPECT_EQ(Columns->Rows.Lanes, 8u);
  EXPECT_EQ(Columns->Rows.Scale, 4u);
  EXPECT_EQ(Columns->Size, 32u * 4);
}

// Intent: what ptxas may take for a poll, and what is one.
TEST(Assembly, Polls) {
  for (const char *Text :
       {"ld.volatile.global.u32 $0, [$1];", "ld.global.cg.u32 $0, [$1];",
        "atom.global.add.u32 $0, [$1], 1;", "red.global.add.u32 [$1], 1;",
        "{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [$1], $2; }"})
    EXPECT_TRUE(mayPoll(Statement(Text).All)) << Text;
  for (const char *Text :
       {"ld.global.u32 $0, [$1];", "st.volatile.global.u32 [$1], 1;",
        "fence.acq_rel.gpu;", "bar.sync 0;", "barrier.cluster.wait;"})
    EXPECT_FALSE(mayPoll(Statement(Text).All)) << Text;
  const Statement Loop("{ .reg .pred p; L: ld.acquire.gpu.u32 $0, [$1]; "
                       "setp.eq.u32 p, $0, 0; @p bra L; }");
  EXPECT_TRUE(mayPoll(Loop.All));
  EXPECT_TRUE(Loop.All.Branches);
  EXPECT_TRUE(mayWait(*Loop.Inst));
  EXPECT_FALSE(mayWait(*Statement("mov.u32 $0, 1;").Inst));
}

} // namespace
} // namespace crsan
