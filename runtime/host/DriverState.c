// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Why CUDA never loaded CRSan.

#include "DriverState.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const char DriverName[] = "libcuda.so.1";
static const char Simulated[] =
    "or run on the simulated GPU: crsan run --device=sim PROGRAM";

// As cuda.h declares them: a CUresult is an int.
typedef int Initialise(unsigned Flags);
typedef int CountDevices(int *Count);
typedef int TextOf(int Error, const char **Text);

static void *symbolOf(void *Driver, const char *Name) {
  return Driver ? dlsym(Driver, Name) : NULL;
}

static const char *textOf(void *Driver, const char *Name, int Error) {
  TextOf *Ask = (TextOf *)(uintptr_t)symbolOf(Driver, Name);
  const char *Text = NULL;
  return Ask && Ask(Error, &Text) == 0 && Text ? Text : "unknown error";
}

/// What to do if cuInit fails.
static const char *remedyFor(int Error) {
  switch (Error) {
  case 100: // CUDA_ERROR_NO_DEVICE
    return "let the process see a GPU (nvidia-smi lists them, "
           "CUDA_VISIBLE_DEVICES hides them)";
  case 34: // CUDA_ERROR_STUB_LIBRARY
    return "take the folder of CUDA's stub libraries out of LD_LIBRARY_PATH";
  case 803: // CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
    return "restart the machine after the update of the driver";
  default:
    return "check that nvidia-smi works";
  }
}

void crsanDescribeDriver(char *Text, size_t Size) {
  void *Loaded = dlopen(DriverName, RTLD_LAZY | RTLD_NOLOAD);
  if (!Loaded && !dlopen(DriverName, RTLD_LAZY)) {
    const char *Why = dlerror();
    snprintf(Text, Size,
             "there is no CUDA driver (%s); install NVIDIA's driver, %s",
             Why ? Why : DriverName, Simulated);
    return;
  }
  CountDevices *Count =
      (CountDevices *)(uintptr_t)symbolOf(Loaded, "cuDeviceGetCount");
  Initialise *Init = (Initialise *)(uintptr_t)symbolOf(Loaded, "cuInit");
  int Number;
  if (Count && Count(&Number) == 0) {
    snprintf(Text, Size,
             "the program initialised CUDA before it loaded its instrumented "
             "code, or with a tool that keeps other libraries out; load that "
             "code first, or run without the tool");
    return;
  }
  // Nothing is loaded by it now that the program ends.
  unsetenv("CUDA_INJECTION64_PATH");
  const int Error = Init ? Init(0) : 0;
  if (Error)
    snprintf(
        Text, Size, "the CUDA driver could not be initialised (%s: %s); %s, %s",
        textOf(Loaded, "cuGetErrorName", Error),
        textOf(Loaded, "cuGetErrorString", Error), remedyFor(Error), Simulated);
  else
    snprintf(Text, Size, "the program did not initialise CUDA");
}
