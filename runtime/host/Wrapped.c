// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Notes that the linker was told to wrap CUDA's functions.
//
// The options that tell it also tell it to take this (lib/Driver/HostPart.cpp).

#include "Notes.h"

extern char __crsan_wraps;
char __crsan_wraps;

CRSAN_NOTE(CRSAN_WRAPS_NOTE);
