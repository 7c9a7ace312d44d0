// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The data of an asynchronous copy.
#include "ops/Transfer.h"
#include "ops/MBarrier.h"

using namespace crsan::sim;

namespace {

void tellAccess(Device &D, const Transfer &T, const Referent &R, uint32_t Size,
                uint8_t Flags, uint32_t At = 0,
                MemoryOrder Order = MemoryOrder::Weak) {
  if (!D.Watch)
    return;
  Access A;
  A.Flags = Flags;
  A.Space = R.space();
  A.Order = Order;
  A.Within = Scope::Device;
  A.IsAsync = true;
  A.Address = R.reportedAddress() + At;
  A.Size = Size;
  A.Instruction = T.Instruction;
  A.Async = T.What->Id;
  D.Watch->access(T.Thread, A);
}

/// Each element by itself, relaxed, as PTX has it.
void reduce(Device &D, const Transfer &T) {
  const unsigned Size = crsan::ptx::sizeOf(T.Type);
  for (uint32_t At = 0; At < T.Written; At += Size) {
    tellAccess(D, T, T.To, Size, WritesMemory | IsAtomic, At,
               MemoryOrder::Relaxed);
    uint64_t Old = 0, With = 0;
    std::memcpy(&Old, T.To.Bytes + At, Size);
    std::memcpy(&With, T.From.Bytes + At, Size);
    uint64_t New = newValue(T.Reduces, T.Type, Old, With, 0);
    std::memcpy(T.To.Bytes + At, &New, Size);
  }
}

void perform(Device &D, const Transfer &T) {
  if (T.Read)
    tellAccess(D, T, T.From, T.Read, ReadsMemory);
  if (T.Type != ScalarType::None) {
    reduce(D, T);
  } else {
    tellAccess(D, T, T.To, T.Written, WritesMemory);
    D.copyMemory(T.To, T.From, T.Read);
    std::memset(T.To.Bytes + T.Read, 0, T.Written - T.Read);
  }
  if (T.To.In == Referent::Kind::Shared &&
      T.To.Offset < T.To.Owner->Written.size())
    std::fill_n(T.To.Owner->Written.begin() + T.To.Offset, T.Written, 1);
  T.What->IsDone = true;
  std::optional<MBarrier> B;
  if (T.BarrierOf)
    B.emplace(D, *T.BarrierOf, T.BarrierAt);
  if (D.Watch)
    D.Watch->asyncComplete(T.Thread, T.What->Id, T.Ends,
                           B ? B->currentUid() : 0);
  if (B)
    B->expect(-int64_t(T.Written));
}

} // namespace

uint64_t crsan::sim::chooseTime(Device &D) {
  if (D.Opt.Schedule == Options::Policy::RoundRobin)
    return D.Now + 500;
  return D.Now + (D.Dice.oneIn(4) ? 0 : D.Dice.below(3000));
}

void crsan::sim::runLater(Device &D, Cluster &C, uint64_t Time,
                          std::function<void()> What, bool IsShared) {
  ++C.Pending;
  auto Finish = [&D, &C, What = std::move(What)] {
    What();
    if (--C.Pending == 0 && C.Live == 0)
      D.Doomed.push_back(&C);
  };
  D.at(Time, [&D, IsShared, Finish = std::move(Finish)] {
    if (IsShared && D.Buffer)
      D.Ending.push_back(Finish);
    else
      Finish();
  });
}

void crsan::sim::issue(Execution &X, std::vector<Transfer> Transfers) {
  if (Transfers.empty())
    return;
  uint64_t Time = Transfers.front().What->Due;
  for (const Transfer &T : Transfers)
    if (X.D.Watch)
      X.D.Watch->asyncIssue(T.Thread, T.What->Id, T.Ends);
  const Transfer &First = Transfers.front();
  bool IsShared =
      First.Type != ScalarType::None && First.To.In == Referent::Kind::Global;
  runLater(
      X.D, *X.B->In, Time,
      [&D = X.D, Transfers = std::move(Transfers)] {
        for (const Transfer &T : Transfers)
          perform(D, T);
      },
      IsShared);
}
