// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of CRSan in an instrumented program.
//
// Linked into every instrumented executable and shared library. Before main it
// finds the injection library and tells the CUDA driver to load it; after
// everything else, or where the program ends by a shorter way (Endings.c), it
// turns the exit code. It tells the library of launches that CUDA refuses, and
// of all launches under a debugger, which keeps the driver from loading the
// library (Launch.c). C and the C library only, since it is linked into C
// programs too; of CUDA it calls what the program itself calls (EarlyLoad.c).
//
// CRSAN_HOST in the environment, "<pid>:<path>", says that one copy of this has
// acted in this process, and to the children of the process, where the value of
// CUDA_INJECTION64_PATH comes from. `crsan run` sets it to "0:<path>".

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "DriverState.h"
#include "EarlyLoad.h"
#include "Endings.h"
#include "HostCode.h"
#include "Launch.h"
#include "Notes.h"
#include "Runner.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char LibraryName[] = "libcrsan.so";
static const char InjectionVariable[] = "CUDA_INJECTION64_PATH";
static const char MarkVariable[] = "CRSAN_HOST";

CRSAN_NOTE(CRSAN_HOST_PART_NOTE);

/// The library, as the driver will load it; empty: not found.
static char Library[PATH_MAX];

static void say(const char *What, const char *Detail, const char *Rest) {
  char Line[PATH_MAX + 512];
  int Length =
      snprintf(Line, sizeof(Line), "CRSan: %s%s%s\n", What, Detail, Rest);
  if (Length > (int)sizeof(Line) - 1)
    Length = (int)sizeof(Line) - 1;
  // There is nobody left to tell if this fails.
  if (Length > 0 && write(STDERR_FILENO, Line, (size_t)Length) < 0)
    return;
}

static int take(const char *Path) {
  char Whole[PATH_MAX];
  if (access(Path, R_OK) != 0 || !realpath(Path, Whole))
    return 0;
  memcpy(Library, Whole, sizeof(Whole));
  return 1;
}

/// Looks for the library beside a file, and in lib beside the file's folder.
static int lookBeside(const char *File) {
  char Path[PATH_MAX + 32];
  const char *Slash = strrchr(File, '/');
  if (!Slash || Slash - File >= PATH_MAX)
    return 0;
  int Length = (int)(Slash - File);
  snprintf(Path, sizeof(Path), "%.*s/%s", Length, File, LibraryName);
  if (take(Path))
    return 1;
  snprintf(Path, sizeof(Path), "%.*s/../lib/%s", Length, File, LibraryName);
  return take(Path);
}

/// Looks for the library where the dynamic linker looks for those that this
/// executable or shared library needs: crsan-clang puts the folder of its own
/// libraries into the run path.
static int lookInRunPath(void) {
  Dl_info Info;
  struct link_map *Map = NULL;
  Dl_serinfo Size;
  if (!dladdr1(Library, &Info, (void **)&Map, RTLD_DL_LINKMAP) ||
      dlinfo(Map, RTLD_DI_SERINFOSIZE, &Size) != 0)
    return 0;
  Dl_serinfo *Folders = malloc(Size.dls_size);
  if (!Folders)
    return 0;
  int Found = 0;
  *Folders = Size;
  if (dlinfo(Map, RTLD_DI_SERINFO, Folders) == 0)
    for (unsigned I = 0; I < Folders->dls_cnt && !Found; ++I) {
      char Path[PATH_MAX + 32];
      snprintf(Path, sizeof(Path), "%s/%s", Folders->dls_serpath[I].dls_name,
               LibraryName);
      Found = take(Path);
    }
  free(Folders);
  return Found;
}

/// Looks where the compiler of this program's objects says. crsan-nvcc puts
/// paths, one behind another, into a section of each object, since build
/// systems may link without a run path (lib/Nvcc/ToolkitView.cpp).
static int lookWhereObjectsSay(void) {
  extern const char __start___crsan_library[]
      __attribute__((weak, visibility("hidden")));
  return __start___crsan_library && take(__start___crsan_library);
}

/// 0 if there is none. Where a program was copied to goes before where it was
/// built.
static int findLibrary(void) {
  const char *Chosen = getenv("CRSAN_LIBRARY");
  if (Chosen && *Chosen) {
    if (take(Chosen))
      return 1;
    say("CRSAN_LIBRARY is '", Chosen,
        "', which cannot be read; races are not reported");
    return 0;
  }
  char File[PATH_MAX];
  ssize_t Length = readlink("/proc/self/exe", File, sizeof(File) - 1);
  if (Length > 0) {
    File[Length] = 0;
    if (lookBeside(File))
      return 1;
  }
  Dl_info Info;
  if (dladdr(Library, &Info) && Info.dli_fname &&
      realpath(Info.dli_fname, File))
    if (lookBeside(File))
      return 1;
  if (lookInRunPath() || lookWhereObjectsSay())
    return 1;
  say(LibraryName, " was not found",
      "; races are not reported. Copy it beside the program or set "
      "CRSAN_LIBRARY to its path");
  return 0;
}

/// Whether another copy of this part has acted in this process. Inherited is
/// set to the path that a parent gave to CUDA_INJECTION64_PATH, or to "".
static int wasHere(const char **Inherited) {
  const char *Mark = getenv(MarkVariable);
  *Inherited = "";
  if (!Mark)
    return 0;
  char *Colon;
  long Pid = strtol(Mark, &Colon, 10);
  if (*Colon == ':')
    *Inherited = Colon + 1;
  return Pid == (long)getpid();
}

static void *symbolOf(const char *File, const char *Name, int Mode) {
  void *Handle = dlopen(File, RTLD_LAZY | Mode);
  return Handle ? dlsym(Handle, Name) : NULL;
}

static void *symbol(const char *Name, int Mode) {
  return symbolOf(Library, Name, Mode);
}

static int isDebugged(void) {
  FILE *Status = fopen("/proc/self/status", "re");
  char Line[256];
  int Tracer = 0;
  while (Status && fgets(Line, sizeof(Line), Status))
    if (sscanf(Line, "TracerPid: %d", &Tracer) == 1)
      break;
  if (Status)
    fclose(Status);
  return Tracer != 0;
}

/// Defined by programs that have options of their own (crsan/crsan.h).
const char *__crsan_default_options(void) __attribute__((weak));

/// The program's options, and those of the environment, which go over them. An
/// empty text: there are none.
static void optionTexts(const char *Texts[2]) {
  const char *Defaults =
      __crsan_default_options ? __crsan_default_options() : NULL;
  const char *Users = getenv("CRSAN_OPTIONS");
  Texts[0] = Defaults ? Defaults : "";
  Texts[1] = Users ? Users : "";
}

static int hasOptions(void) {
  const char *Texts[2];
  optionTexts(Texts);
  return *Texts[0] || *Texts[1];
}

/// What the library has to be told launches by, or null. It is loaded already
/// if there are options. Not by Library: another copy of this part found it.
static int (*findListener(void))(const void *, FunctionOfKernel *) {
  const char *File = getenv(InjectionVariable);
  if (!hasOptions() || !File || !*File || !isDebugged())
    return NULL;
  return (int (*)(const void *, FunctionOfKernel *))(uintptr_t)symbolOf(
      File, "crsan_launching", RTLD_NOLOAD);
}

int crsanTellsLaunches = 1;

void crsanTellLaunch(const void *Kernel, FunctionOfKernel *FunctionOf) {
  int (*Listener)(const void *, FunctionOfKernel *) = findListener();
  if (!Listener || !FunctionOf || !Listener(Kernel, FunctionOf))
    __atomic_store_n(&crsanTellsLaunches, 0, __ATOMIC_RELAXED);
}

void crsanTellRefusal(const char *Kernel, int Error) {
  const char *File = getenv(InjectionVariable);
  void (*Tell)(const char *, int) = NULL;
  if (File && *File)
    Tell = (void (*)(const char *, int))(uintptr_t)symbolOf(
        File, "crsan_launch_refused", RTLD_NOLOAD);
  if (Tell)
    Tell(Kernel, Error);
}

/// What this copy of the host part does when the program ends.
static enum {
  Passes,  ///< Nothing: another copy, or the simulated GPU, does it.
  Reports, ///< It asks the library.
  IsBlind, ///< There is no library; it has been said why.
} Role = Passes;
static pid_t Starter;

/// Whether the options say require_checked=1. The library knows, but it may
/// not have been loaded. Of several words the last one counts.
static int requiresChecked(void) {
  static const char Name[] = "require_checked=";
  const char *Texts[2];
  optionTexts(Texts);
  int Required = 0;
  for (int I = 0; I < 2; ++I)
    for (const char *At = Texts[I]; (At = strstr(At, Name));
         At += sizeof(Name) - 1) {
      const char *Value = At + sizeof(Name) - 1;
      if (At == Texts[I] || strchr(" \t\r\n:,", At[-1]))
        Required = strchr("1yt", *Value) && *Value;
    }
  return Required;
}

/// Says why the library was never asked for. Returns the exit code that the
/// program shall have, 0 to leave it as it is.
static int sayUnchecked(void) {
  static int WasSaid;
  // What a forked child found, it has said itself.
  if (getpid() != Starter || crsanChildHasRun())
    return 0;
  char Why[1024] = "CUDA does not load CRSan under a debugger; run without it "
                   "to have races reported, or set CRSAN_OPTIONS=trap=1 to "
                   "stop where kernels launched by the CUDA run-time library "
                   "race";
  if (Role == Reports && !__atomic_exchange_n(&WasSaid, 1, __ATOMIC_RELAXED)) {
    if (!isDebugged() || !dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD))
      crsanDescribeDriver(Why, sizeof(Why));
    say("nothing was checked: ", Why, "");
    char Told[1100];
    snprintf(Told, sizeof(Told), "nothing was checked: %s", Why);
    crsanTellRunner(Told);
  }
  return requiresChecked() ? CRSAN_NOTHING_CHECKED : 0;
}

/// The exit code that the program shall have, 0 to leave it as it is, as a
/// function of the library's says.
static int exitCode(const char *Function) {
  if (Role == Passes)
    return 0;
  int (*Ask)(void) = NULL;
  if (Role == Reports)
    Ask = (int (*)(void))(uintptr_t)symbol(Function, RTLD_NOLOAD);
  const int Code = Ask ? Ask() : -1;
  if (Code < 0)
    return sayUnchecked();
  crsanNoteRun();
  return Code;
}

/// Registered before everything else of the program, so that it runs last.
static void atExit(void) {
  const int Code = exitCode("crsan_exit_code");
  if (Code == 0)
    return;
  fflush(NULL);
  crsanLeave(Code);
}

/// Likewise; what streams hold is lost, as quick_exit wants it.
static void atQuickExit(void) {
  const int Code = exitCode("crsan_early_exit_code");
  if (Code)
    crsanLeave(Code);
}

int crsanEnding(int Code) {
  const int Wanted = exitCode("crsan_early_exit_code");
  return Wanted ? Wanted : Code;
}

int crsanReplacing(const char *Program) {
  if (Role != Reports)
    return 0;
  int (*Tell)(const char *) =
      (int (*)(const char *))(uintptr_t)symbol("crsan_replacing", RTLD_NOLOAD);
  return Tell && Tell(Program);
}

void crsanNotReplaced(const char *Program) {
  void (*Tell)(const char *) = (void (*)(const char *))(uintptr_t)symbol(
      "crsan_not_replaced", RTLD_NOLOAD);
  if (Tell)
    Tell(Program);
}

void crsanMainThreadEnds(void) {
  if (Role != Reports)
    return;
  void (*Tell)(void) =
      (void (*)(void))(uintptr_t)symbol("crsan_main_thread_ends", RTLD_NOLOAD);
  if (Tell)
    Tell();
}

static void takePartInTheEnd(int HasLibrary) {
  Role = HasLibrary ? Reports : IsBlind;
  atexit(atExit);
  at_quick_exit(atQuickExit);
}

/// Keeps the code of this part loaded until the program ends, even if it is in
/// a library that the program closes.
static void pin(void) {
  Dl_info Info;
  if (dladdr(Library, &Info) && Info.dli_fname)
    (void)!dlopen(Info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

/// The simulated GPU (runtime/sim) is a CUDA runtime that looks for races
/// itself: no driver will load a library, and the end is not ours.
static int isSimulated(void) {
  return dlsym(RTLD_DEFAULT, "crsan_simulated_gpu") != NULL;
}

/// What is done once in a process, by whichever copy of this part comes first.
static void startOnce(void) {
  const char *Inherited;
  if (wasHere(&Inherited))
    return;
  Starter = getpid();
  const char *Injection = getenv(InjectionVariable);
  int IsForeign = Injection && *Injection && strcmp(Injection, Inherited) != 0;
  if (IsForeign) {
    const char *Slash = strrchr(Injection, '/');
    // Somebody chose a CRSan by hand.
    if (strcmp(Slash ? Slash + 1 : Injection, LibraryName) == 0 &&
        take(Injection))
      IsForeign = 0;
  }
  char Mark[PATH_MAX + 32];
  if (IsForeign) {
    say("races are not reported: CUDA_INJECTION64_PATH is already '", Injection,
        "'; unset it to run with CRSan instead");
    snprintf(Mark, sizeof(Mark), "%ld", (long)Starter);
    setenv(MarkVariable, Mark, 1);
    pin();
    takePartInTheEnd(/*HasLibrary=*/0);
    return;
  }
  if (!Library[0] && !findLibrary()) {
    snprintf(Mark, sizeof(Mark), "%ld", (long)Starter);
    setenv(MarkVariable, Mark, 1);
    pin();
    takePartInTheEnd(/*HasLibrary=*/0);
    return;
  }
  snprintf(Mark, sizeof(Mark), "%ld:%s", (long)Starter, Library);
  setenv(MarkVariable, Mark, 1);
  setenv(InjectionVariable, Library, 1);
  pin();
  takePartInTheEnd(/*HasLibrary=*/1);

  // Wrong options end the program here, before it has done anything, and with
  // or without a GPU.
  if (hasOptions()) {
    void (*Check)(void) =
        (void (*)(void))(uintptr_t)symbol("crsan_check_options", 0);
    if (Check)
      Check();
    else
      say("cannot load ", Library, "; races are not reported");
  }
}

/// The library that was found in this process, by this copy or another one;
/// null: none was.
static const char *libraryOfProcess(void) {
  const char *File;
  return wasHere(&File) && *File ? File : NULL;
}

int crsanMayLoadKernels(void) {
  const char *File = isSimulated() ? NULL : libraryOfProcess();
  int (*Ask)(void) = NULL;
  if (File)
    Ask = (int (*)(void))(uintptr_t)symbolOf(File, "crsan_may_load_kernels",
                                             RTLD_NOLOAD);
  return Ask && Ask();
}

__attribute__((constructor(101))) static void crsanHostStart(void) {
  const int IsSimulated = isSimulated();
  crsanCheckRunner(IsSimulated);
  if (!IsSimulated)
    startOnce();
  crsanTellHostCode(libraryOfProcess());
}
