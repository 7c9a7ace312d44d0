// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The devices that crsan doctor looks at.
//
// The tool does not link with CUDA, and loads what it asks.

#include "Diagnosis.h"
#include "cupti/Cupti.h"

extern "C" {
#include "DriverState.h"
}

#include <cuda.h>
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace crsan;

namespace {
/// The driver functions that are asked.
struct DriverCalls {
  decltype(&::cuInit) Init = nullptr;
  decltype(&::cuDriverGetVersion) GetVersion = nullptr;
  decltype(&::cuDeviceGetCount) GetCount = nullptr;
  decltype(&::cuDeviceGetName) GetName = nullptr;
  decltype(&::cuDeviceGetAttribute) GetAttribute = nullptr;
  decltype(&::cuDevicePrimaryCtxRetain) RetainContext = nullptr;
  decltype(&::cuDevicePrimaryCtxRelease) ReleaseContext = nullptr;
  decltype(&::cuCtxPushCurrent) PushContext = nullptr;
  decltype(&::cuCtxPopCurrent) PopContext = nullptr;
  decltype(&::cuMemGetInfo) GetMemory = nullptr;

  /// False: the library lacks one of them.
  bool load(void *Library);
};
} // namespace

bool DriverCalls::load(void *Library) {
  const auto Find = [Library](auto &Function, const char *Name) {
    Function = reinterpret_cast<std::remove_reference_t<decltype(Function)>>(
        dlsym(Library, Name));
    return Function != nullptr;
  };
  return Find(Init, "cuInit") && Find(GetVersion, "cuDriverGetVersion") &&
         Find(GetCount, "cuDeviceGetCount") &&
         Find(GetName, "cuDeviceGetName") &&
         Find(GetAttribute, "cuDeviceGetAttribute") &&
         Find(RetainContext, "cuDevicePrimaryCtxRetain") &&
         Find(ReleaseContext, "cuDevicePrimaryCtxRelease_v2") &&
         Find(PushContext, "cuCtxPushCurrent_v2") &&
         Find(PopContext, "cuCtxPopCurrent_v2") &&
         Find(GetMemory, "cuMemGetInfo_v2");
}

/// "580.65.06", of the kernel's module.
static std::string moduleVersion() {
  std::ifstream In("/sys/module/nvidia/version");
  std::string Version;
  std::getline(In, Version);
  return Version;
}

/// Loads and starts the driver; false: there is none that runs.
static bool diagnoseDriver(Diagnosis &D, DriverCalls &Driver) {
  void *Library = dlopen("libcuda.so.1", RTLD_LAZY);
  char Why[1024];
  if (!Library || (Driver.load(Library) && Driver.Init(0) != CUDA_SUCCESS)) {
    crsanDescribeDriver(Why, sizeof(Why));
    D.missing("driver", Why);
    return false;
  }
  if (!Driver.GetMemory) {
    D.missing("driver", "libcuda.so.1 lacks functions of CUDA 13",
              "install NVIDIA's driver 580 or newer");
    return false;
  }
  int Version = 0;
  Driver.GetVersion(&Version);
  const std::string Module = moduleVersion();
  const std::string Words =
      fmt::format("{}{}for CUDA {}.{}", Module, Module.empty() ? "" : ", ",
                  Version / 1000, Version % 1000 / 10);
  if (Version < 13000) {
    D.missing("driver", Words + ", and programs need CUDA 13",
              "install NVIDIA's driver 580 or newer");
    return false;
  }
  D.ok("driver", Words);
  return true;
}

/// Free and total MiB. False: no context can be made.
static bool memoryOf(const DriverCalls &Driver, CUdevice Device, size_t &Free,
                     size_t &Total) {
  CUcontext Context = nullptr;
  if (Driver.RetainContext(&Context, Device) != CUDA_SUCCESS)
    return false;
  Driver.PushContext(Context);
  const bool IsKnown = Driver.GetMemory(&Free, &Total) == CUDA_SUCCESS;
  Driver.PopContext(&Context);
  Driver.ReleaseContext(Device);
  Free >>= 20;
  Total >>= 20;
  return IsKnown;
}

/// The name of the GPU if programs can run on it, or "".
static std::string diagnoseDevice(Diagnosis &D, const DriverCalls &Driver,
                                  int Number) {
  char Name[256] = "";
  int Major = 0, Minor = 0;
  Driver.GetName(Name, sizeof(Name) - 1, Number);
  Driver.GetAttribute(&Major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                      Number);
  Driver.GetAttribute(&Minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                      Number);
  const std::string Subject = fmt::format("GPU {}", Number);
  const std::string Words = fmt::format("{}, sm_{}{}", Name, Major, Minor);
  if (Major < 7) {
    D.missing(Subject, Words + " is older than sm_70",
              "hide it by CUDA_VISIBLE_DEVICES and use a newer one");
    return "";
  }
  size_t Free = 0, Total = 0;
  if (!memoryOf(Driver, Number, Free, Total)) {
    D.missing(Subject, Words + " gives no context",
              "check by nvidia-smi that no other process has it exclusively");
    return "";
  }
  const std::string Memory =
      fmt::format("{}, {} of {} MiB free", Words, Free, Total);
  // Metadata mode keeps up to 4 bytes for each byte of the program's.
  if (Free < Total / 4)
    D.warning(Subject, Memory,
              "end the processes that nvidia-smi lists, or run metadata mode "
              "with CRSAN_OPTIONS=shadow=cached");
  else
    D.ok(Subject, Memory);
  return fmt::format("GPU {} ({})", Number, Name);
}

/// Whether CUPTI can be used by CRSan. Without a driver nothing can subscribe.
static bool diagnoseCupti(Diagnosis &D, bool HasDriver) {
  Cupti C;
  if (!C.load()) {
    D.missing("CUPTI", "libcupti.so.13 was not found",
              "install cuda-cupti-13-0, or set CUDA_PATH to a toolkit that "
              "has it");
    return false;
  }
  if (!HasDriver) {
    D.ok("CUPTI", C.Path);
    return false;
  }
  CUpti_SubscriberHandle Subscriber;
  const CUptiResult Result = C.Subscribe(
      &Subscriber,
      [](void *, CUpti_CallbackDomain, CUpti_CallbackId, const void *) {},
      nullptr);
  const std::string Words =
      fmt::format("{} ({})", C.Path, C.resultText(Result));
  switch (Result) {
  case CUPTI_SUCCESS:
    D.ok("CUPTI", C.Path);
    return true;
  case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
  case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
    D.missing("CUPTI", Words,
              "run as root, or put 'options nvidia "
              "NVreg_RestrictProfilingToAdminUsers=0' into "
              "/etc/modprobe.d/nvidia.conf and restart the machine");
    return false;
  case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
    D.missing("CUPTI", Words, "run without the other tool that uses CUPTI");
    return false;
  default:
    D.missing("CUPTI", Words, "install the CUPTI of the driver's CUDA version");
    return false;
  }
}

/// CRSan needs callbacks alone, which any user may have.
static void diagnosePermissions(Diagnosis &D) {
  std::ifstream In("/proc/driver/nvidia/params");
  for (std::string Line; std::getline(In, Line);)
    if (Line.starts_with("RmProfilingAdminOnly: "))
      D.ok("permissions",
           Line.back() == '0'
               ? "any user may profile"
               : "only root may profile "
                 "(NVreg_RestrictProfilingToAdminUsers=1), which CRSan does "
                 "not need: it takes callbacks alone");
}

/// Whether the driver will load CRSan's library and no other tool's.
static bool diagnoseInjection(Diagnosis &D, const std::string &Library) {
  const char *Injected = std::getenv("CUDA_INJECTION64_PATH");
  if (Injected && *Injected &&
      !std::string_view(Injected).ends_with("/libcrsan.so")) {
    D.warning("other tools",
              fmt::format("CUDA_INJECTION64_PATH is '{}', so that the driver "
                          "does not load CRSan",
                          Injected),
              "unset CUDA_INJECTION64_PATH");
    return false;
  }
  for (char **Entry = environ; *Entry; ++Entry) {
    const std::string_view Word = *Entry;
    for (const std::string_view Prefix :
         {"NSYS_PROFILING_SESSION_ID=", "NV_SANITIZER_", "NV_TPS_LAUNCH_"})
      if (Word.starts_with(Prefix)) {
        D.warning("other tools",
                  fmt::format("{} is set, by nsys, ncu or compute-sanitizer",
                              Word.substr(0, Word.find('='))),
                  "run without that tool");
        return false;
      }
  }
  D.ok("other tools", "none that uses CUPTI");
  return access(Library.c_str(), R_OK) == 0;
}

void crsan::diagnoseGPU(Diagnosis &D, const std::string &Library) {
  const bool IsInjected = diagnoseInjection(D, Library);
  // The driver must load nothing into this process.
  unsetenv("CUDA_INJECTION64_PATH");
  DriverCalls Driver;
  const bool HasDriver = diagnoseDriver(D, Driver);
  diagnosePermissions(D);
  const bool HasCupti = diagnoseCupti(D, HasDriver);
  int Count = 0;
  if (!HasDriver || Driver.GetCount(&Count) != CUDA_SUCCESS)
    return;
  for (int Number = 0; Number < Count; ++Number)
    if (std::string Name = diagnoseDevice(D, Driver, Number);
        !Name.empty() && HasCupti && IsInjected)
      D.addDevice(Name);
}

/// What the loader says of a library; empty: it loads. In a process of its own,
/// since the library becomes the CUDA runtime of the process that loads it.
static std::string whyNotLoaded(const std::string &Library) {
  int Ends[2];
  if (pipe(Ends) != 0)
    return "no pipe can be made";
  const pid_t Child = fork();
  if (Child == 0) {
    unsetenv("CRSAN_OPTIONS");
    const bool IsLoaded = dlopen(Library.c_str(), RTLD_NOW | RTLD_LOCAL);
    const std::string Why = IsLoaded ? "" : dlerror();
    _exit(write(Ends[1], Why.data(), Why.size()) < 0);
  }
  close(Ends[1]);
  std::string Why;
  char Buffer[512];
  for (ssize_t Size; (Size = read(Ends[0], Buffer, sizeof(Buffer))) > 0;)
    Why.append(Buffer, size_t(Size));
  close(Ends[0]);
  int Status = 0;
  if (Child < 0 || waitpid(Child, &Status, 0) < 0 || Status != 0)
    return "the process that loads it fails";
  return Why;
}

void crsan::diagnoseSimulatedGPU(Diagnosis &D, const std::string &Library) {
  if (const std::string Why = whyNotLoaded(Library); !Why.empty())
    return D.missing("simulated GPU", Why,
                     "build CRSan completely, or install it again");
  D.ok("simulated GPU", Library);
  D.addDevice("the simulated GPU (crsan run --device=sim)");
}
