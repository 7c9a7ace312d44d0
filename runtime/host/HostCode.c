// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host code that is instrumented.

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "HostCode.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#define OF_THIS_FILE __attribute__((weak, visibility("hidden")))

// The pass defines the gate, the linker the ends of the section with the units
// (include/crsan/abi/Host.h). All are null without instrumented code.
extern char __crsan_host_gate[] OF_THIS_FILE;
extern char __start___crsan_host_units[] OF_THIS_FILE;
extern char __stop___crsan_host_units[] OF_THIS_FILE;

static const char Loaded[] = "crsan_host_code_loaded";
static const char Unloading[] = "crsan_host_code_unloading";
typedef void TellLoaded(void *Gate, const void *Begin, const void *End);
typedef void TellUnloading(void *Gate);

static TellUnloading *AtEnd;

void crsanTellHostCode(const char *File) {
  if (!__crsan_host_gate ||
      __start___crsan_host_units == __stop___crsan_host_units)
    return;
  // Of the simulated GPU, which is there already, or of libcrsan.so, which CUDA
  // would load later.
  void *Library = NULL;
  void *Found = dlsym(RTLD_DEFAULT, Loaded);
  if (!Found && File && (Library = dlopen(File, RTLD_LAZY)))
    Found = dlsym(Library, Loaded);
  if (!Found)
    return;
  ((TellLoaded *)(uintptr_t)Found)(
      __crsan_host_gate, __start___crsan_host_units, __stop___crsan_host_units);
  AtEnd =
      (TellUnloading *)(uintptr_t)(Library ? dlsym(Library, Unloading)
                                           : dlsym(RTLD_DEFAULT, Unloading));
}

__attribute__((destructor)) static void unload(void) {
  if (AtEnd)
    AtEnd(__crsan_host_gate);
}
