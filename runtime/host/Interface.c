// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a program may call (crsan/crsan.h).

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "crsan/crsan.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

/// A function of the simulated GPU's library, or else of the library that CUDA
/// loads; null if there is neither. `Mode`: of dlopen.
static void *symbolOfRun(const char *Name, int Mode) {
  void *Found = dlsym(RTLD_DEFAULT, Name);
  const char *File = getenv("CUDA_INJECTION64_PATH");
  void *Library = Found || !File ? NULL : dlopen(File, RTLD_LAZY | Mode);
  return Library ? dlsym(Library, Name) : Found;
}

unsigned crsan_count_races(void) {
  unsigned (*Count)(void) = (unsigned (*)(void))(uintptr_t)symbolOfRun(
      "crsan_findings_so_far", RTLD_NOLOAD);
  return Count ? Count() : 0;
}

void crsan_call_at_report(void (*Callback)(const char *)) {
  void (*Set)(void (*)(const char *)) = (void (*)(void (*)(const char *)))(
      uintptr_t)symbolOfRun("crsan_report_callback", 0);
  if (Set)
    Set(Callback);
}
