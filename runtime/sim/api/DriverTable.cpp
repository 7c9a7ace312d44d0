// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver that the session sees.

#include "DriverTable.h"

#include "Process.h"
#include "SimulatedRun.h"
#include "common/Driver.h"
#include "common/Log.h"
#include "image/ProgramCode.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>

#include <sys/mman.h>

namespace crsan::api {

/// The context that the session has made current on this thread.
static thread_local std::vector<Device *> Pushed;

static Device &currentDevice() {
  return Pushed.empty() ? Process::get().current() : *Pushed.back();
}

static CUresult getErrorName(CUresult Error, const char **Name) {
  // The session prints no others.
  switch (int(Error)) {
#define CRSAN_ERROR(Code, Text)                                                \
  case Code:                                                                   \
    *Name = Text;                                                              \
    return CUDA_SUCCESS;
    CRSAN_ERROR(CUDA_SUCCESS, "CUDA_SUCCESS")
    CRSAN_ERROR(CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE")
    CRSAN_ERROR(CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY")
    CRSAN_ERROR(CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND")
    CRSAN_ERROR(CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU")
    CRSAN_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS")
    CRSAN_ERROR(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES")
    CRSAN_ERROR(CUDA_ERROR_LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT")
    CRSAN_ERROR(CUDA_ERROR_ASSERT, "CUDA_ERROR_ASSERT")
    CRSAN_ERROR(CUDA_ERROR_MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS")
    CRSAN_ERROR(CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED")
    CRSAN_ERROR(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE")
#undef CRSAN_ERROR
  default:
    // Those of the runtime alone have a name too.
    *Name = cudaGetErrorName(cudaError_t(Error));
    return CUDA_SUCCESS;
  }
}

static CUresult getErrorString(CUresult Error, const char **Text) {
  *Text = cudaGetErrorString(cudaError_t(Error));
  return CUDA_SUCCESS;
}

static CUresult ctxGetCurrent(CUcontext *Ctx) {
  *Ctx = currentDevice().context();
  return CUDA_SUCCESS;
}

static CUresult ctxPushCurrent(CUcontext Ctx) {
  Pushed.push_back(Device::of(Ctx));
  return CUDA_SUCCESS;
}

static CUresult ctxPopCurrent(CUcontext *Ctx) {
  *Ctx = Pushed.back()->context();
  Pushed.pop_back();
  return CUDA_SUCCESS;
}

static CUresult ctxGetDevice(CUdevice *D) {
  *D = currentDevice().Ordinal;
  return CUDA_SUCCESS;
}

static CUresult ctxSynchronize() {
  Process &P = Process::get();
  std::lock_guard Lock(P);
  return CUresult(P.waitAll(currentDevice()));
}

static CUresult deviceGetAttribute(int *Value, CUdevice_attribute Attribute,
                                   CUdevice D) {
  return CUresult(cudaDeviceGetAttribute(Value, cudaDeviceAttr(Attribute), D));
}

static CUresult primaryCtxGetState(CUdevice, unsigned *Flags, int *Active) {
  *Flags = 0;
  *Active = 1;
  return CUDA_SUCCESS;
}

static CUresult exchangeCaptureMode(CUstreamCaptureMode *) {
  return CUDA_SUCCESS;
}

static CUresult memAlloc(CUdeviceptr *Address, size_t Size) {
  Process &P = Process::get();
  std::lock_guard Lock(P);
  *Address = CUdeviceptr(P.mapForSession(currentDevice(), Size));
  return *Address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult memFree(CUdeviceptr Address) {
  Process &P = Process::get();
  std::lock_guard Lock(P);
  P.unmapForSession(currentDevice(), reinterpret_cast<void *>(Address));
  return CUDA_SUCCESS;
}

static CUresult memHostRegister(void *Base, size_t Size, unsigned) {
  Process &P = Process::get();
  std::lock_guard Lock(P);
  currentDevice().M.allowRange(Base, Size);
  return CUDA_SUCCESS;
}

static CUresult memHostGetDevicePointer(CUdeviceptr *Address, void *Base,
                                        unsigned) {
  *Address = CUdeviceptr(Base);
  return CUDA_SUCCESS;
}

// The session copies to memory of its own, or after it has waited for the
// kernels: at once is in order.

static CUresult memsetD8(CUdeviceptr Where, unsigned char Value, size_t Size,
                         CUstream) {
  constexpr CUdeviceptr PageSize = 4096;
  CUdeviceptr End = Where + Size, First = (Where + PageSize - 1) & -PageSize;
  if (Value == 0 && End >= First + PageSize) {
    // Dropped pages come back as zeros if they are ever touched: most of what
    // is cleared is not.
    CUdeviceptr Last = End & -PageSize;
    if (madvise(reinterpret_cast<void *>(First), Last - First, MADV_DONTNEED))
      return CUDA_ERROR_INVALID_VALUE;
    std::memset(reinterpret_cast<void *>(Where), 0, First - Where);
    Where = Last;
  }
  std::memset(reinterpret_cast<void *>(Where), Value, End - Where);
  return CUDA_SUCCESS;
}

static CUresult memsetD16(CUdeviceptr Where, unsigned short Value,
                          size_t Number, CUstream) {
  std::fill_n(reinterpret_cast<unsigned short *>(Where), Number, Value);
  return CUDA_SUCCESS;
}

static CUresult memcpyHtoD(CUdeviceptr To, const void *From, size_t Size,
                           CUstream) {
  std::memcpy(reinterpret_cast<void *>(To), From, Size);
  return CUDA_SUCCESS;
}

static CUresult memcpyDtoH(void *To, CUdeviceptr From, size_t Size, CUstream) {
  std::memcpy(To, reinterpret_cast<const void *>(From), Size);
  return CUDA_SUCCESS;
}

static CUresult streamCreate(CUstream *S, unsigned) {
  *S = &currentDevice().Own;
  return CUDA_SUCCESS;
}

static CUresult streamSynchronize(CUstream) { return CUDA_SUCCESS; }

static Stream handleOf(CUstream S) {
  Device &D = currentDevice();
  if (S == &D.Own && !S->Handle)
    S->Handle = D.M.createStream(/*NonBlocking=*/true, /*Priority=*/0);
  return S ? S->Handle : Stream(0);
}

/// Gives a stream of the program's something to do that observers are not told
/// of.
static void enqueueOwn(CUstream S, std::function<void()> Run,
                       std::function<bool()> Ready = nullptr) {
  HostOp Op;
  Op.Name = "__crsan_own";
  Op.Ready = std::move(Ready);
  Op.Run = std::move(Run);
  currentDevice().M.enqueue(handleOf(S), std::move(Op));
}

static CUresult streamWriteValue(CUstream S, CUdeviceptr Where,
                                 cuuint32_t Value, unsigned) {
  Process &P = Process::get();
  std::lock_guard Lock(P);
  enqueueOwn(S, [=] {
    __atomic_store_n(reinterpret_cast<cuuint32_t *>(Where), Value,
                     __ATOMIC_RELEASE);
  });
  return CUDA_SUCCESS;
}

static CUresult streamIsCapturing(CUstream S, CUstreamCaptureStatus *Status) {
  *Status = S && S->Capture ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                            : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Events of the session's
//===----------------------------------------------------------------------===//

namespace {
/// What a CUevent of the session's is: it knows whether its last record was
/// reached. Observers are not told of it.
struct OwnEvent {
  std::shared_ptr<std::atomic<bool>> Reached;
};
} // namespace

static CUresult eventCreate(CUevent *Event, unsigned) {
  *Event = reinterpret_cast<CUevent>(new OwnEvent);
  return CUDA_SUCCESS;
}

static CUresult eventDestroy(CUevent Event) {
  delete reinterpret_cast<OwnEvent *>(Event);
  return CUDA_SUCCESS;
}

static CUresult eventRecord(CUevent Event, CUstream S) {
  Process &P = Process::get();
  std::lock_guard Lock(P);
  auto Reached = std::make_shared<std::atomic<bool>>(false);
  reinterpret_cast<OwnEvent *>(Event)->Reached = Reached;
  enqueueOwn(S, [Reached] { *Reached = true; });
  return CUDA_SUCCESS;
}

static CUresult eventQuery(CUevent Event) {
  const auto &Reached = reinterpret_cast<OwnEvent *>(Event)->Reached;
  return Reached && !*Reached ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

static CUresult streamWaitEvent(CUstream S, CUevent Event, unsigned) {
  Process &P = Process::get();
  std::lock_guard Lock(P);
  if (auto Reached = reinterpret_cast<OwnEvent *>(Event)->Reached)
    enqueueOwn(S, nullptr, [Reached] { return Reached->load(); });
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// A module of the session's
//===----------------------------------------------------------------------===//

namespace {
/// What a CUmodule is: code that the program does not have.
struct OwnModule {
  Device *On;
  ModuleId Id;
};
} // namespace

static CUresult moduleLoadData(CUmodule *Module, const void *Code) {
  Process &P = Process::get();
  std::lock_guard Lock(P);
  Device &D = currentDevice();
  auto Found = findPTX(Code, Architecture);
  auto *PTX = std::get_if<std::vector<std::string>>(&Found);
  if (!PTX)
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  auto Loaded = D.M.load(*PTX, "__crsan_own");
  const auto *Id = std::get_if<ModuleId>(&Loaded);
  if (!Id) {
    theLog().detail(2, "CRSan's own code: {}", std::get<std::string>(Loaded));
    return CUDA_ERROR_INVALID_PTX;
  }
  if (OracleDetector *Oracle = P.run().oracle())
    for (const HostRange &Range : D.M.storage(*Id))
      Oracle->ignore(D.Ordinal, Range.Begin, Range.Size);
  *Module = reinterpret_cast<CUmodule>(new OwnModule{&D, *Id});
  return CUDA_SUCCESS;
}

static CUresult moduleGetGlobal(CUdeviceptr *Address, size_t *Size,
                                CUmodule Module, const char *Name) {
  const auto &M = *reinterpret_cast<OwnModule *>(Module);
  std::optional<Symbol> Found = M.On->M.findSymbol(M.Id, Name);
  if (!Found)
    return CUDA_ERROR_NOT_FOUND;
  *Address = CUdeviceptr(Found->Address);
  *Size = Found->Size;
  return CUDA_SUCCESS;
}

/// A CUfunction is a KernelInfo.
static CUresult moduleGetFunction(CUfunction *Kernel, CUmodule Module,
                                  const char *Name) {
  const auto &M = *reinterpret_cast<OwnModule *>(Module);
  const KernelInfo *Info = M.On->M.findKernel(M.Id, Name);
  *Kernel = reinterpret_cast<CUfunction>(const_cast<KernelInfo *>(Info));
  return Info ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

static CUresult launchKernel(CUfunction Kernel, unsigned GridX, unsigned GridY,
                             unsigned GridZ, unsigned BlockX, unsigned BlockY,
                             unsigned BlockZ, unsigned Shared, CUstream S,
                             void **Arguments, void **) {
  Process &P = Process::get();
  std::lock_guard Lock(P);
  Launch L;
  L.Kernel = reinterpret_cast<const KernelInfo *>(Kernel);
  L.Grid = {GridX, GridY, GridZ};
  L.Block = {BlockX, BlockY, BlockZ};
  L.DynamicShared = Shared;
  L.Params.assign(L.Kernel->ParamBytes, 0);
  for (size_t I = 0; I < L.Kernel->Params.size(); ++I)
    std::memcpy(L.Params.data() + L.Kernel->Params[I].Offset, Arguments[I],
                L.Kernel->Params[I].Size);
  currentDevice().M.launch(handleOf(S), std::move(L));
  return CUDA_SUCCESS;
}

static CUresult libraryGetGlobal(CUdeviceptr *Address, size_t *Size,
                                 CUlibrary Library, const char *Name) {
  Process &P = Process::get();
  std::lock_guard Lock(P);
  Device &D = currentDevice();
  cudaError_t Error = cudaSuccess;
  ModuleId Id = P.loadOn(*Library, D, Error);
  if (!Id)
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  std::optional<Symbol> Found = D.M.findSymbol(Id, Name);
  if (!Found)
    return CUDA_ERROR_NOT_FOUND;
  *Address = CUdeviceptr(Found->Address);
  *Size = Found->Size;
  return CUDA_SUCCESS;
}

void fillDriverTable(Process &) {
  Driver &D = theDriver();
  D.cuGetErrorName = getErrorName;
  D.cuGetErrorString = getErrorString;
  D.cuCtxGetCurrent = ctxGetCurrent;
  D.cuCtxPushCurrent = ctxPushCurrent;
  D.cuCtxPopCurrent = ctxPopCurrent;
  D.cuCtxGetDevice = ctxGetDevice;
  D.cuCtxSynchronize = ctxSynchronize;
  D.cuDeviceGetAttribute = deviceGetAttribute;
  D.cuDevicePrimaryCtxGetState = primaryCtxGetState;
  D.cuThreadExchangeStreamCaptureMode = exchangeCaptureMode;
  D.cuMemAlloc = memAlloc;
  D.cuMemFree = memFree;
  D.cuMemHostRegister = memHostRegister;
  D.cuMemHostGetDevicePointer = memHostGetDevicePointer;
  D.cuMemsetD8Async = memsetD8;
  D.cuMemsetD16Async = memsetD16;
  D.cuMemcpyHtoDAsync = memcpyHtoD;
  D.cuMemcpyDtoHAsync = memcpyDtoH;
  D.cuStreamCreate = streamCreate;
  D.cuStreamSynchronize = streamSynchronize;
  D.cuStreamWriteValue32 = streamWriteValue;
  D.cuStreamIsCapturing = streamIsCapturing;
  D.cuStreamWaitEvent = streamWaitEvent;
  D.cuEventCreate = eventCreate;
  D.cuEventRecord = eventRecord;
  D.cuEventQuery = eventQuery;
  D.cuEventDestroy = eventDestroy;
  D.cuModuleLoadData = moduleLoadData;
  D.cuModuleGetGlobal = moduleGetGlobal;
  D.cuModuleGetFunction = moduleGetFunction;
  D.cuLaunchKernel = launchKernel;
  D.cuLibraryGetGlobal = libraryGetGlobal;
}

} // namespace crsan::api
