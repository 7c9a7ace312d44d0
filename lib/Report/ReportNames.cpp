// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keywords of the report format.
#include "ReportNames.h"
#include "Report/Words.h"

using namespace crsan;

template <typename T> using Name = std::pair<const char *, T>;

Names<abi::RaceKind> crsan::kindNames() {
  static const auto *Kinds = [] {
    auto *Result = new std::vector<Name<abi::RaceKind>>;
    for (const KindWords &Words : allKindWords())
      Result->push_back({Words.Key, Words.Kind});
    return Result;
  }();
  return *Kinds;
}

static constexpr Name<abi::AccessKind> AccessNameList[] = {
    {"load", abi::AccessKind::Load},
    {"store", abi::AccessKind::Store},
    {"update", abi::AccessKind::Update},
    {"barrier", abi::AccessKind::Barrier}};
const Names<abi::AccessKind> crsan::AccessNames = AccessNameList;

static constexpr Name<abi::Scope> ScopeNameList[] = {
    {"block", abi::Scope::Block},
    {"cluster", abi::Scope::Cluster},
    {"device", abi::Scope::Device},
    {"system", abi::Scope::System}};
const Names<abi::Scope> crsan::ScopeNames = ScopeNameList;

static constexpr Name<abi::MemoryOrder> OrderNameList[] = {
    {"weak", abi::MemoryOrder::Weak},
    {"relaxed", abi::MemoryOrder::Relaxed},
    {"acquire", abi::MemoryOrder::Acquire},
    {"release", abi::MemoryOrder::Release},
    {"acq_rel", abi::MemoryOrder::AcquireRelease},
    {"seq_cst", abi::MemoryOrder::SequentiallyConsistent}};
const Names<abi::MemoryOrder> crsan::OrderNames = OrderNameList;

static constexpr Name<abi::RaceReasons> ReasonNameList[] = {
    {"same_warp", abi::SameWarp},
    {"same_block", abi::SameBlock},
    {"other_grid", abi::OtherGrid},
    {"earlier_no_sync", abi::EarlierNoSync},
    {"earlier_fenced_block", abi::EarlierFencedBlock},
    {"earlier_fenced_device", abi::EarlierFencedDevice},
    {"earlier_barrier", abi::EarlierBarrier},
    {"later_acquired", abi::LaterAcquired},
    {"later_holds_lock", abi::LaterHoldsLock},
    {"earlier_used_lock", abi::EarlierUsedLock},
    {"several_readers", abi::SeveralReaders},
    {"earlier_in_flight", abi::EarlierInFlight},
    {"earlier_waited", abi::EarlierWaited},
    {"unordered_launch", abi::UnorderedLaunch},
    {"earlier_ended", abi::EarlierEnded},
    {"earlier_holds_lock", abi::EarlierHoldsLock},
    {"later_unfenced", abi::LaterUnfenced},
    {"earlier_forgotten", abi::EarlierForgotten},
    {"earlier_bulk_group", abi::EarlierBulkGroup},
    {"earlier_at_mbarrier", abi::EarlierAtMbarrier},
    {"lacks_proxy_fence", abi::LacksProxyFence},
    {"earlier_by_warp_group", abi::EarlierByWarpGroup},
    {"other_iteration", abi::OtherIteration}};
const Names<abi::RaceReasons> crsan::ReasonNames = ReasonNameList;

static constexpr Name<abi::Space> SpaceNameList[] = {
    {"generic", abi::Space::Generic},
    {"global", abi::Space::Global},
    {"shared", abi::Space::Shared},
    {"constant", abi::Space::Constant},
    {"cluster", abi::Space::Cluster}};
const Names<abi::Space> crsan::SpaceNames = SpaceNameList;
