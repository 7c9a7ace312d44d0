// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A run's memory and its shadow.

#include "session/Session.h"

#include "common/Background.h"
#include "common/CallSites.h"
#include "common/Driver.h"
#include "common/Log.h"
#include "host/HostChecks.h"

#include <fmt/format.h>

#include <chrono>

namespace crsan {

using namespace std::chrono_literals;

/// What(Shadow, Range) for each context that the ranges matter to, which are
/// returned. The configuration lock is held.
template <typename Change>
Session::ContextList
Session::changeShadow(const std::vector<MemoryRange> &Ranges, Change What) {
  ContextList Affected;
  {
    std::lock_guard Lock(Data);
    for (const std::shared_ptr<Context> &C : Contexts)
      if (C->TheShadow && !C->IsDead && C->Failure == CUDA_SUCCESS)
        Affected.push_back(C);
  }
  for (const MemoryRange &Range : Ranges)
    for (const std::shared_ptr<Context> &C : Affected)
      if (Range.isFor(C->Handle))
        if (OwnCalls Own(C->Handle); Own.ok())
          What(*C->TheShadow, Range);
  return Affected;
}

/// Waits until no kernel can use retired shadow, and gives it to other pages. A
/// kernel may never end, or may wait for calls of the program that need the
/// configuration lock. So the thread waits without the lock, and only for a
/// short time. Shadow that is still retired then is reused when the context is
/// idle.
void Session::awaitGrace(std::unique_lock<std::timed_mutex> &Lock, Context &C) {
  constexpr auto Patience = 2s;
  while (C.TheShadow->isRetiring()) {
    if (C.MayRun) {
      // The simulated GPU's kernels run on this thread.
      if (IsSimulated)
        return;
      const bool IsNew = !C.Grace;
      if (IsNew)
        C.Grace = Background<CUresult>::start([Handle = C.Handle] {
          OwnCalls Own(Handle);
          return Own.ok() ? theDriver().cuCtxSynchronize()
                          : CUDA_ERROR_INVALID_CONTEXT;
        });
      const std::shared_ptr Grace = C.Grace;
      Lock.unlock();
      const auto Now = std::chrono::steady_clock::now();
      const bool IsOver = Grace->waitUntil(IsNew ? Now + Patience : Now);
      Lock.lock();
      if (!IsOver)
        return;
      if (C.Grace != Grace)
        continue; // Another thread was faster.
      C.Grace = nullptr;
      if (Grace->take() != CUDA_SUCCESS)
        return;
    }
    OwnCalls Own(C.Handle);
    if (!Own.ok())
      return;
    C.TheShadow->settle();
  }
}

void Session::allocated(CUcontext Owner, uint64_t Base, size_t Size,
                        const char *How, bool IsIO) {
  Ordering.cut(); // Memory changes hands.
  const uint32_t MadeAt = callSites().note();
  std::unique_lock Lock(Configuring);
  MemoryRange Range{Owner, Base, Size, /*HasVariables=*/false, How};
  Range.MadeAt = How ? MadeAt : 0;
  Range.IsIO = IsIO;
  {
    std::lock_guard DataLock(Data);
    Memory.add(Range);
  }
  tellHostChecks(Range);
  for (const std::shared_ptr<Context> &C :
       changeShadow({Range}, [](MetadataShadow &S, const MemoryRange &R) {
         S.add({&R, 1});
       }))
    awaitGrace(Lock, *C);
}

/// Checks of host code may read the memory. The simulated GPU tells them
/// itself.
void Session::tellHostChecks(const MemoryRange &Range) const {
  if (!IsSimulated && Range.isHosts() && !Range.IsIO)
    hostChecks().allocated(Range.Base, Range.Size);
}

FreeCall Session::freeing(uint64_t Base) {
  if (!IsSimulated)
    hostChecks().freeing(Base);
  std::lock_guard Lock(Data);
  return Memory.beginFree(Base);
}

FreeCall Session::unmapping(uint64_t Base, size_t Size) {
  std::lock_guard Lock(Data);
  return Memory.beginUnmap(Base, Size);
}

uint64_t Session::sizeOf(uint64_t Base) const {
  std::lock_guard Lock(Data);
  return Memory.sizeOf(Base);
}

void Session::freed(FreeCall Call) {
  Ordering.cut(); // Memory changes hands.
  std::lock_guard Lock(Configuring);
  std::vector<MemoryRange> Ranges;
  {
    std::lock_guard DataLock(Data);
    Ranges = Memory.endFree(Call);
  }
  changeShadow(Ranges,
               [](MetadataShadow &S, const MemoryRange &R) { S.remove(R); });
}

/// Whoever allocates the memory next orders all that was before.
void Session::freedByStream(FreeCall Call) {
  std::lock_guard Lock(Data);
  Memory.deferFree(Call);
}

void Session::freeFailed(FreeCall Call) {
  std::lock_guard Lock(Data);
  for (const MemoryRange &Range : Memory.cancelFree(Call))
    tellHostChecks(Range);
}

void Session::allocating(CUcontext Ctx, size_t Size) {
  std::unique_lock Lock(Configuring);
  const MemoryRange Room{Ctx, 0, Size};
  for (const std::shared_ptr<Context> &C :
       changeShadow({Room}, [](MetadataShadow &S, const MemoryRange &R) {
         S.makeRoom(R.Size);
       }))
    awaitGrace(Lock, *C);
  changeShadow({Room}, [](MetadataShadow &S, const MemoryRange &R) {
    S.release(R.Size);
  });
}

void Session::allocationFailed(CUcontext Ctx) {
  std::lock_guard Lock(Data);
  std::shared_ptr<Context> C = findContext(Ctx);
  if (!C || !C->TheShadow || C->TheShadow->held() == 0)
    return;
  std::string Line = fmt::format(
      "the program is out of memory on device {}, where metadata mode holds {} "
      "MiB: shadow_limit= sets a limit to that",
      C->Device, C->TheShadow->held() >> 20);
  if (Said.insert(Line).second)
    theLog().say("{}", Line);
}

void Session::becameIdle(CUcontext Ctx, uint64_t Awaited) {
  std::shared_ptr<Context> C;
  {
    std::lock_guard Lock(Data);
    C = findContext(Ctx);
  }
  if (C && judgeHost(*C, StreamId::of(C->stream(), false), C->stream(),
                     /*IsIdle=*/true))
    awaitJudgement(*C);
  Ordering.becameIdle(Ctx, Awaited);
  hostChecks().pending().contextDone(Ctx);
  if (!C)
    return;
  std::unique_lock Lock(Configuring);
  std::vector<MemoryRange> Freed;
  {
    std::lock_guard DataLock(Data);
    Freed = Memory.takeFreed(Ctx);
  }
  changeShadow(Freed,
               [](MetadataShadow &S, const MemoryRange &R) { S.remove(R); });
  // Where another thread has launched something since, or is about to, this is
  // done the next time that the context is idle.
  IsResetting = true;
  if (BeingLaunched == 0 && Ordering.isIdle(Ctx, Awaited)) {
    C->MayRun = false;
    C->Operations.becameIdle();
    if (C->TheShadow) {
      forgetPast(*C);
      awaitGrace(Lock, *C);
    }
  }
  IsResetting = false;
}

/// Forgets what the device asks to have forgotten. The context is idle.
void Session::forgetPast(Context &C) {
  OwnCalls Own(C.Handle);
  const MetadataShadow::Past What =
      Own.ok() ? C.TheShadow->unwanted() : MetadataShadow::Past::None;
  if (What == MetadataShadow::Past::None)
    return;
  if (What != MetadataShadow::Past::LeftOut)
    theLog().detail(
        2, "metadata mode: starting from zero on device {}{}", C.Device,
        What == MetadataShadow::Past::Releases ? ", but for accesses" : "");
  C.TheShadow->forget(What);
}

} // namespace crsan
