// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Streams, events, host functions.

#include "HostCode.h"
#include "Process.h"
#include "session/Session.h"

#include <algorithm>

using namespace crsan::api;

/// Runs a body with the resolved stream.
template <typename Body>
static cudaError_t withStream(cudaStream_t Handle, Body B) {
  return enter([&](Process &P) {
    StreamRef S;
    if (cudaError_t Error = P.resolve(Handle, S); Error != cudaSuccess)
      return Error;
    return S.On->Sticky != cudaSuccess ? S.On->Sticky : B(P, S);
  });
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

static constexpr int LeastPriority = 0, GreatestPriority = -5;

CRSAN_API cudaError_t cudaDeviceGetStreamPriorityRange(int *Least,
                                                       int *Greatest) {
  if (Least)
    *Least = LeastPriority;
  if (Greatest)
    *Greatest = GreatestPriority;
  return cudaSuccess;
}

CRSAN_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *Result,
                                                   unsigned Flags,
                                                   int Priority) {
  return enterDevice([&](Process &P) {
    if (!Result || (Flags & ~unsigned(cudaStreamNonBlocking)))
      return cudaErrorInvalidValue;
    Device &D = P.current();
    auto *S = new CUstream_st;
    S->On = &D;
    S->Flags = Flags;
    S->Priority = std::clamp(Priority, GreatestPriority, LeastPriority);
    S->Handle =
        D.M.createStream((Flags & cudaStreamNonBlocking) != 0, S->Priority);
    S->Id = P.nextId();
    P.Streams.insert(S);
    P.noteStream(*S);
    *Result = S;
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *Result,
                                                unsigned Flags) {
  return cudaStreamCreateWithPriority(Result, Flags, 0);
}

CRSAN_API cudaError_t cudaStreamCreate(cudaStream_t *Result) {
  return cudaStreamCreateWithPriority(Result, cudaStreamDefault, 0);
}

CRSAN_API cudaError_t cudaStreamDestroy(cudaStream_t S) {
  return enter([&](Process &P) {
    if (!P.Streams.contains(S))
      return cudaErrorInvalidResourceHandle;
    if (P.session())
      P.session()->streamDestroyed(S->On->context(),
                                   idOf({S->On, S->Handle, S}));
    // What it was given still runs.
    S->On->M.destroyStream(S->Handle);
    P.Streams.erase(S);
    delete S;
    return cudaSuccess;
  });
}

/// Waits for a stream, for the host.
static cudaError_t waitFor(Process &P, const StreamRef &S) {
  const cudaError_t Error = P.wait(*S.On, Machine::Wait::Stream, S.Handle);
  if (Error == cudaSuccess && P.session())
    P.session()->streamDone(S.On->context(), idOf(S));
  P.noteIdle(*S.On);
  return Error;
}

static cudaError_t synchronize(cudaStream_t Handle) {
  return withStream(Handle, [](Process &P, StreamRef &S) {
    if (S.Object && S.Object->Capture)
      return cudaErrorStreamCaptureUnsupported;
    return waitFor(P, S);
  });
}
CRSAN_API cudaError_t cudaStreamSynchronize(cudaStream_t S) {
  return synchronize(S);
}
CRSAN_API cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t S) {
  return synchronize(perThread(S));
}

static cudaError_t query(cudaStream_t Handle) {
  return withStream(Handle, [](Process &P, StreamRef &S) {
    if (S.Object && S.Object->Capture)
      return cudaErrorStreamCaptureUnsupported;
    const bool IsDone = S.On->M.isDone(S.Handle);
    // Also if it is: the host may be waiting for what another stream does.
    P.runAWhile(*S.On);
    if (IsDone)
      return waitFor(P, S);
    return S.On->Sticky != cudaSuccess ? S.On->Sticky : cudaErrorNotReady;
  });
}
CRSAN_API cudaError_t cudaStreamQuery(cudaStream_t S) { return query(S); }
CRSAN_API cudaError_t cudaStreamQuery_ptsz(cudaStream_t S) {
  return query(perThread(S));
}

#define CRSAN_STREAM_GETTER(Name, Type, WhenDefault, Member)                   \
  CRSAN_API cudaError_t Name(cudaStream_t Handle, Type *Result) {              \
    return withStream(Handle, [&](Process &, StreamRef &S) {                   \
      *Result = S.Object ? static_cast<Type>(S.Object->Member)                 \
                         : static_cast<Type>(WhenDefault);                     \
      return cudaSuccess;                                                      \
    });                                                                        \
  }                                                                            \
  CRSAN_API cudaError_t Name##_ptsz(cudaStream_t Handle, Type *Result) {       \
    return Name(perThread(Handle), Result);                                    \
  }
CRSAN_STREAM_GETTER(cudaStreamGetFlags, unsigned, cudaStreamDefault, Flags)
CRSAN_STREAM_GETTER(cudaStreamGetPriority, int, 0, Priority)
CRSAN_STREAM_GETTER(cudaStreamGetId, unsigned long long, 0, Id)
#undef CRSAN_STREAM_GETTER

CRSAN_API cudaError_t cudaStreamGetDevice(cudaStream_t Handle, int *Result) {
  return withStream(Handle, [&](Process &, StreamRef &S) {
    *Result = S.On->Ordinal;
    return cudaSuccess;
  });
}
CRSAN_API cudaError_t cudaStreamGetDevice_ptsz(cudaStream_t Handle,
                                               int *Result) {
  return cudaStreamGetDevice(perThread(Handle), Result);
}

// Attributes are about performance.
CRSAN_API cudaError_t cudaStreamSetAttribute(cudaStream_t Handle,
                                             cudaStreamAttrID,
                                             const cudaStreamAttrValue *) {
  return withStream(Handle, [](Process &, StreamRef &) { return cudaSuccess; });
}
CRSAN_API cudaError_t cudaStreamSetAttribute_ptsz(cudaStream_t Handle,
                                                  cudaStreamAttrID,
                                                  const cudaStreamAttrValue *) {
  return withStream(Handle, [](Process &, StreamRef &) { return cudaSuccess; });
}
CRSAN_API cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

CRSAN_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *Result,
                                               unsigned Flags) {
  return enterDevice([&](Process &P) {
    constexpr unsigned Known =
        cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if (!Result || (Flags & ~Known))
      return cudaErrorInvalidValue;
    Device &D = P.current();
    auto *E = new CUevent_st;
    E->On = &D;
    E->Handle = D.M.createEvent();
    E->Flags = Flags;
    P.Events.insert(E);
    if (P.session())
      P.session()->ordering().of(D.context())->created(E);
    *Result = E;
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaEventCreate(cudaEvent_t *Result) {
  return cudaEventCreateWithFlags(Result, cudaEventDefault);
}

CRSAN_API cudaError_t cudaEventDestroy(cudaEvent_t E) {
  return enter([&](Process &P) {
    if (!P.Events.contains(E))
      return cudaErrorInvalidResourceHandle;
    if (P.session())
      P.session()->ordering().eventGone(E);
    E->On->M.destroyEvent(E->Handle);
    P.Events.erase(E);
    delete E;
    return cudaSuccess;
  });
}

static cudaError_t record(cudaEvent_t E, cudaStream_t Handle) {
  return withStream(Handle, [&](Process &P, StreamRef &S) {
    if (!P.Events.contains(E) || E->On != S.On)
      return cudaErrorInvalidResourceHandle;
    E->Capture = S.Object ? S.Object->Capture : nullptr;
    if (E->Capture) {
      E->Frontier = S.Object->Frontier;
      return cudaSuccess;
    }
    E->IsRecorded = true;
    S.On->M.record(E->Handle, S.Handle);
    if (P.session())
      P.session()->ordering().of(S.On->context())->recorded(E, idOf(S));
    S.On->HasPending = true;
    return cudaSuccess;
  });
}
CRSAN_API cudaError_t cudaEventRecord(cudaEvent_t E, cudaStream_t S) {
  return record(E, S);
}
CRSAN_API cudaError_t cudaEventRecord_ptsz(cudaEvent_t E, cudaStream_t S) {
  return record(E, perThread(S));
}
CRSAN_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t E, cudaStream_t S,
                                               unsigned) {
  return record(E, S);
}
CRSAN_API cudaError_t cudaEventRecordWithFlags_ptsz(cudaEvent_t E,
                                                    cudaStream_t S, unsigned) {
  return record(E, perThread(S));
}

/// Runs a body with an event that is alive and whose device has not failed.
template <typename Body> static cudaError_t withEvent(cudaEvent_t E, Body B) {
  return enter([&](Process &P) {
    if (!P.Events.contains(E))
      return cudaErrorInvalidResourceHandle;
    if (E->Capture)
      return cudaErrorCapturedEvent;
    return E->On->Sticky != cudaSuccess ? E->On->Sticky : B(P);
  });
}

/// Waits for an event, for the host.
static cudaError_t waitFor(Process &P, cudaEvent_t E) {
  const cudaError_t Error = P.wait(*E->On, Machine::Wait::Event, E->Handle);
  if (Error == cudaSuccess && P.session())
    P.session()->eventDone(E->On->context(), E);
  P.noteIdle(*E->On);
  return Error;
}

CRSAN_API cudaError_t cudaEventSynchronize(cudaEvent_t E) {
  return withEvent(E, [&](Process &P) {
    return E->IsRecorded ? waitFor(P, E) : cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaEventQuery(cudaEvent_t E) {
  return withEvent(E, [&](Process &P) {
    if (!E->IsRecorded)
      return cudaSuccess;
    if (E->On->M.isEventDone(E->Handle))
      return waitFor(P, E);
    P.runAWhile(*E->On);
    return E->On->Sticky != cudaSuccess ? E->On->Sticky : cudaErrorNotReady;
  });
}

CRSAN_API cudaError_t cudaEventElapsedTime(float *Milliseconds,
                                           cudaEvent_t Start, cudaEvent_t End) {
  return enter([&](Process &P) {
    for (cudaEvent_t E : {Start, End}) {
      if (!P.Events.contains(E) || !E->IsRecorded ||
          (E->Flags & cudaEventDisableTiming))
        return cudaErrorInvalidResourceHandle;
      if (E->On->Sticky != cudaSuccess)
        return E->On->Sticky;
      if (!E->On->M.isEventDone(E->Handle))
        return cudaErrorNotReady;
      if (P.session())
        P.session()->eventDone(E->On->context(), E);
    }
    auto From = Start->On->M.completedAt(Start->Handle);
    auto To = End->On->M.completedAt(End->Handle);
    *Milliseconds = float(
        double(int64_t(To.value_or(0)) - int64_t(From.value_or(0))) * 1e-6);
    return cudaSuccess;
  });
}

static cudaError_t waitEvent(cudaStream_t Handle, cudaEvent_t E) {
  return withStream(Handle, [&](Process &P, StreamRef &S) {
    if (!P.Events.contains(E))
      return cudaErrorInvalidResourceHandle;
    if (E->Capture) {
      // The stream joins the capture that the event belongs to.
      if (!S.Object)
        return cudaErrorStreamCaptureImplicit;
      if (!S.Object->Capture) {
        S.Object->Capture = E->Capture;
        S.Object->Frontier.clear();
      }
      for (CUgraphNode_st *Node : E->Frontier)
        if (std::find(S.Object->Frontier.begin(), S.Object->Frontier.end(),
                      Node) == S.Object->Frontier.end())
          S.Object->Frontier.push_back(Node);
      return cudaSuccess;
    }
    if (S.Object && S.Object->Capture)
      return cudaErrorStreamCaptureIsolation;
    if (!E->IsRecorded)
      return cudaSuccess;
    S.On->HasPending = true;
    if (P.session())
      P.session()->ordering().streamWaits(S.On->context(), idOf(S), E);
    if (E->On == S.On)
      S.On->M.wait(S.Handle, E->Handle);
    else
      S.On->M.wait(S.Handle, E->On->M, E->Handle);
    return cudaSuccess;
  });
}
CRSAN_API cudaError_t cudaStreamWaitEvent(cudaStream_t S, cudaEvent_t E,
                                          unsigned) {
  return waitEvent(S, E);
}
CRSAN_API cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t S, cudaEvent_t E,
                                               unsigned) {
  return waitEvent(perThread(S), E);
}

//===----------------------------------------------------------------------===//
// Host functions
//===----------------------------------------------------------------------===//

static cudaError_t launchHost(cudaStream_t Handle, cudaHostFn_t Function,
                              void *Data) {
  return withStream(Handle, [&](Process &P, StreamRef &S) {
    if (!Function)
      return cudaErrorInvalidValue;
    HostOp Op;
    Op.Name = "cudaLaunchHostFunc";
    Op.IsFunction = true;
    Op.Run = [=] {
      const InHostFunction Running;
      Function(Data);
    };
    return P.submit(S, std::move(Op), cudaGraphNodeTypeHost);
  });
}
CRSAN_API cudaError_t cudaLaunchHostFunc(cudaStream_t S, cudaHostFn_t Function,
                                         void *Data) {
  return launchHost(S, Function, Data);
}
CRSAN_API cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t S,
                                              cudaHostFn_t Function,
                                              void *Data) {
  return launchHost(perThread(S), Function, Data);
}

static cudaError_t addCallback(cudaStream_t Handle,
                               cudaStreamCallback_t Function, void *Data) {
  return withStream(Handle, [&](Process &P, StreamRef &S) {
    if (!Function)
      return cudaErrorInvalidValue;
    if (S.Object && S.Object->Capture)
      return cudaErrorStreamCaptureUnsupported;
    HostOp Op;
    Op.Name = "cudaStreamAddCallback";
    Op.IsFunction = true;
    Op.Run = [=] {
      const InHostFunction Running;
      Function(Handle, cudaSuccess, Data);
    };
    return P.submit(S, std::move(Op), cudaGraphNodeTypeHost);
  });
}
CRSAN_API cudaError_t cudaStreamAddCallback(cudaStream_t S,
                                            cudaStreamCallback_t Function,
                                            void *Data, unsigned) {
  return addCallback(S, Function, Data);
}
CRSAN_API cudaError_t cudaStreamAddCallback_ptsz(cudaStream_t S,
                                                 cudaStreamCallback_t Function,
                                                 void *Data, unsigned) {
  return addCallback(perThread(S), Function, Data);
}
