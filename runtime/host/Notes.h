// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ELF notes of CRSan in a program.
//
// By them the injection library knows what an executable or a shared library
// was linked with (runtime/inject/session/HostNote.h).
#ifndef CRSAN_HOST_NOTES_H
#define CRSAN_HOST_NOTES_H

#include <stdint.h>

enum {
  CRSAN_HOST_PART_NOTE = 1, ///< Of Host.c.
  CRSAN_WRAPS_NOTE = 2,     ///< Of Wrapped.c.
};

/// Defines a note of a type.
#define CRSAN_NOTE(OfType)                                                     \
  __attribute__((section(".note.crsan"), used,                                 \
                 aligned(4))) static const struct {                            \
    uint32_t NameSize, TextSize, Type;                                         \
    char Name[8];                                                              \
  } Note = {sizeof("CRSan"), 0, OfType, "CRSan"}

#endif // CRSAN_HOST_NOTES_H
