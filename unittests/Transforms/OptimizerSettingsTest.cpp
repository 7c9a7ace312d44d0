// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OptimizerSettings.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace llvm;

namespace {

/// What adjustOptimizer reports, one line for each error.
std::string errorsOfAdjustment(bool IsHostCode = false) {
  LLVMContext C;
  std::string Errors;
  C.setDiagnosticHandlerCallBack(
      [](const DiagnosticInfo *Info, void *Text) {
        raw_string_ostream Out(*static_cast<std::string *>(Text));
        DiagnosticPrinterRawOStream Printer(Out);
        Info->print(Printer);
        Out << "\n";
      },
      &Errors);
  crsan::adjustOptimizer(C, IsHostCode);
  return Errors;
}

bool isSet(StringRef Name) {
  return static_cast<cl::opt<bool> *>(cl::getRegisteredOptions()[Name])
      ->getValue();
}

TEST(OptimizerSettings, AreMadeForEachModuleAnew) {
  for (int Module = 0; Module < 2; ++Module) {
    EXPECT_EQ("", errorsOfAdjustment());
    EXPECT_TRUE(isSet("pick-merged-source-locations"));
    EXPECT_FALSE(isSet("enable-load-in-loop-pre"));
    EXPECT_TRUE(isSet("disable-licm-promotion"));
    EXPECT_TRUE(isSet("disable-vector-combine"));
  }
}

TEST(OptimizerSettings, AMissingOptionIsAnError) {
  auto &Options = cl::getRegisteredOptions();
  for (StringRef Name :
       {"pick-merged-source-locations", "enable-load-in-loop-pre",
        "disable-licm-promotion", "disable-vector-combine"}) {
    cl::Option *Option = Options[Name];
    Options.erase(Name);
    const std::string Errors = errorsOfAdjustment();
    EXPECT_EQ(1, StringRef(Errors).count('\n')) << Errors;
    EXPECT_TRUE(StringRef(Errors).contains(Name)) << Errors;
    EXPECT_TRUE(StringRef(Errors).contains("compile with clang 22.")) << Errors;
    Options[Name] = Option;
  }
}

TEST(OptimizerSettings, AnOptionThatTakesNoTruthValueIsAnError) {
  auto &Options = cl::getRegisteredOptions();
  const StringRef Name = "disable-vector-combine";
  cl::Option *const Option = Options[Name];
  cl::opt<unsigned> Number("crsan-test-number", cl::init(7));
  Options[Name] = &Number;
  EXPECT_TRUE(StringRef(errorsOfAdjustment()).contains(Name));
  EXPECT_EQ(7u, Number);
  Options[Name] = Option;
}

} // namespace
