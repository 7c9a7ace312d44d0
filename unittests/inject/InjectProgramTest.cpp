// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The library through a program's life.
//
// Runs FakeProgram, whose arguments say what it does and how it ends, against
// FakeDriver.

#include "FakeRun.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

TEST(InjectProgram, ARaceTurnsTheExitCode) {
  Outcome O = run("racy");
  EXPECT_EQ(O.Status, 66) << O.Text;
  EXPECT_THAT(O.Text, AllOf(HasSubstr(Race), HasSubstr("file.cu:10:3"),
                            HasSubstr("occurrences: 1\n"), HasSubstr("end\n")));
  EXPECT_EQ(O.reports(), 1u);
}

TEST(InjectProgram, ACleanRunIsSilentUnlessAsked) {
  Outcome Quiet = run("clean");
  EXPECT_EQ(Quiet.Status, 0);
  EXPECT_EQ(Quiet.Text, "begin\nend\n");
  Outcome Told = run("clean", "CRSAN_OPTIONS=verbosity=1");
  EXPECT_EQ(Told.Status, 0);
  EXPECT_THAT(Told.Text, AllOf(HasSubstr("checked 1 kernel launch"),
                               HasSubstr("32 accesses checked"),
                               HasSubstr("no data races found")));
}

TEST(InjectProgram, AProgramsOwnCodeStaysUnlessThereAreRaces) {
  EXPECT_EQ(run("clean exit3").Status, 3);
  EXPECT_EQ(run("racy exit3").Status, 66);
  EXPECT_EQ(run("racy exit3", "CRSAN_OPTIONS=exitcode=0").Status, 3);
}

// Intent: memory has shadow from its allocation to its end, also if it was
// allocated before the code that needs the shadow was configured.
TEST(InjectProgram, MemoryIsFollowedThroughItsLife) {
  EXPECT_THAT(run("alloc touch").Text, HasSubstr("begin\nnot shadowed\nend\n"));
  EXPECT_EQ(run("metadata alloc touch").Text, "begin\nexact\nend\n");
  EXPECT_EQ(run("metadata clean alloc touch").Text, "begin\nexact\nend\n");
  EXPECT_EQ(run("metadata managed touch").Text,
            "begin\nexact, the host's\nend\n");
  EXPECT_THAT(run("metadata alloc touch free touch").Text,
              HasSubstr("begin\nexact\nno shadow\nend\n"));
  EXPECT_THAT(run("metadata allocasync freeasync touch sync touch").Text,
              HasSubstr("begin\nexact\nno shadow\nend\n"));
  EXPECT_EQ(run("metadata allocbynode touch").Text, "begin\nexact\nend\n");
}

// Intent: a thread that allocates memory while another thread is still in the
// call that frees the same addresses has its memory tracked.
TEST(InjectProgram, MemoryThatIsReusedDuringItsFreeIsFollowed) {
  const std::string Mapped = "metadata alloc free map touch ";
  EXPECT_EQ(run(Mapped + "remap touch").Text, "begin\nexact\nexact\nend\n");
  EXPECT_THAT(run(Mapped + "remap unmap touch").Text,
              HasSubstr("begin\nexact\nno shadow\nend\n"));
}

TEST(InjectProgram, MemoryIsFollowedIfItsFreeFails) {
  for (const char *Free : {"free", "freeasync sync", "unmap"})
    EXPECT_EQ(
        run(std::string("metadata alloc failfrees ") + Free + " touch").Text,
        "begin\nexact\nend\n")
        << Free;
}

// Intent: where shadow is short, allocations go on while a kernel runs that may
// wait for the program; its shadow is not used for other memory meanwhile.
TEST(InjectProgram, ARunningKernelDoesNotKeepTheProgramFromAllocating) {
  const std::string Options =
      "CRSAN_OPTIONS=exit_timeout_ms=100:shadow_limit=16";
  Outcome O = run("metadata touch hangs allocmuch touch", Options);
  EXPECT_NE(O.Status, 124) << O.Text;
  EXPECT_THAT(O.Text, HasSubstr("no shadow\nno shadow\nend\n"));
  O = run("metadata allocmuch touch", Options);
  EXPECT_THAT(O.Text, HasSubstr("begin\ncached\nend\n"));
  O = run("metadata clean allocmuch touch", Options);
  EXPECT_THAT(O.Text, HasSubstr("begin\ncached\nend\n"));
}

// Intent: what the device wants to have forgotten is forgotten when the context
// is idle, and not if another thread has launched a kernel since.
TEST(InjectProgram, ClocksThatAreUsedUpStartAgainWhenTheContextIsIdle) {
  const std::string Options = "CRSAN_OPTIONS=verbosity=2:exit_timeout_ms=100";
  Outcome O = run("metadata usesup sync", Options);
  EXPECT_THAT(O.Text, HasSubstr("starting from zero on device 0\n"));
  O = run("metadata usesup hangaftersync", Options);
  EXPECT_NE(O.Status, 124) << O.Text;
  EXPECT_THAT(O.Text,
              AllOf(Not(HasSubstr("starting from zero")), HasSubstr("end\n")));
}

TEST(InjectProgram, WhatMetadataModeCheckedIsSaid) {
  // The module's variables are tracked, too.
  Outcome O = run("metadata alloc touch touch", "CRSAN_OPTIONS=verbosity=1");
  EXPECT_THAT(
      O.Text,
      AllOf(
          ContainsRegex(
              "metadata mode checked 2 accesses of functions with 0 sites in 2 "
              "kernel launches; not checked: 0; memory tracked: "
              "1[0-9] MiB exactly, 0 MiB by a cache, 0 MiB not"),
          HasSubstr("no data races found")));
  O = run("metadata alloc touch free touch");
  EXPECT_THAT(
      O.Text,
      HasSubstr("metadata mode checked 1 access of functions with 0 sites in 2 "
                "kernel launches; not checked: 1 (memory is "
                "tracked if"));
  O = run("metadata alloc touch", "CRSAN_OPTIONS=shadow_limit=16");
  EXPECT_THAT(O.Text, ContainsRegex("at most 2 MiB were tracked exactly, "
                                    "1[0-9] MiB by a cache"));
  O = run("metadata alloc touch", "CRSAN_OPTIONS=shadow_limit=4");
  EXPECT_THAT(
      O.Text,
      AllOf(HasSubstr("\nno shadow\n"),
            HasSubstr("nothing was checked: no access that the launched "
                      "kernels executed could be checked (there was no "
                      "room for more shadow, raise shadow_limit, which "
                      "is 4 MiB)")));
  // Whoever follows the advice has it checked.
  O = run("metadata alloc touch", "CRSAN_OPTIONS=verbosity=1");
  EXPECT_THAT(O.Text, HasSubstr("metadata mode checked 1 access"));
}

TEST(InjectProgram, WithoutTablesMetadataModeIsOff) {
  Outcome O = run("metadata touch", "FAKE_MEMORY=10000000");
  EXPECT_THAT(O.Text,
              AllOf(HasSubstr("cuMemAlloc failed"), HasSubstr("not shadowed"),
                    HasSubstr("metadata mode was off on device 0"),
                    HasSubstr("nothing was checked")));
}

// Intent: however a program ends, the report appears, once.
TEST(InjectProgram, EveryEndReports) {
  struct {
    const char *Words;
    int Status;
  } Ends[] = {
      {"racy quick", 66},
      {"racy abort", 134},
      {"racy segv", 139},
      {"racy term", 143},
      {"racy reset", 66},
      {"racy unload", 66},
      {"late", 66},
      {"asserts", 66},
      {"asserts abort", 134},
      {"early racy", 66},
      {"reset racy", 66},
      {"racy reset racy", 66},
      {"racy _exit", 66},
      {"racy _exit3", 66},
      {"racy _Exit", 66},
      {"racy alarm", 142},
      {"racy _exitinhandler", 66},
      {"racy daemon", 66},
      {"racy pthread_exit", 66},
  };
  for (const auto &[Words, Status] : Ends) {
    Outcome O = run(Words);
    // timeout(1) passes a signal's death on as a status, or dies of it itself.
    EXPECT_EQ(O.Status, Status) << Words << '\n' << O.Text;
    EXPECT_THAT(O.Text, HasSubstr(Race)) << Words;
    EXPECT_EQ(O.reports(), 1u) << Words << '\n' << O.Text;
  }
}

// Intent: ends that call no exit handlers are as quiet as others, keep the
// program's code, and run the handlers that they run.
TEST(InjectProgram, EarlyEndsOfCleanRunsAreLeftAlone) {
  EXPECT_EQ(run("clean _exit").Status, 0);
  EXPECT_EQ(run("clean _exit3").Status, 3);
  EXPECT_EQ(run("clean _exit3").Text, ""); // _exit drops what streams hold.
  EXPECT_EQ(run("clean handlers quick").Text, "handler\n");
  Outcome O = run("racy handlers quick");
  EXPECT_EQ(O.Status, 66);
  EXPECT_THAT(O.Text, AllOf(HasSubstr("handler\n"), HasSubstr(Race)));
}

// Intent: what was found is said before another program takes this one's place,
// and if that fails nothing is lost.
TEST(InjectProgram, AReplacedProgramReportsBefore) {
  for (const char *How : {"execv", "execlp", "execle"}) {
    Outcome O = run(std::string("racy ") + How);
    EXPECT_EQ(O.Status, 0) << How;
    EXPECT_EQ(O.reports(), 1u) << How << O.Text;
    EXPECT_THAT(O.Text, ContainsRegex("the exit status will be that of "
                                      "'[a-z/]*'\nreplaced\n"))
        << How;
    EXPECT_EQ(run(std::string("clean ") + How).Text, "replaced\n") << How;
  }
  Outcome O = run("racy execmissing");
  EXPECT_EQ(O.Status, 66);
  EXPECT_EQ(O.reports(), 1u) << O.Text;
  O = run("racy execbroken racy");
  EXPECT_EQ(O.Status, 66);
  EXPECT_EQ(O.reports(), 2u) << O.Text;
  EXPECT_THAT(O.Text, AllOf(HasSubstr("'/' could not be run: this program goes "
                                      "on"),
                            HasSubstr("occurrences: 2")));
}

// Intent: a child that shares nothing but a copy of the run says nothing of it.
TEST(InjectProgram, ForkedChildrenDoNotRepeatTheReport) {
  for (const auto &[Word, Code] :
       {std::pair("fork_exit", "5"), std::pair("forkexec", "6"),
        std::pair("vfork", "7")}) {
    Outcome O = run(std::string("racy ") + Word);
    EXPECT_EQ(O.Status, 66) << Word;
    EXPECT_EQ(O.reports(), 1u) << Word << O.Text;
    EXPECT_THAT(O.Text, HasSubstr(std::string("child ") + Code + "\n")) << Word;
  }
}

// Intent: a child that uses CUDA itself reports for itself, and its parent does
// not say that nothing was checked.
TEST(InjectProgram, AForkedChildThatUsesCudaReports) {
  for (const char *End : {"", "_exit", "quick"}) {
    Outcome O = run(std::string("forkfirst racy ") + End,
                    "CRSAN_OPTIONS=require_checked=1");
    EXPECT_EQ(O.Status, 0) << O.Text;
    EXPECT_EQ(O.reports(), 1u) << O.Text;
    EXPECT_THAT(O.Text, AllOf(HasSubstr(Race), HasSubstr("child 66\n"),
                              Not(HasSubstr("nothing was checked"))));
  }
}

// Intent: a run in which nothing was checked fails where that is required, and
// only there.
TEST(InjectProgram, NothingCheckedCanBeAnError) {
  struct {
    const char *Words, *Environment, *Why;
  } Runs[] = {
      {"nocuda", "", "the program did not initialise CUDA"},
      {"nocuda_exit", "", "the program did not initialise CUDA"},
      {"nocudaquick", "", "the program did not initialise CUDA"},
      {"nocudainit", "FAKE_NO_DEVICE=1",
       "could not be initialised (CUDA_ERROR_NO_DEVICE: no CUDA-capable device "
       "is detected); let the process see a GPU"},
      {"", "", "no kernel was launched"},
      {"foreign", "", "no instrumented kernel was launched"},
      {"foreign _exit", "", "no instrumented kernel was launched"},
      {"foreign quick", "", "no instrumented kernel was launched"},
      {"refused", "", "every kernel launch failed"},
      {"refused foreign", "", "some kernel launches failed"},
      {"oldabi racy", "", "could not be switched on"},
      {"jit racy", "", "could not be switched on"},
      {"racy", "FAKE_OLD_DEVICE=1", "could not be switched on"},
      {"racy", "FAKE_BUSY=1", "a profiler or debugger uses CUPTI already"},
      {"racy", "CUDA_INJECTION64_PATH=/x/profiler.so",
       "races are not reported"},
      {"racy", "CRSAN_LIBRARY=/nonexistent", "races are not reported"},
  };
  for (const auto &[Words, Environment, Why] : Runs) {
    Outcome Lax = run(Words, Environment);
    EXPECT_EQ(Lax.Status, 0) << Words << Environment << Lax.Text;
    EXPECT_THAT(Lax.Text, HasSubstr(Why)) << Words;
    for (const char *Options :
         {"require_checked=1", "require_checked=0:require_checked=1:seed=3"}) {
      Outcome Strict =
          run(Words, std::string(Environment) + " CRSAN_OPTIONS=" + Options);
      EXPECT_EQ(Strict.Status, 67) << Words << Environment << Strict.Text;
    }
    EXPECT_EQ(run(Words, std::string(Environment) + " CRSAN_OPTIONS=" +
                             "require_checked=1:require_checked=0")
                  .Status,
              0)
        << Words;
  }
  const char Strict[] = "CRSAN_OPTIONS=require_checked=1";
  EXPECT_EQ(run("clean", Strict).Status, 0);
  EXPECT_EQ(run("clean exit3", Strict).Status, 3);
  EXPECT_EQ(run("racy", Strict).Status, 66);
  EXPECT_EQ(run("racy", "CRSAN_OPTIONS=require_checked=1:enabled=0").Status, 0);
}

// Intent: without a driver, that is what is said.
TEST(InjectProgram, WithoutADriverThatIsSaid) {
  Outcome O = run("", "LD_LIBRARY_PATH=", "NoDriverProgram");
  EXPECT_EQ(O.Status, 0);
  EXPECT_THAT(O.Text, HasSubstr("nothing was checked: there is no CUDA driver "
                                "(libcuda.so.1: cannot open shared object "
                                "file"));
  EXPECT_THAT(O.Text, HasSubstr("crsan run --device=sim PROGRAM\n"));
}

TEST(InjectProgram, ResetsAndUnloadsKeepExactCounts) {
  EXPECT_THAT(run("racy racy reset").Text, HasSubstr("occurrences: 2\n"));
  EXPECT_THAT(run("racy racy unload").Text, HasSubstr("occurrences: 2\n"));
  EXPECT_THAT(run("racy reset racy").Text, HasSubstr("64 accesses checked"));
}

TEST(InjectProgram, AHangingKernelIsReportedAfterAWhile) {
  for (const char *Words : {"hangs", "hangs _exit", "hangs quick"}) {
    Outcome O = run(Words, "CRSAN_OPTIONS=exit_timeout_ms=100");
    EXPECT_EQ(O.Status, 66) << Words;
    EXPECT_THAT(O.Text,
                AllOf(HasSubstr("still run after 100 ms"), HasSubstr("k(int*)"),
                      HasSubstr("at least 1"), HasSubstr(Race)))
        << Words;
    EXPECT_EQ(O.reports(), 1u) << Words;
  }
}

TEST(InjectProgram, HaltOnErrorDoesNotWaitForTheProgram) {
  Outcome O = run("racy pause", "CRSAN_OPTIONS=halt_on_error=1:poll_ms=1");
  EXPECT_EQ(O.Status, 66);
  EXPECT_THAT(O.Text, AllOf(HasSubstr(Race), Not(HasSubstr("end\n"))));
}

constexpr char Debugged[] =
    "CRSan: under a debugger: races stop at a breakpoint and are not "
    "reported\n";

// Intent: trap=1 needs no CUPTI, which a debugger excludes.
TEST(InjectProgram, UnderADebuggerARaceIsABreakpoint) {
  Outcome O = run("traced racy clean racy",
                  "FAKE_DEBUGGER=1 CRSAN_OPTIONS=trap=1:seed=7");
  EXPECT_EQ(O.Status, 0);
  EXPECT_EQ(O.Text, std::string(Debugged) +
                        "begin\nbreakpoint, seed 7\nbreakpoint, seed 7\nend\n");
  EXPECT_EQ(
      run("traced clean foreign", "FAKE_DEBUGGER=1 CRSAN_OPTIONS=trap=1").Text,
      std::string(Debugged) + "begin\nend\n");
}

// Intent: where CUDA loads the library in spite of a debugger, CUPTI is used.
TEST(InjectProgram, WhereCuptiWorksItIsUsed) {
  for (const char *Words : {"racy", "traced racy"}) {
    Outcome O = run(Words, "CRSAN_OPTIONS=trap=1");
    EXPECT_EQ(O.Status, 66);
    EXPECT_THAT(O.Text, AllOf(HasSubstr("breakpoint"), HasSubstr(Race),
                              Not(HasSubstr("under a debugger"))));
  }
}

TEST(InjectProgram, AnUncheckedRunUnderADebuggerNamesTheRemedy) {
  for (const char *Environment :
       {"FAKE_DEBUGGER=1", "FAKE_DEBUGGER=1 CRSAN_OPTIONS=seed=1"})
    EXPECT_THAT(run("traced racy", Environment).Text,
                AllOf(HasSubstr("nothing was checked: CUDA does not load CRSan "
                                "under a debugger"),
                      HasSubstr("CRSAN_OPTIONS=trap=1"),
                      Not(HasSubstr("breakpoint, seed"))));
  EXPECT_THAT(run("racy", "FAKE_DEBUGGER=1 CRSAN_OPTIONS=trap=1").Text,
              AllOf(HasSubstr("keeps other libraries out"),
                    Not(HasSubstr("debugger"))));
}

TEST(InjectProgram, AForkedChildNeitherReportsNorTurnsItsCode) {
  Outcome O = run("racy fork");
  EXPECT_EQ(O.Status, 66);
  EXPECT_EQ(O.reports(), 1u) << O.Text;
}

TEST(InjectProgram, ARefusedLaunchIsLoud) {
  Outcome O = run("clean refused refused");
  EXPECT_EQ(O.Status, 0);
  EXPECT_THAT(O.Text, AllOf(HasSubstr("CRSan: launch of k(int*) failed: "
                                      "CUDA_ERROR_INVALID_VALUE; it was not "
                                      "checked\n"),
                            HasSubstr("2 kernel launches failed")));
}

// Intent: what the run-time library refuses, the driver does not hear of.
TEST(InjectProgram, ALaunchThatTheRunTimeLibraryRefusesIsLoud) {
  Outcome O = run("clean noblocks refused noblocks");
  EXPECT_THAT(O.Text, AllOf(HasSubstr("CRSan: launch of a kernel failed: "
                                      "cudaErrorInvalidConfiguration; it was "
                                      "not checked\n"),
                            HasSubstr("3 kernel launches failed")));
}

// Intent: that blocks no longer run all at once is one line for each kernel,
// which comes back when kernels hang.
TEST(InjectProgram, AGridThatLacksRegistersIsSaidOnce) {
  const std::string Line =
      "CRSan: kernel k(int*): only 132 of its 264 blocks run at a time, for "
      "want of registers (64 a thread, some of them for the checks); if its "
      "blocks wait for each other, compile with -Xcuda-ptxas "
      "--maxrregcount=32 or give it __launch_bounds__(1024, 2)\n";
  for (const char *Environment : {"", "FAKE_KERNELS_ONLY=1"}) {
    Outcome O = run("clean crowded large crowded", Environment);
    EXPECT_EQ(O.Status, 0);
    EXPECT_EQ(O.Text, Line + "begin\nend\n");
  }
  for (const char *Words : {"large crowded", "crowded reset crowded"})
    EXPECT_EQ(run(Words).Text, Line + "begin\nend\n") << Words;
  EXPECT_THAT(run("crowdedhangs", "CRSAN_OPTIONS=exit_timeout_ms=100").Text,
              ContainsRegex("still run after 100 ms.*\nCRSan: kernel k.int..: "
                            "only 132 of its 264"));
}

TEST(InjectProgram, GridsThatLackNothingAreNotMentioned) {
  EXPECT_EQ(run("clean large").Text, "begin\nend\n");
  EXPECT_EQ(run("crowded", "FAKE_NO_OCCUPANCY=1").Text, "begin\nend\n");
  EXPECT_THAT(run("hangs", "CRSAN_OPTIONS=exit_timeout_ms=100").Text,
              Not(HasSubstr("registers")));
}

TEST(InjectProgram, AFailedKernelIsLoud) {
  EXPECT_THAT(run("asserts").Text,
              AllOf(HasSubstr("a kernel failed on device 0: CUDA_ERROR_ASSERT"),
                    HasSubstr("last launched: k(int*)")));
}

TEST(InjectProgram, UncheckedRunsDoNotLookClean) {
  EXPECT_THAT(run("foreign").Text, HasSubstr("nothing was checked"));
  EXPECT_THAT(run("").Text, HasSubstr("nothing was checked"));
  EXPECT_THAT(run("nocuda").Text, HasSubstr("did not initialise CUDA"));
}

TEST(InjectProgram, AnotherVersionRunsUnchecked) {
  Outcome O = run("oldabi racy");
  EXPECT_EQ(O.Status, 0);
  EXPECT_THAT(O.Text,
              AllOf(HasSubstr("ABI version"), HasSubstr("rebuild"),
                    Not(HasSubstr("not instrumented")), HasSubstr("end\n")));
}

TEST(InjectProgram, ImagesThatCuptiDoesNotShowAreFound) {
  Outcome O = run("racy", "FAKE_NO_IMAGES=1");
  EXPECT_EQ(O.Status, 66);
  EXPECT_THAT(O.Text, HasSubstr(Race));
}

// Intent: whatever keeps the library from working is one line, and the program
// runs as if nothing was.
TEST(InjectProgram, ObstaclesAreOneLine) {
  struct {
    const char *Environment, *Line;
  } Obstacles[] = {
      {"FAKE_BUSY=1", "a profiler or debugger uses CUPTI already"},
      {"FAKE_OLD_DEVICE=1", "device 0 has compute capability 6.x"},
      {"CUDA_INJECTION64_PATH=/x/profiler.so",
       "CUDA_INJECTION64_PATH is already '/x/profiler.so'"},
      {"CRSAN_LIBRARY=/nonexistent", "CRSAN_LIBRARY is '/nonexistent'"},
  };
  for (const auto &[Environment, Line] : Obstacles) {
    Outcome O = run("racy", Environment);
    EXPECT_EQ(O.Status, 0) << O.Text;
    EXPECT_THAT(O.Text, AllOf(HasSubstr(Line), HasSubstr("end\n")));
  }
}

TEST(InjectProgram, WrongOptionsEndItBeforeItStarts) {
  for (const char *Words : {"racy", "nocuda"}) {
    Outcome O = run(Words, "CRSAN_OPTIONS=halt_on_eror=1");
    EXPECT_EQ(O.Status, 1);
    EXPECT_EQ(O.Text, "CRSan: CRSAN_OPTIONS: unknown option 'halt_on_eror'; "
                      "did you mean 'halt_on_error'? CRSAN_OPTIONS=help=1 "
                      "lists the options\n");
  }
}

TEST(InjectProgram, HelpNeedsNoGpu) {
  EXPECT_THAT(run("nocuda", "CRSAN_OPTIONS=help=1").Text,
              HasSubstr("  halt_on_error=0\n"));
}

/// A folder for logs, which is removed at the end.
struct LogFolder {
  LogFolder() { std::filesystem::create_directories(Path); }
  ~LogFolder() { std::filesystem::remove_all(Path); }
  /// The contents of the files, by name.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> Files;
    for (const auto &File : std::filesystem::directory_iterator(Path)) {
      std::ifstream In(File.path());
      Files[File.path().filename()] =
          std::string((std::istreambuf_iterator<char>(In)), {});
    }
    return Files;
  }
  const std::filesystem::path Path = std::filesystem::temp_directory_path() /
                                     ("crsan-log-" + std::to_string(getpid()));
};

TEST(InjectProgram, TheLogGoesWhereItIsTold) {
  LogFolder Folder;
  Outcome O =
      run("racy", "CRSAN_OPTIONS=log_path=" + (Folder.Path / "log").string());
  EXPECT_EQ(O.Status, 66);
  EXPECT_EQ(O.Text, "begin\nend\n");
  const auto Files = Folder.files();
  ASSERT_EQ(Files.size(), 1u);
  EXPECT_THAT(Files.begin()->first, testing::MatchesRegex("log\\.[0-9]+"));
  EXPECT_THAT(Files.begin()->second, HasSubstr(Race));
}

TEST(InjectProgram, TheProcesssIdIsWhereItIsAskedFor) {
  LogFolder Folder;
  run("racy",
      "CRSAN_OPTIONS=log_path=" + (Folder.Path / "%%races-%p.txt").string());
  const auto Files = Folder.files();
  ASSERT_EQ(Files.size(), 1u);
  EXPECT_THAT(Files.begin()->first,
              testing::MatchesRegex("%races-[0-9]+\\.txt"));
}

// Intent: however a program ends, all that it has found is in the file, and the
// text is where it always is.
TEST(InjectProgram, EveryEndSavesTheRun) {
  for (const char *Words :
       {"racy", "racy _exit", "racy segv", "racy term", "racy abort",
        "racy quick", "racy pthread_exit", "racy execv", "racy execmissing",
        "racy hangs", "racy asserts", "forkfirst racy"}) {
    LogFolder Folder;
    Outcome O = run(Words, "CRSAN_OPTIONS=exit_timeout_ms=200:log_path=" +
                               (Folder.Path / "races-%p.json").string());
    EXPECT_THAT(O.Text, HasSubstr("data race")) << Words;
    size_t Racy = 0;
    for (const auto &[Name, Text] : Folder.files()) {
      EXPECT_THAT(Name, testing::MatchesRegex("races-[0-9]+\\.json"));
      Racy += Text.find("\"heading\": \"clobbered read") != Text.npos;
    }
    EXPECT_EQ(Racy, 1u) << Words;
  }
}

// Intent: a kernel's fault is a finding, and no race: it has an exit code of
// its own, no option about races leaves it out, and the files have it.
TEST(InjectProgram, AFailedKernelIsAFinding) {
  LogFolder Folder;
  const std::string Known = (Folder.Path / "known.txt").string();
  std::ofstream(Known) << "race:*\n";
  const Outcome O = run(
      "fails", "CRSAN_OPTIONS=log_path=" + (Folder.Path / "%p.json").string() +
                   ":kernels=other:suppressions=" + Known);
  EXPECT_EQ(O.Status, 68) << O.Text;
  EXPECT_THAT(O.Text,
              AllOf(HasSubstr("CRSan: kernel fault: invalid address\n"),
                    HasSubstr("  kernel: k(int*)\n"),
                    HasSubstr("first seen: a thread that is not known\n"),
                    HasSubstr("The driver says CUDA_ERROR_ILLEGAL_ADDRESS."),
                    HasSubstr("SUMMARY: CRSan: 1 kernel fault\n"),
                    Not(HasSubstr("data race")), Not(HasSubstr("suppress"))));
  size_t Found = 0;
  for (const auto &[Name, Text] : Folder.files())
    Found += Text.find("\"fault\": \"invalid address\"") != Text.npos;
  EXPECT_EQ(Found, 1u);
}

TEST(InjectProgram, ARaceBesideAFaultSetsTheExitCode) {
  const Outcome O = run("racy fails");
  EXPECT_EQ(O.Status, 66);
  EXPECT_THAT(O.Text, HasSubstr("1 data race (1 clobbered read), 1 kernel "
                                "fault\n"));
  EXPECT_EQ(run("fails exit3").Status, 68);
  EXPECT_EQ(run("fails exit3", "CRSAN_OPTIONS=exitcode=0").Status, 3);
  EXPECT_EQ(run("fails exit3", "CRSAN_OPTIONS=exitcode=9").Status, 68);
}

// Intent: crsan run gets what each process has recorded, beside a log of the
// user's; and from a process in which nothing was checked, the reason.
TEST(InjectProgram, CrsanRunGetsAFileOfEachProcess) {
  LogFolder Folder;
  const std::string Run = "CRSAN_RUN=gpu:" + (Folder.Path / "run0").string();
  EXPECT_EQ(run("racy", Run + " CRSAN_OPTIONS=log_path=" +
                            (Folder.Path / "own-%p.json").string())
                .Status,
            66);
  auto Files = Folder.files();
  ASSERT_EQ(Files.size(), 2u);
  for (const auto &[Name, Text] : Files) {
    EXPECT_THAT(Name, testing::MatchesRegex("(own|run0)-[0-9]+\\.json"));
    EXPECT_THAT(Text, AllOf(HasSubstr("\"heading\": \"clobbered read"),
                            Not(HasSubstr("is not complete"))));
    std::filesystem::remove(Folder.Path / Name);
  }
  run("", Run, "NoDriverProgram");
  Files = Folder.files();
  ASSERT_EQ(Files.size(), 1u);
  EXPECT_THAT(Files.begin()->first,
              testing::MatchesRegex("run0-[0-9]+\\.unchecked"));
  EXPECT_THAT(Files.begin()->second,
              ContainsRegex("process [0-9]+ \\(.*NoDriverProgram\\)\nnothing "
                            "was checked: "));
}

TEST(InjectProgram, AnUnwritableLogFallsBackToStderr) {
  Outcome O = run("racy", "CRSAN_OPTIONS=log_path=/nonexistent/log");
  EXPECT_EQ(O.Status, 66);
  EXPECT_THAT(O.Text,
              AllOf(HasSubstr("cannot write log_path"), HasSubstr(Race)));
}

TEST(InjectProgram, DisabledItDoesNothing) {
  Outcome O = run("racy", "CRSAN_OPTIONS=enabled=0");
  EXPECT_EQ(O.Status, 0);
  EXPECT_EQ(O.Text, "begin\nend\n");
}

} // namespace
