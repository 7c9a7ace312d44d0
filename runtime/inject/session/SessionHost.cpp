// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a run's host code has accessed, by the order of streams.
//
// Host code notes accesses while work is pending (host/HostNotes.h). Before the
// host learns of that work, a kernel of the library's judges them: in front of
// what a stream is given next, or, when a call has waited, in the library's own
// stream.

#include "session/Session.h"

#include "common/Driver.h"
#include "common/Log.h"
#include "host/HostChecks.h"

#include <algorithm>
#include <chrono>

namespace crsan {

using namespace std::chrono_literals;

/// Launches the kernel, if there is anything to judge and it is safe to.
/// IsIdle: the context has no other work, and awaitJudgement() comes next.
/// Returns whether it was launched.
bool Session::judgeHost(Context &C, StreamId Stream, CUstream Handle,
                        bool IsIdle) {
  HostNotes &Notes = hostChecks().notes();
  if (Notes.isEmpty() || !C.Operations.isShadowed() ||
      C.Operations.mayBeAwaited())
    return false;
  StreamOrder *const Order = Ordering.of(C.Handle);
  if (Ordering.mayBeHeldUp(C.Handle)) {
    Notes.forget();
    return false;
  }
  {
    std::lock_guard Lock(Data);
    if (C.IsDead || C.Failure != CUDA_SUCCESS)
      return false;
  }
  OwnCalls Own(C.Handle);
  if (!Own.ok() || isCapturing(Handle))
    return false;
  abi::HostNotes Taken{};
  Taken.Count = Notes.take(Taken.Notes);
  if (Taken.Count == 0)
    return false;
  ++BeingLaunched;
  if (IsResetting)
    std::lock_guard Wait(Configuring);
  C.MayRun = true;
  if (!IsIdle)
    Order->launchingOwn();
  // What the host knows only grows: this is all that it knew when it made the
  // accesses, and perhaps more.
  std::ranges::copy(Order->waited(), Taken.Known);
  const CUresult Result = C.Operations.judge(Stream, Handle, Taken);
  --BeingLaunched;
  if (Result != CUDA_SUCCESS) {
    theLog().detail(2, "host code is not judged: {}",
                    theDriver().errorName(Result));
    return false;
  }
  std::lock_guard Lock(Data);
  ++C.UnreadLaunches;
  return true;
}

/// The stream is about to be given something. Where the host has not waited for
/// other streams either, the accesses are judged later, since the kernel comes
/// behind the work of this stream only.
void Session::judgeHostBefore(Context &C, StreamId Stream, CUstream Handle) {
  if (!hostChecks().notes().isEmpty() &&
      Ordering.of(C.Handle)->isRestBefore(Stream))
    judgeHost(C, Stream, Handle, /*IsIdle=*/false);
}

/// The host has waited for some work, and learns of it by `Do`.
template <typename Learn> void Session::judgeHostThen(CUcontext Ctx, Learn Do) {
  std::shared_ptr<Context> C;
  if (!hostChecks().notes().isEmpty()) {
    std::lock_guard Lock(Data);
    C = findContext(Ctx);
  }
  const bool IsJudged =
      C && judgeHost(*C, StreamId::of(C->stream(), false), C->stream(),
                     /*IsIdle=*/false);
  Do();
  // What is launched next would take the place of what the cells say.
  if (IsJudged && Ordering.of(Ctx)->hasWaited())
    awaitJudgement(*C);
}

/// Waits for the judgement, which takes some microseconds if nothing else runs.
/// Something else may, in another process or as another thread wants it, and
/// then there is no waiting for it.
void Session::awaitJudgement(Context &C) {
  // The simulated GPU's kernels run on this thread.
  if (IsSimulated)
    return RunOn();
  constexpr auto Patience = 1ms;
  const Driver &D = theDriver();
  OwnCalls Own(C.Handle);
  if (!Own.ok() || !D.cuStreamQuery)
    return;
  const auto Deadline = std::chrono::steady_clock::now() + Patience;
  while (D.cuStreamQuery(C.stream()) == CUDA_ERROR_NOT_READY &&
         std::chrono::steady_clock::now() < Deadline)
    ;
}

void Session::streamDone(CUcontext Ctx, StreamId Stream) {
  judgeHostThen(Ctx, [&] { Ordering.of(Ctx)->streamDone(Stream); });
}

void Session::eventDone(CUcontext Ctx, CUevent Event) {
  judgeHostThen(Ctx, [&] { Ordering.eventDone(Event); });
}

bool Session::mayRaceWithHost(CUcontext Ctx) {
  return hostChecks().notes().isOn() && !Ordering.of(Ctx)->hasWaited();
}

/// All work of the contexts is done. Returns whether anything is judged now.
bool Session::judgeHostAtEnd(const ContextList &List) {
  bool IsAny = false;
  for (const std::shared_ptr<Context> &C : List)
    IsAny |= judgeHost(*C, StreamId::of(C->stream(), false), C->stream(),
                       /*IsIdle=*/false);
  return IsAny;
}

} // namespace crsan
