// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ends of a program that run no handlers.
#ifndef CRSAN_HOST_ENDINGS_H
#define CRSAN_HOST_ENDINGS_H

#include <sys/syscall.h>
#include <unistd.h>

/// The exit code of a program in which nothing was checked, with the option
/// require_checked=1.
#define CRSAN_NOTHING_CHECKED 67

/// The exit code of a program of which a kernel failed or did not end
/// (timeout), if no race was found.
#define CRSAN_KERNEL_FAILED 68

#ifdef __cplusplus
extern "C" {
#endif
// Every executable and shared library has its own.
#pragma GCC visibility push(hidden)

// Called by Endings.c, defined by what it is linked with.
/// The program ends by _exit: the exit code that it shall have in place of
/// `Code`.
int crsanEnding(int Code);
/// The program is about to be replaced by another. Returns whether
/// crsanNotReplaced wants to be called if that fails.
int crsanReplacing(const char *Program);
void crsanNotReplaced(const char *Program);
/// The main thread ends, and leaves the process to its other threads.
void crsanMainThreadEnds(void);

// Defined by Endings.c.
/// Remembers, for the process that this one is a child of by fork, that CUDA
/// was used; whether a child has done so.
void crsanNoteRun(void);
int crsanChildHasRun(void);

/// As _exit, which is interposed, without a word to anybody.
__attribute__((noreturn)) static inline void crsanLeave(int Code) {
  for (;;)
    syscall(SYS_exit_group, Code);
}

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif // CRSAN_HOST_ENDINGS_H
