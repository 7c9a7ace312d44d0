// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A driver and CUPTI without a GPU.
//
// Just enough of libcuda.so.1, libcupti.so.13 and libcudart.so (one file,
// linked under either name) to run the injection library through a program's
// life where there is no GPU. Device memory is host memory; a "kernel" is a
// FakeKernel, whose races are written by the launch itself.

#include "FakeDriver.h"

#include "crsan/abi/Config.h"
#include "crsan/abi/Metadata.h"
#include "crsan/abi/Names.h"
#include "crsan/abi/SiteTable.h"

#include <cuda_runtime_api.h>
#include <cupti.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace crsan;

#define API extern "C" __attribute__((visibility("default"))) CUresult
#define CUPTI extern "C" __attribute__((visibility("default"))) CUptiResult
#define RUNTIME extern "C" __attribute__((visibility("default"))) cudaError_t

namespace {
struct FakeLibrary {
  const FakeImage *Image = nullptr;
  bool IsShown = false;
  std::map<std::string, std::vector<uint64_t>> Globals;
};

struct State {
  CUpti_CallbackFunc Callback = nullptr;
  void *User = nullptr;
  std::set<uint32_t> Told; ///< The driver's calls.
  CUresult Sticky = CUDA_SUCCESS;
  bool Hangs = false;
  bool FailsFrees = false;
  void (*DuringNextFree)() = nullptr, (*DuringNextSync)() = nullptr;
  unsigned Uid = 1;
};

/// Raises enter now and exit with the result when told to.
class Call {
public:
  Call(uint32_t Id, const char *Name, const void *Params,
       const char *Symbol = nullptr);
  CUresult done(CUresult Result);

private:
  void tell();

  uint32_t Id;
  CUpti_CallbackData Data{};
  uint64_t Correlation = 0;
};
} // namespace

static State S;
static thread_local CUcontext Current = nullptr;

Call::Call(uint32_t Id, const char *Name, const void *Params,
           const char *Symbol)
    : Id(Id) {
  Data.callbackSite = CUPTI_API_ENTER;
  Data.functionName = Name;
  Data.functionParams = Params;
  Data.symbolName = Symbol;
  Data.context = Current;
  Data.contextUid = S.Uid;
  Data.correlationData = &Correlation;
  tell();
}

void Call::tell() {
  if (S.Callback && S.Told.contains(Id))
    S.Callback(S.User, CUPTI_CB_DOMAIN_DRIVER_API, Id, &Data);
}

CUresult Call::done(CUresult Result) {
  Data.callbackSite = CUPTI_API_EXIT;
  Data.functionReturnValue = &Result;
  tell();
  return Result;
}

#define CALL(Name, Params, ...)                                                \
  Call TheCall(CUPTI_DRIVER_TRACE_CBID_##Name, #Name, Params, ##__VA_ARGS__)

// CUPTI.

CUPTI cuptiSubscribe(CUpti_SubscriberHandle *Handle, CUpti_CallbackFunc F,
                     void *User) {
  if (getenv("FAKE_BUSY"))
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  *Handle = reinterpret_cast<CUpti_SubscriberHandle>(&S);
  S.Callback = F;
  S.User = User;
  return CUPTI_SUCCESS;
}
CUPTI cuptiEnableCallback(uint32_t Enable, CUpti_SubscriberHandle,
                          CUpti_CallbackDomain Domain, CUpti_CallbackId Id) {
  if (Domain == CUPTI_CB_DOMAIN_DRIVER_API && Enable)
    S.Told.insert(Id);
  return CUPTI_SUCCESS;
}
extern "C" bool fakeTellsOfRecords() {
  return S.Told.contains(CUPTI_DRIVER_TRACE_CBID_cuEventRecord);
}
CUPTI cuptiGetResultString(CUptiResult, const char **Text) {
  *Text = "a fake error";
  return CUPTI_SUCCESS;
}

// The driver.

static bool IsInitialised = false;

API cuInit(unsigned) {
  if (getenv("FAKE_NO_DEVICE"))
    return CUDA_ERROR_NO_DEVICE;
  IsInitialised = true;
  // As CUDA does it: a debugger leaves no room for CUPTI.
  const char *Path =
      getenv("FAKE_DEBUGGER") ? nullptr : getenv("CUDA_INJECTION64_PATH");
  void *Library = Path ? dlopen(Path, RTLD_NOW) : nullptr;
  if (Library)
    if (auto F =
            reinterpret_cast<int (*)()>(dlsym(Library, "InitializeInjection")))
      F();
  return CUDA_SUCCESS;
}
API cuDeviceGetCount(int *Count) {
  *Count = 1;
  return IsInitialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}
API cuGetErrorName(CUresult Result, const char **Name) {
  *Name = Result == CUDA_SUCCESS                 ? "CUDA_SUCCESS"
          : Result == CUDA_ERROR_ASSERT          ? "CUDA_ERROR_ASSERT"
          : Result == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : Result == CUDA_ERROR_NO_DEVICE       ? "CUDA_ERROR_NO_DEVICE"
          : Result == CUDA_ERROR_NOT_FOUND       ? "CUDA_ERROR_NOT_FOUND"
          : Result == CUDA_ERROR_INVALID_VALUE   ? "CUDA_ERROR_INVALID_VALUE"
                                                 : "CUDA_ERROR_UNKNOWN";
  return CUDA_SUCCESS;
}
API cuGetErrorString(CUresult Result, const char **Text) {
  *Text = Result == CUDA_ERROR_NO_DEVICE ? "no CUDA-capable device is detected"
                                         : "an error";
  return CUDA_SUCCESS;
}
API fakeCreateContext() {
  static int Contexts[16];
  static int Next = 0;
  Current = reinterpret_cast<CUcontext>(&Contexts[Next++]);
  S.Sticky = CUDA_SUCCESS;
  return CUDA_SUCCESS;
}
API cuCtxGetCurrent(CUcontext *C) {
  *C = Current;
  return CUDA_SUCCESS;
}
static thread_local std::vector<CUcontext> Stack;
API cuCtxPushCurrent_v2(CUcontext C) {
  Stack.push_back(Current);
  Current = C;
  return CUDA_SUCCESS;
}
API cuCtxPopCurrent_v2(CUcontext *C) {
  *C = Current;
  Current = Stack.back();
  Stack.pop_back();
  return CUDA_SUCCESS;
}
API cuCtxGetDevice(CUdevice *D) {
  *D = 0;
  return CUDA_SUCCESS;
}
API cuCtxSynchronize() {
  CALL(cuCtxSynchronize, nullptr);
  while (S.Hangs)
    pause();
  if (void (*Action)() = std::exchange(S.DuringNextSync, nullptr))
    Action();
  return TheCall.done(S.Sticky);
}
API cuDeviceGetAttribute(int *Value, CUdevice_attribute Which,
                         CUdevice Device) {
  if (Device != 0)
    return CUDA_ERROR_INVALID_DEVICE;
  switch (Which) {
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    *Value = getenv("FAKE_OLD_DEVICE") ? 6 : 9;
    break;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    *Value = 132;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
    *Value = 2048;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
    *Value = 32;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
    *Value = 65536;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
    *Value = 233472;
    break;
  case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
    *Value = 1024;
    break;
  default:
    *Value = 0;
  }
  return CUDA_SUCCESS;
}
API cuFuncGetAttribute(int *Value, CUfunction_attribute Which, CUfunction F) {
  *Value = Which == CU_FUNC_ATTRIBUTE_NUM_REGS
               ? reinterpret_cast<FakeKernel *>(F)->Registers
               : 0;
  return getenv("FAKE_KERNELS_ONLY") ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}
API cuKernelGetAttribute(int *Value, CUfunction_attribute Which, CUkernel K,
                         CUdevice) {
  *Value = Which == CU_FUNC_ATTRIBUTE_NUM_REGS
               ? reinterpret_cast<FakeKernel *>(K)->Registers
               : 0;
  return CUDA_SUCCESS;
}
API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *Blocks, CUfunction F,
                                                int Threads, size_t) {
  if (getenv("FAKE_NO_OCCUPANCY"))
    return CUDA_ERROR_INVALID_VALUE;
  int Registers = reinterpret_cast<FakeKernel *>(F)->Registers;
  *Blocks = std::min(2048, 65536 / Registers) / Threads;
  return CUDA_SUCCESS;
}
API cuDevicePrimaryCtxGetState(CUdevice, unsigned *, int *) {
  return CUDA_SUCCESS;
}
API cuDevicePrimaryCtxReset_v2(CUdevice D) {
  cuDevicePrimaryCtxReset_v2_params P{D};
  CALL(cuDevicePrimaryCtxReset_v2, &P);
  CUpti_ResourceData R{};
  R.context = Current;
  if (S.Callback)
    S.Callback(S.User, CUPTI_CB_DOMAIN_RESOURCE,
               CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, &R);
  ++S.Uid;
  return TheCall.done(CUDA_SUCCESS);
}
API cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *) {
  return CUDA_SUCCESS;
}
/// In pages of its own, and only there where it is touched.
static CUdeviceptr allocate(size_t Size) {
  constexpr CUdeviceptr Page = abi::PageBytes;
  void *Base = mmap(nullptr, Size + Page, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return (reinterpret_cast<CUdeviceptr>(Base) + Page - 1) & -Page;
}
API cuMemAlloc_v2(CUdeviceptr *P, size_t Size) {
  cuMemAlloc_v2_params Params{P, Size};
  CALL(cuMemAlloc_v2, &Params);
  const char *Limit = getenv("FAKE_MEMORY"); // Bytes that one may have.
  if (Limit && Size > strtoull(Limit, nullptr, 0))
    return TheCall.done(CUDA_ERROR_OUT_OF_MEMORY);
  *P = allocate(Size);
  return TheCall.done(CUDA_SUCCESS);
}
extern "C" __attribute__((visibility("default"))) void
fakeDuringNextFree(void (*Action)()) {
  S.DuringNextFree = Action;
}
extern "C" __attribute__((visibility("default"))) void
fakeDuringNextSync(void (*Action)()) {
  S.DuringNextSync = Action;
}
extern "C" __attribute__((visibility("default"))) void fakeFailFrees() {
  S.FailsFrees = true;
}
/// What happens in a call that frees memory.
static CUresult release() {
  if (S.FailsFrees)
    return CUDA_ERROR_INVALID_VALUE;
  if (void (*Action)() = std::exchange(S.DuringNextFree, nullptr))
    Action();
  return CUDA_SUCCESS;
}
API cuMemFree_v2(CUdeviceptr P) {
  cuMemFree_v2_params Params{P};
  CALL(cuMemFree_v2, &Params);
  return TheCall.done(release());
}
API cuMemMap(CUdeviceptr P, size_t Size, size_t Offset,
             CUmemGenericAllocationHandle Handle, unsigned long long Flags) {
  cuMemMap_params Params{P, Size, Offset, Handle, Flags};
  CALL(cuMemMap, &Params);
  return TheCall.done(CUDA_SUCCESS);
}
API cuMemUnmap(CUdeviceptr P, size_t Size) {
  cuMemUnmap_params Params{P, Size};
  CALL(cuMemUnmap, &Params);
  return TheCall.done(release());
}
API cuMemAllocManaged(CUdeviceptr *P, size_t Size, unsigned Flags) {
  cuMemAllocManaged_params Params{P, Size, Flags};
  CALL(cuMemAllocManaged, &Params);
  *P = allocate(Size);
  return TheCall.done(CUDA_SUCCESS);
}
API cuMemAllocAsync(CUdeviceptr *P, size_t Size, CUstream Stream) {
  cuMemAllocAsync_params Params{P, Size, Stream};
  CALL(cuMemAllocAsync, &Params);
  *P = allocate(Size);
  return TheCall.done(CUDA_SUCCESS);
}
API cuGraphAddNode_v2(CUgraphNode *Node, CUgraph Graph,
                      const CUgraphNode *After, const CUgraphEdgeData *Edges,
                      size_t Count, CUgraphNodeParams *What) {
  cuGraphAddNode_v2_params Params{Node, Graph, After, Edges, Count, What};
  CALL(cuGraphAddNode_v2, &Params);
  if (What->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
    What->alloc.dptr = allocate(What->alloc.bytesize);
  return TheCall.done(CUDA_SUCCESS);
}
API cuMemFreeAsync(CUdeviceptr P, CUstream Stream) {
  cuMemFreeAsync_params Params{P, Stream};
  CALL(cuMemFreeAsync, &Params);
  return TheCall.done(release());
}
API cuMemHostRegister_v2(void *, size_t, unsigned) { return S.Sticky; }
API cuMemHostGetDevicePointer_v2(CUdeviceptr *P, void *H, unsigned) {
  *P = reinterpret_cast<CUdeviceptr>(H);
  return CUDA_SUCCESS;
}
API cuMemsetD8Async(CUdeviceptr P, unsigned char V, size_t N, CUstream) {
  // Tables are long and hardly used.
  if (V != 0 || P % 4096 != 0 ||
      madvise(reinterpret_cast<void *>(P), N, MADV_DONTNEED) != 0)
    memset(reinterpret_cast<void *>(P), V, N);
  return CUDA_SUCCESS;
}
API cuMemsetD16Async(CUdeviceptr P, unsigned short V, size_t N, CUstream) {
  for (size_t I = 0; I < N; ++I)
    reinterpret_cast<unsigned short *>(P)[I] = V;
  return CUDA_SUCCESS;
}
API cuMemcpyHtoDAsync_v2(CUdeviceptr P, const void *H, size_t N, CUstream) {
  memcpy(reinterpret_cast<void *>(P), H, N);
  return CUDA_SUCCESS;
}
API cuMemcpyDtoHAsync_v2(void *H, CUdeviceptr P, size_t N, CUstream) {
  memcpy(H, reinterpret_cast<void *>(P), N);
  return S.Sticky;
}
API cuStreamCreate(CUstream *, unsigned) { return CUDA_SUCCESS; }
API cuStreamSynchronize(CUstream) { return S.Sticky; }

/// As with lazy loading: CUPTI sees the image when something of it is used.
static void show(FakeLibrary &L) {
  if (L.IsShown || getenv("FAKE_NO_IMAGES"))
    return;
  L.IsShown = true;
  CUpti_ModuleResourceData M{};
  M.cubinSize = L.Image->Size;
  M.pCubin = static_cast<const char *>(L.Image->Cubin);
  CUpti_ResourceData R{};
  R.context = Current;
  R.resourceDescriptor = &M;
  if (S.Callback)
    S.Callback(S.User, CUPTI_CB_DOMAIN_RESOURCE,
               CUPTI_CBID_RESOURCE_MODULE_LOADED, &R);
}
API cuLibraryLoadData(CUlibrary *Library, const void *Code, CUjit_option *,
                      void **, unsigned, CUlibraryOption *, void **, unsigned) {
  cuLibraryLoadData_params P{};
  P.library = Library;
  P.code = Code;
  CALL(cuLibraryLoadData, &P);
  auto *L = new FakeLibrary;
  L->Image = static_cast<const FakeImage *>(Code);
  if (L->Image->NumSites) {
    L->Globals["__crsan_config"].resize(sizeof(abi::Config) / 8);
    L->Globals["__crsan_sites_00000000000000ab"].resize(L->Image->NumSites *
                                                        sizeof(abi::Site) / 8);
    L->Globals["__crsan_table_00000000000000ab"].resize(1);
  }
  *Library = reinterpret_cast<CUlibrary>(L);
  return TheCall.done(CUDA_SUCCESS);
}
/// Whether these are the first bytes of a fat binary, of text, or of neither.
static const char *kindOf(const char *Bytes) {
  static const unsigned char Fatbin[] = {0x50, 0xed, 0x55, 0xba};
  if (memcmp(Bytes, Fatbin, sizeof(Fatbin)) == 0)
    return "fat binary";
  return memcmp(Bytes, ".ver", 4) == 0 ? "text" : "neither";
}
API cuModuleLoadData(CUmodule *Module, const void *Image) {
  cuModuleLoadData_params P{Module, Image};
  CALL(cuModuleLoadData, &P);
  // As CUDA's driver does, which reads its parameters after the callback.
  printf("driver: %s\n", kindOf(static_cast<const char *>(P.image)));
  return TheCall.done(CUDA_ERROR_NO_BINARY_FOR_GPU);
}
API cuModuleLoadDataEx(CUmodule *Module, const void *Image, unsigned Number,
                       CUjit_option *Options, void **Values) {
  cuModuleLoadDataEx_params P{Module, Image, Number, Options, Values};
  CALL(cuModuleLoadDataEx, &P);
  printf("driver: %s\n", kindOf(static_cast<const char *>(P.image)));
  return TheCall.done(CUDA_ERROR_NO_BINARY_FOR_GPU);
}
API cuModuleLoad(CUmodule *Module, const char *Name) {
  cuModuleLoad_params P{Module, Name};
  CALL(cuModuleLoad, &P);
  char Begin[4] = {};
  if (FILE *File = fopen(P.fname, "rb")) {
    if (fread(Begin, 1, sizeof(Begin), File) != sizeof(Begin))
      abort();
    fclose(File);
  }
  printf("driver: %s\n", kindOf(Begin));
  return TheCall.done(CUDA_ERROR_NO_BINARY_FOR_GPU);
}
API cuLibraryUnload(CUlibrary Library) {
  cuLibraryUnload_params P{Library};
  CALL(cuLibraryUnload, &P);
  return TheCall.done(CUDA_SUCCESS);
}
API cuLibraryGetModule(CUmodule *, CUlibrary Library) {
  show(*reinterpret_cast<FakeLibrary *>(Library));
  return CUDA_SUCCESS;
}
API cuLibraryGetGlobal(CUdeviceptr *P, size_t *Size, CUlibrary Library,
                       const char *Name) {
  auto &L = *reinterpret_cast<FakeLibrary *>(Library);
  auto Found = L.Globals.find(Name);
  if (Found == L.Globals.end())
    return CUDA_ERROR_NOT_FOUND;
  *P = reinterpret_cast<CUdeviceptr>(Found->second.data());
  *Size = Found->second.size() * 8;
  return CUDA_SUCCESS;
}

/// A library is its own module here.
API cuModuleGetGlobal_v2(CUdeviceptr *P, size_t *Size, CUmodule Module,
                         const char *Name) {
  return cuLibraryGetGlobal(P, Size, reinterpret_cast<CUlibrary>(Module), Name);
}
API cuFuncGetModule(CUmodule *Module, CUfunction F) {
  *Module =
      reinterpret_cast<CUmodule>(reinterpret_cast<FakeKernel *>(F)->Library);
  return CUDA_SUCCESS;
}

/// As the device runtime does it, once.
static void race(FakeLibrary &L) {
  auto *C = reinterpret_cast<abi::Config *>(L.Globals["__crsan_config"].data());
  if (!(C->Flags & abi::Enabled))
    return;
  auto *Site = reinterpret_cast<abi::Site *>(
      L.Globals["__crsan_sites_00000000000000ab"].data());
  auto *Count = reinterpret_cast<abi::Counters *>(C->Counters);
  auto *Buffer = reinterpret_cast<abi::RecordBuffer *>(C->Records);
  auto *Record = reinterpret_cast<abi::Record *>(Buffer + 1);
  Count->Shards[0].Checks += 32;
  Count->Shards[0].Windows += 1;
  if (Site->Hits[0]++ == 0) {
    Site->Id = 0xab * 1000;
    Site->Slot[0] = ++Count->NextRecord;
    Record->Site = Site->Id;
    Record->Size = 4;
    __atomic_store_n(reinterpret_cast<uint8_t *>(&Record->Kind), 1,
                     __ATOMIC_RELEASE);
  }
  if (C->Flags & abi::TrapOnRace)
    printf("breakpoint, seed %u\n", C->Seed);
}
/// As the device runtime finds a page, and counts.
static void touch(FakeLibrary &L, CUdeviceptr Address) {
  auto *C = reinterpret_cast<abi::Config *>(L.Globals["__crsan_config"].data());
  if (!(C->Flags & abi::Shadowed)) {
    printf("not shadowed\n");
    return;
  }
  auto *Pages = reinterpret_cast<uint64_t *>(C->Metadata + abi::PagesAt);
  auto *Warp = reinterpret_cast<abi::WarpState *>(C->Metadata + abi::WarpsAt);
  uint64_t Entry = Pages[abi::pageIndex(Address)];
  bool IsTracked = abi::isPageOf(Entry, Address);
  ++Warp->Checked;
  Warp->Unchecked += !IsTracked;
  printf("%s%s\n",
         !IsTracked                ? "no shadow"
         : Entry & abi::PageCached ? "cached"
                                   : "exact",
         IsTracked && (Entry & abi::PageHost) ? ", the host's" : "");
}
API cuGraphLaunch(CUgraphExec Graph, CUstream Stream) {
  cuGraphLaunch_params P{Graph, Stream};
  CALL(cuGraphLaunch, &P);
  return TheCall.done(CUDA_SUCCESS);
}
API cuLaunchKernel(CUfunction F, unsigned GridX, unsigned GridY, unsigned GridZ,
                   unsigned BlockX, unsigned BlockY, unsigned BlockZ,
                   unsigned Shared, CUstream Stream, void **, void **) {
  auto *K = reinterpret_cast<FakeKernel *>(F);
  cuLaunchKernel_params P{F,      GridX,  GridY,  GridZ,   BlockX, BlockY,
                          BlockZ, Shared, Stream, nullptr, nullptr};
  CALL(cuLaunchKernel, &P, K->Name);
  auto &L = *reinterpret_cast<FakeLibrary *>(K->Library);
  show(L);
  switch (K->What) {
  case FakeKernel::Clean: {
    auto *C =
        reinterpret_cast<abi::Config *>(L.Globals["__crsan_config"].data());
    if (C->Counters)
      reinterpret_cast<abi::Counters *>(C->Counters)->Shards[0].Checks += 32;
    break;
  }
  case FakeKernel::Racy:
    race(L);
    break;
  case FakeKernel::Refused:
    return TheCall.done(CUDA_ERROR_INVALID_VALUE);
  case FakeKernel::Asserts:
    race(L);
    S.Sticky = CUDA_ERROR_ASSERT;
    break;
  case FakeKernel::Fails:
    S.Sticky = CUDA_ERROR_ILLEGAL_ADDRESS;
    break;
  case FakeKernel::Hangs:
    race(L);
    S.Hangs = true;
    break;
  case FakeKernel::Foreign:
    break;
  case FakeKernel::Touches:
    touch(L, K->Touched);
    break;
  case FakeKernel::UsesUp: {
    auto *C =
        reinterpret_cast<abi::Config *>(L.Globals["__crsan_config"].data());
    reinterpret_cast<abi::Metadata *>(C->Metadata)->IsUsedUp = 1;
    break;
  }
  }
  return TheCall.done(CUDA_SUCCESS);
}

// The CUDA run-time library.

RUNTIME cudaGetFuncBySymbol(cudaFunction_t *Function, const void *Kernel) {
  *Function = static_cast<cudaFunction_t>(const_cast<void *>(Kernel));
  return cudaSuccess;
}
RUNTIME cudaLaunchKernel(const void *Kernel, dim3 Grid, dim3 Block, void **,
                         size_t Shared, cudaStream_t Stream) {
  if (Grid.x == 0) // The driver does not hear of it.
    return cudaErrorInvalidConfiguration;
  return cudaError_t(cuLaunchKernel(
      static_cast<CUfunction>(const_cast<void *>(Kernel)), Grid.x, Grid.y,
      Grid.z, Block.x, Block.y, Block.z, Shared, Stream, nullptr, nullptr));
}
