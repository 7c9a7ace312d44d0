// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When the simulated GPUs run.

#include "Process.h"

#include "Detector.h"
#include "HostCode.h"
#include "SimulatedRun.h"
#include "common/Flags.h"
#include "common/KernelWait.h"
#include "common/Log.h"
#include "common/Watcher.h"
#include "host/Endings.h"
#include "session/Ending.h"
#include "session/Session.h"

#include <chrono>

#include <signal.h>
#include <unistd.h>

namespace crsan::api {

using namespace std::chrono_literals;

/// Warp instructions between looks at who else wants something.
static constexpr uint64_t Slice = 1 << 18;

bool Process::isDone(Device &D, Machine::Wait What, uint64_t Handle) {
  switch (What) {
  case Machine::Wait::Stream:
    return D.M.isDone(Stream(Handle));
  case Machine::Wait::Event:
    return D.M.isEventDone(Event(Handle));
  case Machine::Wait::All:
    return D.M.isAllDone();
  }
  return true;
}

std::optional<Fault> Process::runSome(Device &D, Machine::Wait What,
                                      uint64_t Handle) {
  uint64_t Before = D.M.steps();
  std::optional<Fault> F = D.M.advance(Slice);
  // What takes no steps, or cannot: drive() says so.
  if (!F && D.M.steps() == Before && !isDone(D, What, Handle))
    F = D.M.drive(What, Handle);
  return F;
}

/// What host code may take to be done.
void Process::noteDone(Device &D, Machine::Wait What, uint64_t Handle) {
  PendingWork &Work = hostChecks().pending();
  if (What == Machine::Wait::All)
    Work.contextDone(D.context());
  else if (What == Machine::Wait::Stream)
    Work.streamDone(pendingId(D, Handle));
  noteIdle(D);
}

/// Once all work is done, host code need not be checked, unless a detector
/// knows of work that the host has not waited for.
void Process::noteIdle(Device &D) {
  const OracleDetector *Oracle = TheRun->oracle();
  if (D.M.isAllDone() && !(Oracle && Oracle->mayRaceWithHost()) &&
      !(TheSession && TheSession->mayRaceWithHost(D.context())))
    hostChecks().pending().contextDone(D.context());
}

cudaError_t Process::wait(Device &D, Machine::Wait What, uint64_t Handle) {
  const KernelWait Waiting;
  hostChecks().pending().beginCall();
  while (D.Sticky == cudaSuccess && !isDone(D, What, Handle)) {
    if (std::optional<Fault> F = runSome(D, What, Handle)) {
      noteFault(D, *F);
      break;
    }
    TheRun->noteProgress();
    letOthersIn();
  }
  // The machine is told who waited for what: the oracle orders by it.
  if (D.Sticky == cudaSuccess)
    if (std::optional<Fault> F = D.M.drive(What, Handle))
      noteFault(D, *F);
  if (D.Sticky == cudaSuccess && D.M.isAllDone())
    D.HasPending = false;
  noteDone(D, What, Handle);
  TheRun->noteProgress();
  return D.Sticky;
}

void Process::runAWhile(Device &D) {
  constexpr uint64_t PollSteps = 4096;
  if (std::optional<Fault> F = D.M.advance(PollSteps))
    noteFault(D, *F);
  TheRun->noteProgress();
}

void Process::runAll(uint64_t Steps) {
  for (const std::unique_ptr<Device> &D : Devices)
    if (D->Sticky == cudaSuccess && !D->M.isAllDone())
      if (std::optional<Fault> F = D->M.advance(Steps))
        noteFault(*D, *F);
}

void Process::runOn() {
  for (const std::unique_ptr<Device> &D : Devices) {
    // Kernels that spin for something take steps without end.
    constexpr unsigned MostSlices = 1 << 12;
    for (unsigned I = 0; I < MostSlices && !D->M.isAllDone(); ++I) {
      const uint64_t Before = D->M.steps();
      if (D->Sticky != cudaSuccess)
        break;
      if (std::optional<Fault> F = D->M.advance(Slice))
        noteFault(*D, *F);
      if (D->M.steps() == Before)
        break;
    }
  }
}

void Process::drain() {
  for (const std::unique_ptr<Device> &D : Devices)
    if (D->HasPending || !D->M.isAllDone())
      waitAll(*D);
}

/// A machine that waits for another's event has nothing else to run.
bool Process::advanceOthers(Device &Idle) {
  if (IsIdling)
    return false;
  IsIdling = true;
  bool Moved = false;
  for (const std::unique_ptr<Device> &D : Devices) {
    if (D.get() == &Idle || D->M.isAllDone() || D->Sticky != cudaSuccess)
      continue;
    uint64_t Steps = D->M.steps(), Time = D->M.now();
    if (std::optional<Fault> F = D->M.advance(Slice))
      noteFault(*D, *F);
    Moved |= D->M.steps() != Steps || D->M.now() != Time || D->M.isAllDone();
  }
  IsIdling = false;
  return Moved;
}

/// The error that CUDA gives for what happened.
static cudaError_t errorOf(Fault::Kind What) {
  switch (What) {
  case Fault::Kind::InvalidAddress:
    return cudaErrorIllegalAddress;
  case Fault::Kind::Misaligned:
    return cudaErrorMisalignedAddress;
  case Fault::Kind::Assert:
    return cudaErrorAssert;
  case Fault::Kind::StepLimit:
    return cudaErrorLaunchTimeout;
  case Fault::Kind::Trap:
  case Fault::Kind::BarrierDivergence:
  case Fault::Kind::Deadlock:
  case Fault::Kind::UninitialisedShared:
  case Fault::Kind::UnknownInstruction:
  case Fault::Kind::Unsupported:
    return cudaErrorLaunchFailure;
  }
  return cudaErrorUnknown;
}

void Process::noteFault(Device &D, const Fault &F) {
  if (D.Sticky != cudaSuccess)
    return;
  D.Sticky = errorOf(F.What);
  D.HasPending = false;
  TheRun->faultFound(D, F);
  if (F.What == Fault::Kind::UnknownInstruction ||
      F.What == Fault::Kind::Unsupported) {
    TheRun->report();
    flushEverything();
    crsanLeave(1);
  }
  if (TheSession)
    TheSession->synchronised(D.context(), CUresult(D.Sticky));
}

void Process::resetDevice(Device &D) {
  waitAll(D);
  while (!D.SessionMemory.empty())
    unmapForSession(D, D.SessionMemory.begin()->first);
  for (auto &[Base, A] : Allocations)
    if (A.OfGraph && A.Device == D.Ordinal)
      endLifetime(*A.OfGraph); // Other devices see it too.
  D.M.reset();
  D.Own.Handle = 0;
  D.Sticky = cudaSuccess;
  ++D.Uid;
  D.Peers.clear();
  D.Limits.clear();
  D.HasPending = false;
  std::erase_if(Allocations, [&](const auto &Entry) {
    const Allocation &A = Entry.second;
    return A.What == Allocation::Kind::Device && A.Device == D.Ordinal;
  });
  for (CUlib_st *Image : Images)
    Image->Loaded.erase(D.Ordinal);
  std::erase_if(Streams, [&](CUstream_st *S) { return S->On == &D; });
  std::erase_if(Events, [&](CUevent_st *E) { return E->On == &D; });
  // Memory of the host stays the device's to touch.
  for (const auto &[Base, A] : Allocations)
    if (A.What != Allocation::Kind::Device)
      D.M.allowRange(A.Base, A.Size, /*IsHosts=*/true);
}

//===----------------------------------------------------------------------===//
// The first call
//===----------------------------------------------------------------------===//

bool Process::begin() {
  const pid_t Self = getpid();
  if (User == 0) {
    std::lock_guard Lock(*this);
    if (!theRun()) {
      setRun(TheRun);
      joinTheEndOfChild();
    }
    if (User.exchange(Self) == 0)
      TheRun->reportNew(); // Who waits for the process's file knows of it now.
  }
  if (User == Self)
    return true;
  static std::atomic<pid_t> Told{0};
  if (Told.exchange(Self) != Self)
    theLog().say("simulated GPU: a child that was forked after CUDA was "
                 "initialised cannot use CUDA: its calls fail; fork first");
  return false;
}

//===----------------------------------------------------------------------===//
// The watchdog
//===----------------------------------------------------------------------===//

void Process::startWatchdog() {
  if (HasWatchdog)
    return;
  HasWatchdog = true;
  // Inherited: the program's signals are not for this thread.
  sigset_t All, Before;
  sigfillset(&All);
  pthread_sigmask(SIG_SETMASK, &All, &Before);
  std::thread([this] { watch(); }).detach();
  pthread_sigmask(SIG_SETMASK, &Before, nullptr);
}

/// A host that polls mapped memory calls nothing that would run the device.
void Process::watch() {
  pthread_setname_np(pthread_self(), Watcher::ThreadName);
  constexpr auto Patience = 1s;
  while (true) {
    uint64_t Before = Calls;
    std::this_thread::sleep_for(Patience);
    // Host code takes the lock for short times.
    while (Calls == Before && tryLock(10ms)) {
      bool Ran = false;
      for (const std::unique_ptr<Device> &D : Devices)
        if (D->HasPending && D->Sticky == cudaSuccess) {
          if (std::optional<Fault> F = D->M.advance(Slice))
            noteFault(*D, *F);
          D->HasPending = !D->M.isAllDone();
          Ran = true;
        }
      if (Ran)
        TheRun->noteProgress();
      unlock();
      if (!Ran)
        break;
    }
  }
}

} // namespace crsan::api
