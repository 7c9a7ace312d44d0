// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Streams that are captured into graphs.

#include "GraphMemory.h"
#include "session/Session.h"

#include <algorithm>
#include <unordered_map>

using namespace crsan::api;

static cudaError_t beginCapture(cudaStream_t Handle) {
  return enterDevice([&](Process &P) {
    StreamRef S;
    if (cudaError_t Error = P.resolve(Handle, S); Error != cudaSuccess)
      return Error;
    if (!S.Object)
      return cudaErrorStreamCaptureUnsupported; // The legacy stream.
    if (S.Object->Capture)
      return cudaErrorIllegalState;
    // What is captured is no launch.
    if (P.session())
      P.session()->ordering().lose();
    S.Object->Capture = new CUgraph_st;
    S.Object->BeganCapture = true;
    S.Object->Frontier.clear();
    return cudaSuccess;
  });
}
CRSAN_API cudaError_t cudaStreamBeginCapture(cudaStream_t S,
                                             cudaStreamCaptureMode) {
  return beginCapture(S);
}
CRSAN_API cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t S,
                                                  cudaStreamCaptureMode) {
  return beginCapture(perThread(S));
}

/// Whether a stream that joined the capture has work that nobody waits for.
static bool isUnjoined(const CUgraph_st &G, const CUstream_st &Origin) {
  std::set<const CUgraphNode_st *> Joined(Origin.Frontier.begin(),
                                          Origin.Frontier.end());
  // Nodes come after what they wait for.
  for (auto Node = G.Nodes.rbegin(); Node != G.Nodes.rend(); ++Node) {
    if (!Joined.contains(&*Node))
      return true;
    Joined.insert(Node->After.begin(), Node->After.end());
  }
  return false;
}

static cudaError_t endCapture(cudaStream_t Handle, cudaGraph_t *Result) {
  return enter([&](Process &P) {
    StreamRef S;
    if (cudaError_t Error = P.resolve(Handle, S); Error != cudaSuccess)
      return Error;
    *Result = nullptr;
    if (!S.Object || !S.Object->Capture)
      return cudaErrorIllegalState;
    if (!S.Object->BeganCapture)
      return cudaErrorStreamCaptureUnmatched;
    CUgraph_st *G = S.Object->Capture;
    bool Unjoined = isUnjoined(*G, *S.Object);
    for (CUstream_st *Other : P.Streams)
      if (Other->Capture == G) {
        Other->Capture = nullptr;
        Other->BeganCapture = false;
        Other->Frontier.clear();
      }
    for (CUevent_st *E : P.Events)
      if (E->Capture == G) {
        E->Capture = nullptr;
        E->IsRecorded = false;
        E->Frontier.clear();
      }
    if (Unjoined) {
      deleteGraph(P, G);
      return cudaErrorStreamCaptureUnjoined;
    }
    P.Graphs.insert(G);
    *Result = G;
    return cudaSuccess;
  });
}
CRSAN_API cudaError_t cudaStreamEndCapture(cudaStream_t S,
                                           cudaGraph_t *Result) {
  return endCapture(S, Result);
}
CRSAN_API cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t S,
                                                cudaGraph_t *Result) {
  return endCapture(perThread(S), Result);
}

static cudaError_t captureInfo(cudaStream_t Handle,
                               cudaStreamCaptureStatus *Status,
                               unsigned long long *Id, cudaGraph_t *Graph) {
  return enter([&](Process &P) {
    StreamRef S;
    if (cudaError_t Error = P.resolve(Handle, S); Error != cudaSuccess)
      return Error;
    CUgraph_st *G = S.Object ? S.Object->Capture : nullptr;
    *Status = G ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    if (Id)
      *Id = G ? S.Object->Id : 0;
    if (Graph)
      *Graph = G;
    return cudaSuccess;
  });
}
CRSAN_API cudaError_t cudaStreamIsCapturing(cudaStream_t S,
                                            cudaStreamCaptureStatus *Status) {
  return captureInfo(S, Status, nullptr, nullptr);
}
CRSAN_API cudaError_t
cudaStreamIsCapturing_ptsz(cudaStream_t S, cudaStreamCaptureStatus *Status) {
  return captureInfo(perThread(S), Status, nullptr, nullptr);
}
CRSAN_API cudaError_t cudaStreamGetCaptureInfo(
    cudaStream_t S, cudaStreamCaptureStatus *Status, unsigned long long *Id,
    cudaGraph_t *Graph, const cudaGraphNode_t **Dependencies,
    const cudaGraphEdgeData **Edges, size_t *Count) {
  if (Dependencies || Edges || Count)
    CRSAN_UNSUPPORTED("cudaStreamGetCaptureInfo with dependencies");
  return captureInfo(S, Status, Id, Graph);
}
CRSAN_API cudaError_t cudaStreamGetCaptureInfo_ptsz(
    cudaStream_t S, cudaStreamCaptureStatus *Status, unsigned long long *Id,
    cudaGraph_t *Graph, const cudaGraphNode_t **Dependencies,
    const cudaGraphEdgeData **Edges, size_t *Count) {
  if (Dependencies || Edges || Count)
    CRSAN_UNSUPPORTED("cudaStreamGetCaptureInfo with dependencies");
  return captureInfo(perThread(S), Status, Id, Graph);
}

CRSAN_API cudaError_t
cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *Mode) {
  std::swap(*Mode, thisThread().CaptureMode);
  return cudaSuccess;
}
