// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The library's checks of host code, in a program (FakeRun.h).

#include "FakeRun.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// So long that another thread runs meanwhile, also where all processors are
/// busy.
static const char *const WaitsLong = "CRSAN_OPTIONS=host_wait_us=250000";

TEST(InjectProgram, HostCodeIsChecked) {
  Outcome Read = run("managed clean hostread", WaitsLong);
  EXPECT_EQ(Read.Status, 66) << Read.Text;
  EXPECT_THAT(Read.Text,
              AllOf(HasSubstr("clobbered read by the host of 4 bytes"),
                    HasSubstr("readNumber(int const*) at "),
                    HasSubstr("FakeHostCode.cpp:6:"),
                    HasSubstr("Not waited for: k(int*)"),
                    HasSubstr("memory: byte 0 of 10485760 bytes from "
                              "cudaMallocManaged (allocation 1)"),
                    HasSubstr("host code: checked 1 of 1 access of memory")));
  EXPECT_THAT(run("managed clean hostwrite", WaitsLong).Text,
              AllOf(HasSubstr("lost update by the host of 4 bytes"),
                    HasSubstr("FakeHostCode.cpp:7:")));
}

TEST(InjectProgram, HostCodeIsNotCheckedWhileNothingIsPending) {
  for (const char *Words :
       {"clean managed sync hostread", "managed hostread clean sync",
        "clean alloc hostread", "managed clean hostreadinchild sync"}) {
    Outcome O = run(Words, "CRSAN_OPTIONS=verbosity=1");
    EXPECT_EQ(O.Status, 0) << Words << O.Text;
    EXPECT_THAT(O.Text, AllOf(HasSubstr("host code: checked 0 of 0 accesses"),
                              HasSubstr("SUMMARY: CRSan: no data races found")))
        << Words;
  }
  // Of memory that has been freed, nothing is read.
  EXPECT_THAT(
      run("managed clean free hostread", "CRSAN_OPTIONS=verbosity=1").Text,
      HasSubstr("host code: checked 0 of 0 accesses"));
  EXPECT_EQ(run("managed clean hostread", "CRSAN_OPTIONS=enabled=0").Text,
            "begin\nend\n");
}

TEST(InjectProgram, HostCodeIsCheckedInASignalHandler) {
  EXPECT_THAT(run("managed clean hostreadinhandler", WaitsLong).Text,
              HasSubstr("clobbered read by the host of 4 bytes"));
}

TEST(InjectProgram, ARaceOfTheHostEndsTheProgramIfAsked) {
  Outcome O = run("managed clean hostread pause",
                  std::string(WaitsLong) + ":halt_on_error=1:poll_ms=1");
  EXPECT_EQ(O.Status, 66) << O.Text;
  EXPECT_THAT(O.Text, Not(HasSubstr("end\n")));
}

} // namespace
