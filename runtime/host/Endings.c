// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ends of a program that run no handlers.
//
// _exit ends a program, and exec replaces it, without a call of its exit
// handlers. So the C library's functions that do that are interposed: defined
// here, in the executable or a library that the loader searches first, they
// report and go on to the next definition. Weak, so that a program may have
// functions of these names. A system call by number is not seen.
//
// Forked children call these functions more than anybody, children by vfork in
// the memory of their parent: nothing here changes any state but errno.

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "Endings.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define INTERPOSED __attribute__((weak, visibility("default")))

/// The next definition of an interposed function.
#define NEXT(Function)                                                         \
  ((__typeof__(&Function))(uintptr_t)dlsym(RTLD_NEXT, #Function))

/// A page that this process shares with the children that it forks; null if
/// there is none.
static volatile int *HasRun;

__attribute__((constructor(101))) static void shareAPage(void) {
  void *Page = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  HasRun = Page == MAP_FAILED ? NULL : (volatile int *)Page;
}

void crsanNoteRun(void) {
  if (HasRun)
    *HasRun = 1;
}

int crsanChildHasRun(void) { return HasRun && *HasRun; }

//===----------------------------------------------------------------------===//
// Exits
//===----------------------------------------------------------------------===//

INTERPOSED void _exit(int Code) {
  Code = crsanEnding(Code);
  void (*Next)(int) = NEXT(_exit);
  if (Next)
    Next(Code);
  crsanLeave(Code);
}

INTERPOSED void _Exit(int Code) {
  Code = crsanEnding(Code);
  void (*Next)(int) = NEXT(_Exit);
  if (Next)
    Next(Code);
  crsanLeave(Code);
}

/// The process lives until its last thread ends, which then calls exit.
INTERPOSED __attribute__((noreturn)) void pthread_exit(void *Result) {
  if (syscall(SYS_gettid) == getpid())
    crsanMainThreadEnds();
  void (*Next)(void *) = NEXT(pthread_exit);
  if (Next)
    Next(Result);
  abort();
}

/// The C library's would end this process by its own _exit.
INTERPOSED int daemon(int KeepsFolder, int KeepsStreams) {
  const pid_t Child = fork();
  if (Child < 0)
    return -1;
  if (Child > 0)
    _exit(0);
  if (setsid() < 0)
    return -1;
  if (!KeepsFolder && chdir("/") != 0)
    return -1;
  if (KeepsStreams)
    return 0;
  const int Null = open("/dev/null", O_RDWR);
  if (Null < 0)
    return -1;
  for (int Stream = STDIN_FILENO; Stream <= STDERR_FILENO; ++Stream)
    dup2(Null, Stream);
  if (Null > STDERR_FILENO)
    close(Null);
  return 0;
}

//===----------------------------------------------------------------------===//
// exec
//===----------------------------------------------------------------------===//

static int isExecutable(const char *File) { return access(File, X_OK) == 0; }

/// Whether one of the folders in PATH has the program.
static int isInPath(const char *Program) {
  if (strchr(Program, '/'))
    return isExecutable(Program);
  const char *Folder = getenv("PATH");
  if (!Folder)
    Folder = "/bin:/usr/bin";
  for (;; ++Folder) {
    const size_t Length = strcspn(Folder, ":");
    char File[PATH_MAX];
    const int Size = snprintf(File, sizeof(File), "%.*s%s%s", (int)Length,
                              Folder, Length ? "/" : "", Program);
    if (Size < (int)sizeof(File) && isExecutable(File))
      return 1;
    Folder += Length;
    if (!*Folder)
      return 0;
  }
}

/// Whether to call failed() if the program is still there. Programs that try
/// one path after another are not replaced by what is not there.
static int tell(const char *Program, int MayRun) {
  const int Before = errno;
  const int Wants = Program && MayRun && crsanReplacing(Program);
  errno = Before;
  return Wants;
}

/// Gives back `Result`.
static int failed(int Result, int Told, const char *Program) {
  const int Before = errno;
  if (Told)
    crsanNotReplaced(Program);
  errno = Before;
  return Result;
}

/// Replaces the program by the next definition of `Function`.
#define REPLACE(Function, Program, MayRun, ...)                                \
  __typeof__(&Function) Next = NEXT(Function);                                 \
  if (!Next) {                                                                 \
    errno = ENOSYS;                                                            \
    return -1;                                                                 \
  }                                                                            \
  const int Told = tell(Program, MayRun);                                      \
  return failed(Next(__VA_ARGS__), Told, Program)

INTERPOSED int execve(const char *Path, char *const Args[],
                      char *const Environment[]) {
  REPLACE(execve, Path, isExecutable(Path), Path, Args, Environment);
}

INTERPOSED int execv(const char *Path, char *const Args[]) {
  REPLACE(execv, Path, isExecutable(Path), Path, Args);
}

INTERPOSED int execvp(const char *File, char *const Args[]) {
  REPLACE(execvp, File, isInPath(File), File, Args);
}

INTERPOSED int execvpe(const char *File, char *const Args[],
                       char *const Environment[]) {
  REPLACE(execvpe, File, isInPath(File), File, Args, Environment);
}

INTERPOSED int fexecve(int Descriptor, char *const Args[],
                       char *const Environment[]) {
  REPLACE(fexecve, "another program", 1, Descriptor, Args, Environment);
}

/// How many arguments of execl and its like there are, without the null
/// pointer.
static size_t countArguments(const char *First, va_list Rest) {
  size_t Number = 0;
  for (const char *Arg = First; Arg; Arg = va_arg(Rest, char *))
    ++Number;
  return Number;
}

/// Writes them, with the null pointer.
static void collectArguments(char **Args, size_t Number, const char *First,
                             va_list *Rest) {
  Args[0] = (char *)(uintptr_t)First;
  for (size_t I = 1; I <= Number; ++I)
    Args[I] = va_arg(*Rest, char *);
}

/// Defines Args, and leaves Rest behind the null pointer.
#define COLLECT(First)                                                         \
  va_list Rest;                                                                \
  va_start(Rest, First);                                                       \
  const size_t Number = countArguments(First, Rest);                           \
  va_end(Rest);                                                                \
  char *Args[Number + 1];                                                      \
  va_start(Rest, First);                                                       \
  collectArguments(Args, Number, First, &Rest)

INTERPOSED int execl(const char *Path, const char *First, ...) {
  COLLECT(First);
  va_end(Rest);
  return execv(Path, Args);
}

INTERPOSED int execlp(const char *File, const char *First, ...) {
  COLLECT(First);
  va_end(Rest);
  return execvp(File, Args);
}

INTERPOSED int execle(const char *Path, const char *First, ...) {
  COLLECT(First);
  char *const *Environment = va_arg(Rest, char *const *);
  va_end(Rest);
  return execve(Path, Args, Environment);
}
