// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An ELF note that says that the linker was told to wrap CUDA's functions.
//
// The option --undefined=__crsan_wraps, which goes with the --wrap options
// (lib/Driver/HostPart.cpp), makes the linker take this file.

#include "Notes.h"

extern char __crsan_wraps;
char __crsan_wraps;

CRSAN_NOTE(CRSAN_WRAPS_NOTE);
