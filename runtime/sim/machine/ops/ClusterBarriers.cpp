// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// barrier.cluster.
#include "ops/MemoryModifiers.h"

#include "Device.h"

#include <utility>

using namespace crsan::sim;

namespace {

/// Op[0] is not used. I.How: as written.
Outcome arriveAtCluster(Execution &X, const Instruction &I) {
  Cluster &C = *X.B->In;
  if (uint32_t Again = X.W->ClusterArrived & X.Mask)
    return X.fault(
        I, std::countr_zero(Again), Fault::Kind::BarrierDivergence,
        "a thread arrives at the cluster barrier twice before it is complete");
  if (!C.BarrierUid)
    C.BarrierUid = X.D.NextBarrierUid++;
  X.W->ClusterArrived |= X.Mask;
  forLanes(X.Mask, [&](unsigned L) { X.W->ClusterPhase[L] = C.Phase + 1; });
  if (X.D.Watch)
    forLanes(X.Mask, [&](unsigned L) {
      X.D.Watch->barrierArrive(X.thread(L), C.BarrierUid, BarrierKind::Cluster,
                               I.How.Order, Scope::Cluster);
    });
  X.D.recheckClusterBarrier(C);
  return Outcome::Next;
}

Outcome waitForCluster(Execution &X, const Instruction &I) {
  Cluster &C = *X.B->In;
  bool IsDone = true;
  for (uint32_t M = X.Mask; M; M &= M - 1) {
    unsigned L = std::countr_zero(M);
    if (!X.W->ClusterPhase[L])
      return X.fault(
          I, L, Fault::Kind::BarrierDivergence,
          "a thread waits at the cluster barrier without having arrived");
    IsDone &= C.Phase >= X.W->ClusterPhase[L];
  }
  if (!IsDone) {
    X.D.setState(*X.F, Fragment::State::Cluster); // Looks again when woken.
    return Outcome::Stop;
  }
  forLanes(X.Mask, [&](unsigned L) { X.W->ClusterPhase[L] = 0; });
  if (X.D.Watch)
    forLanes(X.Mask, [&](unsigned L) {
      X.D.Watch->barrierLeave(X.thread(L), C.LastBarrierUid,
                              BarrierKind::Cluster, I.How.Order,
                              Scope::Cluster);
    });
  return Outcome::Next;
}

bool cluster(Decoder &D) {
  if (!D.take("cluster"))
    return false;
  bool IsArrive = D.take("arrive");
  if (!IsArrive && !D.take("wait"))
    return false;
  MemoryOrder S =
      takeOrder(D, IsArrive ? MemoryOrder::Release : MemoryOrder::Acquire);
  D.take("aligned");
  Instruction &I = D.emit(IsArrive ? arriveAtCluster : waitForCluster);
  I.How = {S, Scope::Cluster};
  I.NeedsWholeFragment = true;
  I.IsVisible = true;
  return true;
}

} // namespace

void Device::recheckClusterBarrier(Cluster &C) {
  if (!C.BarrierUid)
    return;
  for (auto &B : C.Blocks) {
    if (!B)
      return;
    for (auto &W : B->Warps)
      if (W->Live & ~W->ClusterArrived)
        return;
  }
  ++C.Phase;
  C.LastBarrierUid = std::exchange(C.BarrierUid, 0);
  for (auto &B : C.Blocks)
    for (auto &W : B->Warps) {
      W->ClusterArrived = 0;
      for (size_t N = 0; N < W->Fragments.size(); ++N)
        if (W->Fragments[N]->Is == Fragment::State::Cluster)
          setState(*W->Fragments[N], Fragment::State::Ready);
    }
}

void crsan::sim::addClusterOps(DecodeTable &T) { T.add("barrier", cluster); }
