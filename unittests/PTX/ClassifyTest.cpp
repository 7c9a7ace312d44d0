// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PTX/Classify.h"
#include "PTX/Parser.h"
#include "gtest/gtest.h"

using namespace crsan::ptx;

namespace {

InstructionClass classOf(std::string_view Text) {
  auto Result = parseInline(std::string(Text));
  const auto *I = std::get_if<InlineBody>(&Result);
  if (!I || I->Body.Statements.size() != 1) {
    ADD_FAILURE() << Text;
    return {};
  }
  InstructionClass C = classify(std::get<Instruction>(I->Body.Statements[0]));
  C.Address = C.Object = nullptr; // The tree goes.
  return C;
}

void expectAll(Category What, std::initializer_list<const char *> Texts) {
  for (const char *Text : Texts)
    EXPECT_EQ(int(classOf(Text).What), int(What)) << Text;
}

} // namespace

TEST(PTXClassify, Harmless) {
  expectAll(Category::Harmless,
            {"mov.u32 $0, %laneid", "mov.u64 $0, %globaltimer",
             "add.cc.u32 $0, $1, $2", "cvta.to.shared.u64 $0, $1",
             "isspacep.global p, $0", "prefetch.global.L2 [$0]",
             "mapa.shared::cluster.u32 $0, $1, $2", "nanosleep.u32 $0",
             "cvt.rn.f16.f32 $0, $1", "@p lop3.b32 $0, $1, $2, $3, 0xE8",
             "vabsdiff4.u32.u32.u32.add $0, $1, $2, $3"});
}

TEST(PTXClassify, WeakAccesses) {
  expectAll(Category::WeakAccess,
            {"ld.global.u32 $0, [$1]",
             "ld.global.nc.L1::no_allocate.v4.f32 "
             "{$0,$1,$2,$3}, [$4]",
             "st.shared.b8 [$0], $1", "ld.weak.u32 $0, [$1]",
             "st.global.cs.u32 [$0], $1", "ldu.global.u32 $0, [$1]"});
  const InstructionClass Load = classOf("ld.shared::cta.v2.u64 {a, b}, [$0+8]");
  EXPECT_TRUE(Load.reads());
  EXPECT_FALSE(Load.writes());
  EXPECT_EQ(Load.Space, StateSpace::Shared);
  EXPECT_EQ(Load.Type, ScalarType::U64);
  EXPECT_EQ(Load.Size, 16u);
  const InstructionClass Store = classOf("st.f32 [$0], $1");
  EXPECT_TRUE(Store.writes());
  EXPECT_EQ(Store.Space, StateSpace::Generic);
  EXPECT_EQ(Store.Size, 4u);
}

TEST(PTXClassify, AddressOfAnAccess) {
  auto Result = parseInline("ld.u32 $0, [$1+4]");
  const Block &B = std::get<InlineBody>(Result).Body;
  const InstructionClass C = classify(std::get<Instruction>(B.Statements[0]));
  ASSERT_TRUE(C.Address);
  EXPECT_EQ(C.Address->Elements[0].Text, "$1");
  EXPECT_EQ(C.Address->Bits, 4u);
}

TEST(PTXClassify, StrongAccesses) {
  expectAll(Category::StrongAccess,
            {"ld.volatile.global.u32 $0, [$1]", "ld.acquire.gpu.u32 $0, [$1]",
             "st.release.sys.global.u32 [$0], $1", "ld.relaxed.cta.u32 $0,[$1]",
             "st.mmio.relaxed.sys.global.u32 [$0], $1",
             "atom.add.u32 $0, [$1], $2", "red.global.add.f32 [$0], $1"});
}

TEST(PTXClassify, Synchronisation) {
  expectAll(Category::Synchronisation,
            {"bar.sync 0", "bar.warp.sync -1", "barrier.cluster.arrive",
             "barrier.sync.aligned 1, 64", "fence.acq_rel.gpu", "membar.gl",
             "fence.proxy.async", "mbarrier.try_wait.b64 p, [$0], $1",
             "cp.async.wait_group 0", "cp.async.wait_all",
             "cp.async.commit_group", "cp.async.bulk.wait_group.read 0",
             "cp.async.mbarrier.arrive.shared::cta.b64 [$0]",
             "griddepcontrol.wait", "wgmma.fence.sync.aligned",
             "wgmma.wait_group.sync.aligned 0",
             "tcgen05.fence::before_thread_sync"});
}

TEST(PTXClassify, OrderAndScopeOfAnAccess) {
  using crsan::abi::MemoryOrder;
  using crsan::abi::Scope;
  struct {
    const char *Text;
    MemoryOrder Order;
    Scope Scope;
    bool IsAtomic = false, IsSwap = false;
  } Cases[] = {
      {"ld.volatile.u32 $0, [$1]", MemoryOrder::Relaxed, Scope::System},
      {"ld.acquire.cta.u32 $0, [$1]", MemoryOrder::Acquire, Scope::Block},
      {"st.release.cluster.u32 [$0], 1", MemoryOrder::Release, Scope::Cluster},
      {"st.mmio.relaxed.sys.u32 [$0], 1", MemoryOrder::Relaxed, Scope::System},
      {"red.add.u32 [$0], 1", MemoryOrder::Relaxed, Scope::Device, true},
      {"atom.acq_rel.sys.cas.b64 $0, [$1], $2, $3", MemoryOrder::AcquireRelease,
       Scope::System, true, true},
  };
  for (const auto &Case : Cases) {
    const InstructionClass C = classOf(Case.Text);
    EXPECT_EQ(int(C.Order), int(Case.Order)) << Case.Text;
    EXPECT_EQ(int(C.Scope), int(Case.Scope)) << Case.Text;
    EXPECT_EQ(bool(C.Flags & crsan::abi::IsAtomic), Case.IsAtomic) << Case.Text;
    EXPECT_EQ(bool(C.Flags & crsan::abi::IsSwap), Case.IsSwap) << Case.Text;
  }
}

TEST(PTXClassify, Orderings) {
  const std::pair<const char *, Ordering> Cases[] = {
      {"fence.sc.sys", Ordering::Fence},
      {"membar.cta", Ordering::Fence},
      {"fence.proxy.alias", Ordering::None},
      {"fence.proxy.tensormap::generic.release.gpu", Ordering::Fence},
      {"bar.warp.sync -1", Ordering::WarpBarrier},
      {"bar.sync 0", Ordering::BlockBarrier},
      {"barrier.cta.red.popc.u32 $0, 1, p", Ordering::BlockBarrier},
      {"barrier.sync 1, 64", Ordering::ArrivalAndWait},
      {"bar.red.or.pred p, 1, 64, q", Ordering::ArrivalAndWait},
      {"bar.arrive 1, 64", Ordering::Arrival},
      {"barrier.cluster.arrive.relaxed", Ordering::ClusterArrival},
      {"barrier.cluster.wait", Ordering::ClusterWait},
      {"mbarrier.arrive_drop.b64 _, [$0]", Ordering::Arrival},
      {"mbarrier.test_wait.b64 p, [$0], $1", Ordering::Wait},
      {"mbarrier.init.b64 [$0], 1", Ordering::None},
      {"cp.async.mbarrier.arrive.b64 [$0]", Ordering::CopyArrival},
      {"cp.async.commit_group", Ordering::CopyCommit},
      {"cp.async.wait_group 1", Ordering::CopyWait},
      {"cp.async.wait_all", Ordering::CopyWait},
      {"cp.async.bulk.commit_group", Ordering::CopyCommit},
      {"cp.async.bulk.wait_group.read 0", Ordering::CopyWait},
      {"griddepcontrol.wait", Ordering::Other},
      {"griddepcontrol.launch_dependents", Ordering::None},
      {"call f", Ordering::Other},
      {"mov.b64 crsan_happens_before, $0", Ordering::Arrival},
      {"mov.b64 crsan_happens_after, $0", Ordering::Wait},
      {"mov.b64 crsan_benign_begin, $0", Ordering::None},
      {"mov.b64 happens_after, $0", Ordering::None},
  };
  for (const auto &[Text, Expected] : Cases)
    EXPECT_EQ(int(classOf(Text).Orders), int(Expected)) << Text;
}

// Intent: which instructions are fences between the generic and the
// asynchronous proxy, and which use the latter; LLVM's intrinsics write
// underscores for colons.
TEST(PTXClassify, AsynchronousProxy) {
  for (const char *Text :
       {"fence.proxy.async", "fence.proxy.async.global",
        "fence.proxy.async.shared::cta", "fence.proxy.async.shared::cluster",
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster."
        "cluster",
        "fence.proxy.async_generic.release.sync_restrict.space.cta.scope."
        "cluster",
        "membar.proxy.async", "wgmma.wait_group.sync.aligned 0",
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [$0]"})
    EXPECT_TRUE(classOf(Text).IsProxyFence) << Text;
  for (const char *Text :
       {"fence.proxy.alias", "fence.proxy.tensormap::generic.release.gpu",
        "fence.acq_rel.gpu", "fence.mbarrier_init.release.cluster",
        "wgmma.fence.sync.aligned", "cp.async.bulk.wait_group 0"})
    EXPECT_FALSE(classOf(Text).IsProxyFence) << Text;
  for (const char *Text :
       {"cp.async.bulk.global.shared::cta.bulk_group [$0], [$1], 16",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [$0], "
        "[$1], 16",
        "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [$0, {$1}], "
        "[$2]"})
    EXPECT_TRUE(classOf(Text).IsByAsyncProxy) << Text;
  for (const char *Text :
       {"cp.async.ca.shared.global [$0], [$1], 4",
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [$0], $1, "
        "[$2]"})
    EXPECT_FALSE(classOf(Text).IsByAsyncProxy) << Text;
}

// Intent: a relaxed arrival releases nothing and a relaxed wait acquires
// nothing; the scope is the instruction's, not the state space.
TEST(PTXClassify, OrdersAtBarriers) {
  using crsan::abi::MemoryOrder;
  using crsan::abi::Scope;
  const struct {
    const char *Text;
    Ordering Orders;
    MemoryOrder Order;
    Scope Scope;
  } Cases[] = {
      {"barrier.cluster.arrive.aligned", Ordering::ClusterArrival,
       MemoryOrder::Release, Scope::Cluster},
      {"barrier.cluster.arrive.release", Ordering::ClusterArrival,
       MemoryOrder::Release, Scope::Cluster},
      {"barrier.cluster.arrive.relaxed.aligned", Ordering::ClusterArrival,
       MemoryOrder::Relaxed, Scope::Cluster},
      {"barrier.cluster.wait.acquire", Ordering::ClusterWait,
       MemoryOrder::Acquire, Scope::Cluster},
      {"mbarrier.arrive.b64 s, [$0]", Ordering::Arrival, MemoryOrder::Release,
       Scope::Block},
      {"mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [$0]",
       Ordering::Arrival, MemoryOrder::Relaxed, Scope::Cluster},
      {"mbarrier.arrive_drop.relaxed.cta.b64 _, [$0]", Ordering::Arrival,
       MemoryOrder::Relaxed, Scope::Block},
      {"mbarrier.arrive.expect_tx.relaxed.cluster.b64 _, [$0], 16",
       Ordering::Arrival, MemoryOrder::Relaxed, Scope::Cluster},
      {"mbarrier.try_wait.parity.b64 p, [$0], 0", Ordering::Wait,
       MemoryOrder::Acquire, Scope::Block},
      {"mbarrier.test_wait.relaxed.cluster.b64 p, [$0], $1", Ordering::Wait,
       MemoryOrder::Relaxed, Scope::Cluster},
      {"mbarrier.expect_tx.relaxed.cta.b64 [$0], 16", Ordering::None,
       MemoryOrder::Weak, Scope::Block},
      {"mbarrier.complete_tx.relaxed.cluster.b64 [$0], 16", Ordering::None,
       MemoryOrder::Weak, Scope::Cluster},
      // It orders nothing but mbarrier.init.
      {"fence.mbarrier_init.release.cluster", Ordering::None, MemoryOrder::Weak,
       Scope::Cluster},
      // As NVVM's intrinsics have it.
      {"mbarrier.arrive.relaxed.scope.cluster.space.cta", Ordering::Arrival,
       MemoryOrder::Relaxed, Scope::Cluster},
      {"fence.release.sync_restrict.space.cta.scope.cluster", Ordering::Fence,
       MemoryOrder::Weak, Scope::Cluster},
  };
  for (const auto &Case : Cases) {
    const InstructionClass C = classOf(Case.Text);
    EXPECT_EQ(int(C.Orders), int(Case.Orders)) << Case.Text;
    EXPECT_EQ(int(C.Order), int(Case.Order)) << Case.Text;
    EXPECT_EQ(int(C.Scope), int(Case.Scope)) << Case.Text;
  }
}

TEST(PTXClassify, AsynchronousCopies) {
  expectAll(
      Category::AsyncCopy,
      {"cp.async.ca.shared.global [$0], [$1], 16",
       "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
       "[$0], [$1], $2, [$3]",
       "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [$0], [$1], "
       "$2",
       "clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes."
       "b128 "
       "[$0], [$1]",
       "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [$0], $1, "
       "[$2]",
       "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes."
       "add.u32 [$0], $1, [$2]"});
}

TEST(PTXClassify, WarpsAndMatrices) {
  expectAll(Category::Convergent,
            {"shfl.sync.idx.b32 $0|p, $1, 0, 31, -1",
             "vote.sync.ballot.b32 $0, p, -1", "activemask.b32 $0",
             "elect.sync _|p, -1",
             "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {a,b}, {c}, {d}, "
             "{e,f}"});
  expectAll(Category::Harmless,
            {"cp.async.bulk.prefetch.L2.global [$0], $1",
             "cp.async.bulk.prefetch.tensor.1d.L2.global.tile [$0, {$1}]"});
  expectAll(
      Category::MatrixAccess,
      {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {a,b,c,d}, [$0]",
       "stmatrix.sync.aligned.m8n8.x1.shared.b16 [$0], {a}",
       "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {a}, [$0], 16"});
}

TEST(PTXClassify, Textures) {
  expectAll(Category::TextureAccess, {"sust.b.1d.b32.trap [s, {a}], {b}",
                                      "tex.1d.v4.f32.s32 {a,b,c,d}, [t, {e}]"});
  expectAll(Category::Harmless, {"txq.width.b32 $0, [t]"});
}

TEST(PTXClassify, TheRestIsUnknown) {
  expectAll(Category::Unknown,
            {"frobnicate.u32 $0", "$0 a", "discard.global.L2 [$0], 128",
             "ld.$1.u32 $0, [$2]", "multimem.ld_reduce.add.u32 a, [b]"});
  expectAll(Category::ControlFlow, {"trap", "exit", "bra L", "ret"});
}
