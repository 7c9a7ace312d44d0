// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The data of an asynchronous copy.
#include "ops/Transfer.h"
#include "ops/MBarrier.h"

#include <utility>

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
  A.Within = T.Within;
  A.IsAsync = true;
  A.Address = R.reportedAddress() + At;
  A.Size = Size;
  A.Instruction = T.Instruction;
  A.Async = T.What->Id;
  D.Watch->access(T.Thread, A);
}

/// Each element by itself, relaxed, as PTX has it.
void reduce(Device &D, const Transfer &T, const Referent &From) {
  const unsigned Size = crsan::ptx::sizeOf(T.Type);
  for (uint32_t At = 0; At < T.Written; At += Size) {
    tellAccess(D, T, T.To, Size, WritesMemory | IsAtomic, At,
               MemoryOrder::Relaxed);
    uint64_t Old = 0, With = 0;
    std::memcpy(&Old, T.To.Bytes + At, Size);
    std::memcpy(&With, From.Bytes + At, Size);
    uint64_t New = newValue(T.Reduces, T.Type, Old, With, 0);
    std::memcpy(T.To.Bytes + At, &New, Size);
  }
}

/// The source is free from now on, however long the write takes.
void readAhead(Device &D, const Transfer &T) {
  AsyncCopy &Copy = *T.What;
  if (std::exchange(Copy.HasRead, true))
    return;
  tellAccess(D, T, T.From, T.Read, ReadsMemory);
  Copy.Data.assign(T.From.Bytes, T.From.Bytes + T.Read);
}

void perform(Device &D, const Transfer &T) {
  Referent From = T.From;
  if (T.Ends == Completion::BulkGroup)
    readAhead(D, T);
  if (T.What->HasRead)
    From.Bytes = T.What->Data.data();
  else if (T.Read)
    tellAccess(D, T, T.From, T.Read, ReadsMemory);
  if (T.Type != ScalarType::None) {
    reduce(D, T, From);
  } else {
    tellAccess(D, T, T.To, T.Written, WritesMemory);
    D.copyMemory(T.To, From, T.Read);
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

std::shared_ptr<AsyncCopy> crsan::sim::newCopy(Device &D, uint64_t Due) {
  auto Copy = std::make_shared<AsyncCopy>();
  Copy->Id = D.NextAsync++;
  Copy->Due = Due;
  Copy->ReadDue = D.Now + (Due - D.Now) / 2;
  return Copy;
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
  const Transfer First = Transfers.front();
  const bool IsShared =
      First.Type != ScalarType::None && First.To.In == Referent::Kind::Global;
  const auto All =
      std::make_shared<const std::vector<Transfer>>(std::move(Transfers));
  const auto ForAll = [&D = X.D, All](void (*Do)(Device &, const Transfer &)) {
    for (const Transfer &T : *All)
      Do(D, T);
  };
  if (First.Ends == Completion::BulkGroup)
    runLater(X.D, *X.B->In, First.What->ReadDue, [=] { ForAll(readAhead); });
  runLater(
      X.D, *X.B->In, Time, [=] { ForAll(perform); }, IsShared);
}
