// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that are loaded before they are launched, with a CUDA of our own.

#include "EarlyLoad.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>
#include <vector>

using testing::ElementsAre;
using testing::IsEmpty;

static bool MayLoad = true;
int crsanMayLoadKernels() { return MayLoad; }

namespace {
constexpr int NoCode = 209, FailedBefore = 2;

/// What the functions of CUDA do and have done.
struct {
  int Device = 0, LastError = 0, CaptureMode = 0;
  const void *WithoutCode = nullptr;
  std::vector<const void *> Loaded;
} Fake;

int getAttributes(void *, const void *Kernel) {
  EXPECT_EQ(Fake.CaptureMode, 2);
  Fake.Loaded.push_back(Kernel);
  return Kernel == Fake.WithoutCode ? Fake.LastError = NoCode : 0;
}
int getDevice(int *Device) {
  *Device = Fake.Device;
  return 0;
}
int getLastError() { return std::exchange(Fake.LastError, 0); }
int peekAtLastError() { return Fake.LastError; }
int exchangeCaptureMode(int *Mode) {
  std::swap(*Mode, Fake.CaptureMode);
  return 0;
}

const CudaFunctions Cuda = {getAttributes, getDevice, getLastError,
                            peekAtLastError, exchangeCaptureMode};

/// What an allocation on the device loads.
std::vector<const void *> loadedOn(int Device) {
  Fake.Device = Device;
  Fake.Loaded.clear();
  crsanMemoryAllocated(&Cuda);
  return Fake.Loaded;
}
} // namespace

// One test, since a process has one list of kernels.
TEST(EarlyLoad, LoadsEachKernelOnceOnEachDevice) {
  unsetenv("CUDA_MODULE_LOADING");
  const char Kernels[3] = {};
  EXPECT_THAT(loadedOn(0), IsEmpty());
  crsanKernelRegistered(&Kernels[0], "k0");
  crsanKernelRegistered(&Kernels[1], "k1");
  EXPECT_THAT(loadedOn(0), ElementsAre(&Kernels[0], &Kernels[1]));
  EXPECT_STREQ(crsanNameOfKernel(&Kernels[1]), "k1");
  EXPECT_EQ(crsanNameOfKernel(&Kernels[2]), nullptr);
  EXPECT_THAT(loadedOn(0), IsEmpty());
  // A library that is loaded later registers its own.
  crsanKernelRegistered(&Kernels[2], "k2");
  EXPECT_THAT(loadedOn(0), ElementsAre(&Kernels[2]));

  // The program sees no error of these calls, and loses none of its own.
  Fake.WithoutCode = &Kernels[1];
  Fake.LastError = FailedBefore;
  EXPECT_THAT(loadedOn(1), IsEmpty());
  EXPECT_EQ(getLastError(), FailedBefore);
  EXPECT_THAT(loadedOn(1), ElementsAre(&Kernels[0], &Kernels[1], &Kernels[2]));
  EXPECT_EQ(peekAtLastError(), 0);
  EXPECT_EQ(Fake.CaptureMode, 0);

  // The user decides when code is loaded, or a kernel may be running.
  setenv("CUDA_MODULE_LOADING", "LAZY", 1);
  EXPECT_THAT(loadedOn(2), IsEmpty());
  unsetenv("CUDA_MODULE_LOADING");
  MayLoad = false;
  EXPECT_THAT(loadedOn(3), IsEmpty());

  // A CUDA run-time library that lacks one of the functions.
  MayLoad = true;
  CudaFunctions Old = Cuda;
  Old.ExchangeCaptureMode = nullptr;
  Fake.Device = 4;
  Fake.Loaded.clear();
  crsanMemoryAllocated(&Old);
  EXPECT_THAT(Fake.Loaded, IsEmpty());

  // The variables of modules that may never be used would take memory.
  crsanVariableRegistered(1 << 20);
  EXPECT_THAT(loadedOn(5), ElementsAre(&Kernels[0], &Kernels[1], &Kernels[2]));
  crsanVariableRegistered(64 << 20);
  EXPECT_THAT(loadedOn(6), IsEmpty());
}
