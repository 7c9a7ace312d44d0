// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A driver and CUPTI without a GPU.
#ifndef CRSAN_UNITTESTS_INJECT_FAKEDRIVER_H
#define CRSAN_UNITTESTS_INJECT_FAKEDRIVER_H

#include <cuda.h>

#include <cstddef>
#include <cstdint>

/// What cuLibraryLoadData takes here: the wrapper of a fat binary, and more.
struct FakeImage {
  uint32_t Magic = 0x466243b1;
  uint32_t Version = 1;
  const void *Cubin;
  void *Unused = nullptr;
  size_t Size;
  uint32_t NumSites; ///< 0: not instrumented.
};

/// What a CUfunction is here, and a kernel's symbol.
struct FakeKernel {
  enum Kind {
    Clean,
    Racy,
    Refused,
    Asserts,
    Fails,
    Hangs,
    Foreign,
    Touches,
    UsesUp
  };
  const char *Name;
  Kind What;
  CUlibrary Library;
  int Registers = 16;
  CUdeviceptr Touched = 0;
};

/// Makes a context and makes it current.
extern "C" CUresult fakeCreateContext();

/// Whether CUPTI has been asked to tell of events that streams record.
extern "C" bool fakeTellsOfRecords();

/// The next call that frees or unmaps memory calls Action when the memory is
/// free, before the call returns.
extern "C" void fakeDuringNextFree(void (*Action)());

/// The next call that waits for a context calls Action when the context is
/// idle, before the call returns.
extern "C" void fakeDuringNextSync(void (*Action)());

/// Calls that free memory fail from now on.
extern "C" void fakeFailFrees();

#endif // CRSAN_UNITTESTS_INJECT_FAKEDRIVER_H
