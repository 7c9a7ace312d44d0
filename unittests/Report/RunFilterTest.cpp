// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels and launches that a user asks about.
#include "Report/RunFilter.h"

#include <gtest/gtest.h>

using namespace crsan;

namespace {

RunFilter make(std::string_view Kernels, std::string_view Launches = {}) {
  auto Made = RunFilter::parse(Kernels, Launches);
  EXPECT_TRUE(std::holds_alternative<RunFilter>(Made));
  return std::get<RunFilter>(std::move(Made));
}

TEST(RunFilterTest, TakesAllWithoutPatterns) {
  EXPECT_TRUE(make("").isEmpty());
  EXPECT_TRUE(make("").takesKernel("_Z3putPi"));
  EXPECT_TRUE(make("").takesLaunch(1));
  EXPECT_TRUE(make("").takesLaunch(~uint64_t(0)));
}

TEST(RunFilterTest, NamesAKernelAsPeopleDo) {
  for (const char *Pattern : {"put", "_Z3putPi", "put(int*)", "p?t", "pu*"})
    EXPECT_TRUE(make(Pattern).takesKernel("_Z3putPi")) << Pattern;
  // A site knows the demangled name only.
  EXPECT_TRUE(make("_Z3putPi").takesKernel("put(int*)"));
  EXPECT_FALSE(make("pu").takesKernel("_Z3putPi"));
  EXPECT_FALSE(make("get").takesKernel("_Z3putPi"));
  EXPECT_TRUE(make("get|put").takesKernel("_Z3putPi"));
  // int ns::add<float>(float*)
  for (const char *Pattern : {"add", "ns::add", "ns::*"})
    EXPECT_TRUE(make(Pattern).takesKernel("_ZN2ns3addIfEEiPT_")) << Pattern;
  // (anonymous namespace)::put(int*)
  EXPECT_TRUE(make("put").takesKernel("_ZN12_GLOBAL__N_13putEPi"));
  EXPECT_TRUE(make("plain").takesKernel("plain"));
}

TEST(RunFilterTest, ReadsRangesOfLaunches) {
  const RunFilter Some = make("", "3-5");
  EXPECT_FALSE(Some.takesLaunch(2));
  EXPECT_TRUE(Some.takesLaunch(3));
  EXPECT_TRUE(Some.takesLaunch(5));
  EXPECT_FALSE(Some.takesLaunch(6));
  EXPECT_FALSE(make("", "2").takesLaunch(3));
  EXPECT_TRUE(make("", "2-").takesLaunch(1u << 31));
  EXPECT_FALSE(make("", "1-").hasLaunches());
  for (const char *Wrong : {"0", "5-3", "-2", "a", "1-b", "-", "1-2-3"})
    EXPECT_TRUE(
        std::holds_alternative<std::string>(RunFilter::parse("", Wrong)))
        << Wrong;
}

} // namespace
