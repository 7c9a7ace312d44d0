// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices: the current one, peers, limits.

#include "Process.h"
#include "SimulatedRun.h"
#include "TensorMaps.h"
#include "common/Flags.h"
#include "session/Session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

using namespace crsan::api;

//===----------------------------------------------------------------------===//
// The current device
//===----------------------------------------------------------------------===//

CRSAN_API cudaError_t cudaGetDeviceCount(int *Count) {
  return enter([&](Process &P) {
    if (!Count)
      return cudaErrorInvalidValue;
    *Count = P.deviceCount();
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaSetDevice(int Ordinal) {
  return withDevice(Ordinal, [&](Process &, Device &D) {
    thisThread().Device = Ordinal;
    return D.Sticky;
  });
}

CRSAN_API cudaError_t cudaInitDevice(int Ordinal, unsigned, unsigned) {
  return withDevice(Ordinal, [](Process &, Device &) { return cudaSuccess; });
}

CRSAN_API cudaError_t cudaGetDevice(int *Ordinal) {
  return enter([&](Process &) {
    if (!Ordinal)
      return cudaErrorInvalidValue;
    *Ordinal = thisThread().Device;
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaSetValidDevices(int *, int) { return cudaSuccess; }

CRSAN_API cudaError_t cudaGetDeviceFlags(unsigned *Flags) {
  return enter([&](Process &P) {
    *Flags = P.current().Flags | cudaDeviceMapHost;
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaSetDeviceFlags(unsigned Flags) {
  return enter([&](Process &P) {
    if (Flags & ~unsigned(cudaDeviceMask))
      return cudaErrorInvalidValue;
    P.current().Flags = Flags;
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaDeviceSynchronize() {
  return enterDevice([](Process &P) {
    CUcontext Ctx = P.current().context();
    const uint64_t Awaited =
        P.session() ? P.session()->ordering().awaitingIdle(Ctx) : 0;
    cudaError_t Error = P.waitAll(P.current());
    if (Error == cudaSuccess && P.session())
      P.session()->becameIdle(Ctx, Awaited);
    return Error;
  });
}

CRSAN_API cudaError_t cudaDeviceReset() {
  Process &P = Process::get();
  Device &D = P.current();
  {
    std::lock_guard Lock(P);
    P.waitAll(D);
  }
  // Findings are taken before they are gone, without the lock.
  if (crsan::Session *S = P.session()) {
    S->deviceEnding(D.Ordinal);
    S->contextGone(D.context());
  }
  std::lock_guard Lock(P);
  P.resetDevice(D);
  thisThread().Last = cudaSuccess;
  return cudaSuccess;
}

//===----------------------------------------------------------------------===//
// Peers
//===----------------------------------------------------------------------===//

CRSAN_API cudaError_t cudaDeviceCanAccessPeer(int *Can, int Ordinal, int Peer) {
  return withDevice(Ordinal, [&](Process &P, Device &) {
    if (Peer < 0 || Peer >= P.deviceCount())
      return cudaErrorInvalidDevice;
    *Can = Ordinal != Peer;
    return cudaSuccess;
  });
}

/// Calls with each allocation of the peer's.
template <typename Visit> static void forEachOf(Process &P, int Peer, Visit V) {
  for (auto &[Base, A] : P.Allocations)
    // Memory of graphs is everybody's.
    if (A.What == Allocation::Kind::Device && A.Device == Peer && !A.OfGraph)
      V(A);
}

CRSAN_API cudaError_t cudaDeviceEnablePeerAccess(int Peer, unsigned Flags) {
  return enterDevice([&](Process &P) {
    Device &D = P.current();
    if (Flags)
      return cudaErrorInvalidValue;
    if (Peer < 0 || Peer >= P.deviceCount() || Peer == D.Ordinal)
      return cudaErrorInvalidDevice;
    if (!D.Peers.insert(Peer).second)
      return cudaErrorPeerAccessAlreadyEnabled;
    forEachOf(P, Peer, [&](Allocation &A) { D.M.allowRange(A.Base, A.Size); });
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaDeviceDisablePeerAccess(int Peer) {
  return enterDevice([&](Process &P) {
    Device &D = P.current();
    if (Peer < 0 || Peer >= P.deviceCount())
      return cudaErrorInvalidDevice;
    if (!D.Peers.contains(Peer))
      return cudaErrorPeerAccessNotEnabled;
    P.drain();
    D.Peers.erase(Peer);
    forEachOf(P, Peer, [&](Allocation &A) { D.M.disallowRange(A.Base); });
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaDeviceGetP2PAttribute(int *Value,
                                                cudaDeviceP2PAttr Attribute,
                                                int From, int To) {
  return withDevice(From, [&](Process &P, Device &) {
    if (To < 0 || To >= P.deviceCount() || From == To)
      return cudaErrorInvalidDevice;
    *Value = Attribute != cudaDevP2PAttrPerformanceRank;
    return cudaSuccess;
  });
}

//===----------------------------------------------------------------------===//
// Limits and preferences
//===----------------------------------------------------------------------===//

CRSAN_API cudaError_t cudaDeviceSetLimit(cudaLimit Limit, size_t Value) {
  return enterDevice([&](Process &P) {
    P.current().Limits[Limit] = Value;
    return cudaSuccess;
  });
}

CRSAN_API cudaError_t cudaDeviceGetLimit(size_t *Value, cudaLimit Limit) {
  return enterDevice([&](Process &P) {
    auto Set = P.current().Limits.find(Limit);
    if (Set != P.current().Limits.end()) {
      *Value = Set->second;
      return cudaSuccess;
    }
    switch (int(Limit)) {
    case cudaLimitStackSize:
      *Value = 1024;
      return cudaSuccess;
    case cudaLimitPrintfFifoSize:
      *Value = 7 << 20;
      return cudaSuccess;
    case cudaLimitMallocHeapSize:
      *Value = 8 << 20;
      return cudaSuccess;
    case cudaLimitMaxL2FetchGranularity:
      *Value = 64;
      return cudaSuccess;
    case cudaLimitDevRuntimeSyncDepth:
    case cudaLimitDevRuntimePendingLaunchCount:
    case cudaLimitPersistingL2CacheSize:
      *Value = 0;
      return cudaSuccess;
    default:
      return cudaErrorUnsupportedLimit;
    }
  });
}

CRSAN_API cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache *Config) {
  *Config = cudaFuncCachePreferNone;
  return cudaSuccess;
}
CRSAN_API cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  return cudaSuccess;
}
CRSAN_API cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *C) {
  *C = cudaSharedMemBankSizeFourByte;
  return cudaSuccess;
}
CRSAN_API cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return cudaSuccess;
}

//===----------------------------------------------------------------------===//
// Versions, tools
//===----------------------------------------------------------------------===//

CRSAN_API cudaError_t cudaDriverGetVersion(int *Version) {
  *Version = CUDART_VERSION;
  return cudaSuccess;
}
CRSAN_API cudaError_t cudaRuntimeGetVersion(int *Version) {
  *Version = CUDART_VERSION;
  return cudaSuccess;
}
CRSAN_API cudaError_t cudaProfilerStart() { return cudaSuccess; }
CRSAN_API cudaError_t cudaProfilerStop() { return cudaSuccess; }

// There is no driver below: nothing is found but what makes tensor maps, as
// CUDA says it of an unknown name.
static cudaError_t findEntryPoint(const char *Symbol, void **Function,
                                  cudaDriverEntryPointQueryResult *Status) {
  *Function = tensorFunction(Symbol);
  if (*Function) {
    if (Status)
      *Status = cudaDriverEntryPointSuccess;
    return cudaSuccess;
  }
  if (Status)
    *Status = cudaDriverEntryPointSymbolNotFound;
  return thisThread().Last = cudaErrorSymbolNotFound;
}

#define CRSAN_ENTRY_POINT(Name, ...)                                           \
  CRSAN_API cudaError_t Name(const char *Symbol, void **Function,              \
                             __VA_ARGS__ unsigned long long,                   \
                             cudaDriverEntryPointQueryResult *Status) {        \
    return findEntryPoint(Symbol, Function, Status);                           \
  }
CRSAN_ENTRY_POINT(cudaGetDriverEntryPoint)
CRSAN_ENTRY_POINT(cudaGetDriverEntryPoint_ptsz)
CRSAN_ENTRY_POINT(cudaGetDriverEntryPointByVersion, unsigned, )
CRSAN_ENTRY_POINT(cudaGetDriverEntryPointByVersion_ptsz, unsigned, )
#undef CRSAN_ENTRY_POINT
