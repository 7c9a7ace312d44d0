// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of the driver's calls.

#include <cupti.h>
#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace crsan {

namespace {
struct Call {
  std::string_view Name;
  CUpti_CallbackId Id;
};
constexpr Call Calls[] = {
#define CRSAN_CALL(Name, Params, Order, Enter, Exit)                           \
  {#Name, CUPTI_DRIVER_TRACE_CBID_##Name},
#include "cupti/DriverCalls.def"
};
constexpr std::string_view Prefixes[] = {
#define CRSAN_FAMILY(Prefix, Order) Prefix,
#include "cupti/DriverCalls.def"
};
} // namespace

TEST(InjectDriverCalls, EachCallIsInTheTableOnce) {
  std::set<CUpti_CallbackId> Ids;
  for (const auto &[Name, Id] : Calls) {
    EXPECT_TRUE(Name.starts_with("cu")) << Name;
    EXPECT_TRUE(Ids.insert(Id).second) << Name;
    EXPECT_LT(Id, 2048u) << Name;
  }
  EXPECT_TRUE(Ids.contains(CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister));
  EXPECT_TRUE(Ids.contains(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz));
}

TEST(InjectDriverCalls, EachFamilyIsInTheTableOnce) {
  std::set<std::string_view> Seen;
  for (std::string_view Prefix : Prefixes)
    EXPECT_TRUE(Seen.insert(Prefix).second) << Prefix;
}

} // namespace crsan
