// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The library in programs that are not instrumented, or not known to be.
//
// Runs FakeProgram, and PlainProgram, which is the same without a host part.

#include "FakeRun.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(InjectForeignProgram, AnOrdinaryChildIsLeftAlone) {
  const std::string Library = CRSAN_LIBRARY_FILE;
  Outcome O = run("clean",
                  "CUDA_INJECTION64_PATH='" + Library +
                      "' CRSAN_HOST='1:" + Library + "'",
                  "PlainProgram");
  EXPECT_EQ(O.Status, 0);
  EXPECT_EQ(O.Text, "begin\nend\n");
}

// Intent: a context gets its buffers with the first memory, and that makes no
// code of the program a checked one: its graphs and its faults are not CRSan's.
TEST(InjectForeignProgram, MemoryDoesNotMakeCodeInstrumented) {
  for (const char *Words : {"uninstrumented alloc graph",
                            "uninstrumented alloc graph alloc graph"}) {
    const Outcome O = run(Words, "CRSAN_OPTIONS=require_checked=1");
    EXPECT_EQ(O.Status, 67) << O.Text;
    EXPECT_THAT(O.Text, HasSubstr("no instrumented kernel was launched"));
  }
  const Outcome Failed = run("uninstrumented alloc foreignfails sync");
  EXPECT_EQ(Failed.Status, 0) << Failed.Text;
  EXPECT_THAT(Failed.Text, Not(HasSubstr("a kernel failed")));
  // With instrumented code, a graph counts.
  EXPECT_THAT(run("alloc graph clean", "CRSAN_OPTIONS=verbosity=1").Text,
              HasSubstr("checked 2 kernel launches"));
}

// Intent: programs without a host part that `crsan run` starts are looked at,
// and a device that cannot be used is named once, however often they allocate.
TEST(InjectForeignProgram, AProgramThatTheToolRunsIsLookedAt) {
  const std::string Library = CRSAN_LIBRARY_FILE;
  const std::string Run =
      "CUDA_INJECTION64_PATH='" + Library + "' CRSAN_HOST='0:" + Library + "'";
  for (const char *Words : {"alloc racy", "racy exit3", "racy abort"}) {
    const Outcome O = run(Words, Run, "PlainProgram");
    EXPECT_THAT(O.Text, HasSubstr(Race)) << Words;
    EXPECT_EQ(O.reports(), 1u) << O.Text;
  }
  EXPECT_THAT(
      run("clean", Run + " CRSAN_OPTIONS=verbosity=1", "PlainProgram").Text,
      HasSubstr("checked 1 kernel launch"));
  // A child that has nothing to do with CRSan is left alone.
  const Outcome Other =
      run("uninstrumented alloc graph foreign foreignfails",
          Run + " CRSAN_OPTIONS=require_checked=1", "PlainProgram");
  EXPECT_EQ(Other.Text, "begin\nend\n");
  EXPECT_EQ(Other.Status, 0);
  const std::string Text =
      run("alloc alloc alloc", Run + " FAKE_OLD_DEVICE=1", "PlainProgram").Text;
  EXPECT_EQ(Text.find("are not checked"), Text.rfind("are not checked"))
      << Text;
}

// Intent: CUPTI's callbacks take time. In a program of one stream, events order
// nothing, but each of its launches may be between two of them.
TEST(InjectForeignProgram, EventsAreToldWhereTheyMatter) {
  const std::string Library = CRSAN_LIBRARY_FILE;
  const std::string Run =
      "CUDA_INJECTION64_PATH='" + Library + "' CRSAN_HOST='0:" + Library + "'";
  EXPECT_THAT(run("racy toldofrecords", Run, "PlainProgram").Text,
              AllOf(HasSubstr(Race), HasSubstr("records not told")));
  // Checks of host code ask what the host has waited for, once there is memory
  // that host and GPU share.
  EXPECT_THAT(run("clean toldofrecords").Text, HasSubstr("records not told"));
  EXPECT_THAT(run("managed clean toldofrecords").Text,
              HasSubstr("records told"));
}

TEST(InjectForeignProgram, AnInstrumentedChildUsesItsOwnLibrary) {
  Outcome O = run("racy", "CUDA_INJECTION64_PATH=/x/libcrsan.so "
                          "CRSAN_HOST=1:/x/libcrsan.so");
  EXPECT_EQ(O.Status, 66) << O.Text;
  EXPECT_THAT(O.Text, HasSubstr(Race));
}

} // namespace
