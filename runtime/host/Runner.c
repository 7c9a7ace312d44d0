// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs that crsan run has started, directly or through others.
//
// CRSAN_RUN in the environment, "sim:FOLDER/NAME" or "gpu:FOLDER/NAME", says
// where crsan run collects what the processes of a run record. A process that
// was started with another environment looks for the tool among its ancestors:
// the tool holds the folder open. Such a process is lost to the report, and so
// is one that should be on the simulated GPU and is not. Either leaves a file
// in the folder, of which the tool tells.

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "Runner.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// Of CUDA's runtime and of its driver, in the program or a library: a program
/// without them has nothing to check.
void __cudaRegisterFatBinary(void) __attribute__((weak));
int cuInit(unsigned) __attribute__((weak));

static const char Variable[] = "CRSAN_RUN";
static const char FolderName[] = "/crsan-run-";

/// "FOLDER/NAME" of this process's run; empty: crsan run has not started it, or
/// cannot be found.
static char Run[PATH_MAX];

/// The parent of a process, or 0.
static long parentOf(long Pid) {
  char Name[64], Line[1024];
  snprintf(Name, sizeof(Name), "/proc/%ld/stat", Pid);
  const int File = open(Name, O_RDONLY | O_CLOEXEC);
  const ssize_t Size = File < 0 ? -1 : read(File, Line, sizeof(Line) - 1);
  if (File >= 0)
    close(File);
  if (Size <= 0)
    return 0;
  Line[Size] = 0;
  // "1 (name) S 0 ...": the name may have parentheses.
  const char *End = strrchr(Line, ')');
  long Parent = 0;
  return End && sscanf(End + 1, " %*c %ld", &Parent) == 1 ? Parent : 0;
}

/// Whether the process is crsan run; then `Folder` is set.
static int isRunner(long Pid, char *Folder) {
  char Name[64];
  snprintf(Name, sizeof(Name), "/proc/%ld/fd", Pid);
  DIR *Files = opendir(Name);
  int Found = 0;
  for (struct dirent *File; Files && !Found && (File = readdir(Files));) {
    const ssize_t Size =
        readlinkat(dirfd(Files), File->d_name, Folder, PATH_MAX - 1);
    Folder[Size > 0 ? Size : 0] = 0;
    const char *Last = strrchr(Folder, '/');
    Found = Last && strncmp(Last, FolderName, sizeof(FolderName) - 1) == 0 &&
            access(Folder, W_OK) == 0;
  }
  if (Files)
    closedir(Files);
  return Found;
}

/// Fills `Folder` if an ancestor is crsan run.
static int findRunner(char *Folder) {
  long Pid = (long)getppid();
  for (int Depth = 0; Pid > 1 && Depth < 64; ++Depth, Pid = parentOf(Pid))
    if (isRunner(Pid, Folder))
      return 1;
  return 0;
}

/// Writes the words of this process's command line, blanks between them.
static void describeCommand(char *Text, size_t Size) {
  const int File = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  const ssize_t Length = File < 0 ? -1 : read(File, Text, Size - 1);
  if (File >= 0)
    close(File);
  Text[Length > 0 ? Length : 0] = 0;
  for (ssize_t I = 0; I + 1 < Length; ++I)
    if (Text[I] == 0)
      Text[I] = ' ';
}

/// Writes a file: who this process is, and the reason. The kind of file is
/// "lost" or "unchecked".
static void leaveWord(const char *Kind, const char *Why) {
  char Path[PATH_MAX + 64], Command[256], Line[2048];
  if (!*Run)
    return;
  describeCommand(Command, sizeof(Command));
  snprintf(Path, sizeof(Path), "%s-%ld.%s", Run, (long)getpid(), Kind);
  int Length = snprintf(Line, sizeof(Line), "process %ld (%s)\n%s\n",
                        (long)getpid(), Command, Why);
  if (Length > (int)sizeof(Line) - 1)
    Length = (int)sizeof(Line) - 1;
  const int File = open(Path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (File < 0)
    return; // The first reason is the cause of others.
  // Of a disk that is full, the tool learns by an empty file.
  const ssize_t Written = write(File, Line, (size_t)Length);
  (void)Written;
  close(File);
}

void crsanTellRunner(const char *Why) { leaveWord("unchecked", Why); }

static void sayLost(const char *Why) {
  char Line[1024];
  const int Length = snprintf(Line, sizeof(Line), "CRSan: %s\n", Why);
  leaveWord("lost", Why);
  // The standard error may be closed; the tool has been told.
  if (write(STDERR_FILENO, Line, (size_t)Length) < 0)
    return;
}

void crsanCheckRunner(int IsSimulated) {
  const char *Said = getenv(Variable);
  const char *Begin = Said ? strstr(Said, ":/") : NULL;
  if (Begin)
    snprintf(Run, sizeof(Run), "%s", Begin + 1);
  if (!__cudaRegisterFatBinary && !cuInit)
    return;
  char Mine[64];
  snprintf(Mine, sizeof(Mine), "lost:%ld", (long)getpid());
  if (Said && strcmp(Said, Mine) == 0)
    return; // Another copy of this part has said so.
  char Folder[PATH_MAX];
  if (!Begin && findRunner(Folder)) {
    snprintf(Run, sizeof(Run), "%.*s/lost", PATH_MAX - 8, Folder);
    setenv(Variable, Mine, 1);
    sayLost("crsan run has started this program, but somebody has cleared its "
            "environment: the options are lost, and what it finds is not in "
            "the report; pass CRSAN_OPTIONS, CRSAN_RUN and LD_LIBRARY_PATH on");
  } else if (Begin && strncmp(Said, "sim:", 4) == 0 && !IsSimulated) {
    setenv(Variable, Mine, 1);
    sayLost("nothing is checked: the program is not on the simulated GPU, as "
            "crsan run wants it; it holds the CUDA runtime itself (link the "
            "shared one: no -lcudart_static), or somebody has changed "
            "LD_LIBRARY_PATH");
  }
}
