// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cubins and instrumented images.

#include "CubinBuilder.h"
#include "crsan/abi/Site.h"
#include "image/CubinImage.h"
#include "image/DeviceImage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <unistd.h>

namespace crsan {
using testing::HasSubstr;

static const CubinImage::Symbol *find(const CubinImage &Image,
                                      std::string_view Name) {
  for (const CubinImage::Symbol &Symbol : Image.symbols())
    if (Symbol.Name == Name)
      return &Symbol;
  return nullptr;
}

/// A healthy instrumented image with one unit.
static CubinBuilder instrumented(uint32_t Flags = 0,
                                 uint32_t Version = abi::Version) {
  CubinBuilder B;
  B.addObject("__crsan_config", makeConfig());
  B.addObject("__crsan_table_00000000000000ab",
              makeTable(0xab, 2, {"_Z1kPi"}, Flags, Version));
  B.addZeroed("__crsan_sites_00000000000000ab", 2 * sizeof(abi::Site));
  B.addKernel("_Z1kPi");
  B.addDeviceFunction("_Z1fPi");
  return B;
}

TEST(InjectCubin, SymbolsAndTheirBytesAreFound) {
  CubinBuilder B;
  B.addObject("first", {1, 2});
  B.addObject("second", {3, 4, 5});
  B.addKernel("kernel");
  B.addDeviceFunction("function");
  Bytes File = B.build();
  auto Parsed = CubinImage::parse(File);
  ASSERT_TRUE(std::holds_alternative<CubinImage>(Parsed))
      << std::get<std::string>(Parsed);
  const auto &Image = std::get<CubinImage>(Parsed);
  const auto *Second = find(Image, "second");
  ASSERT_TRUE(Second);
  auto Content = Image.bytesOf(*Second);
  ASSERT_TRUE((std::holds_alternative<std::span<const uint8_t>>(Content)));
  auto Span = std::get<std::span<const uint8_t>>(Content);
  EXPECT_EQ(Bytes(Span.begin(), Span.end()), Bytes({3, 4, 5}));
  EXPECT_TRUE(find(Image, "kernel")->IsKernel);
  EXPECT_FALSE(find(Image, "function")->IsKernel);
}

TEST(InjectCubin, AnObjectWithoutBytesIsAnError) {
  CubinBuilder B;
  B.addZeroed("zero", 16);
  Bytes File = B.build();
  auto Parsed = CubinImage::parse(File);
  const auto &Image = std::get<CubinImage>(Parsed);
  auto Content = Image.bytesOf(*find(Image, "zero"));
  ASSERT_TRUE(std::holds_alternative<std::string>(Content));
  EXPECT_THAT(std::get<std::string>(Content), HasSubstr("no bytes"));
}

TEST(InjectCubin, OtherFilesAreRefused) {
  EXPECT_TRUE(std::holds_alternative<std::string>(CubinImage::parse({})));
  Bytes Text(200, 'x');
  EXPECT_TRUE(std::holds_alternative<std::string>(CubinImage::parse(Text)));
  Bytes Host = instrumented().build();
  Host[offsetof(Elf64_Ehdr, e_machine)] = EM_X86_64;
  EXPECT_TRUE(std::holds_alternative<std::string>(CubinImage::parse(Host)));
}

// Intent: whatever is cut off or overwritten, nothing outside the bytes is read
// (the sanitizers' build runs this too) and nothing crashes.
TEST(InjectCubin, DamageIsSurvived) {
  const Bytes Whole = instrumented().build();
  for (size_t Size = 0; Size < Whole.size(); ++Size) {
    Bytes Cut(Whole.begin(), Whole.begin() + Size);
    Cut.shrink_to_fit();
    SiteTable Sites;
    readDeviceImage(Cut, Sites);
  }
  for (size_t At = 0; At < Whole.size(); ++At)
    for (uint8_t Value : {uint8_t(0), uint8_t(0x7f), uint8_t(0xff)}) {
      Bytes Damaged = Whole;
      Damaged[At] = Value;
      SiteTable Sites;
      readDeviceImage(Damaged, Sites);
    }
}

TEST(InjectImage, AnInstrumentedImageIsRead) {
  Bytes File = instrumented().build();
  SiteTable Sites;
  auto Image = readDeviceImage(File, Sites);
  ASSERT_TRUE(Image);
  EXPECT_EQ(Image->Problem, "");
  ASSERT_EQ(Image->Units.size(), 1u);
  EXPECT_EQ(Image->Units[0].sitesName(), "__crsan_sites_00000000000000ab");
  EXPECT_EQ(Image->Units[0].Info.NumSites, 2u);
  EXPECT_TRUE(Image->MayShuffle);
  EXPECT_TRUE(Sites.find(0xab * 1000 + 1));
}

TEST(InjectImage, AnOrdinaryImageIsNotInstrumented) {
  CubinBuilder B;
  B.addKernel("_Z1kPi");
  SiteTable Sites;
  EXPECT_FALSE(readDeviceImage(B.build(), Sites));
}

TEST(InjectImage, RelocatableCodeHasSeveralUnits) {
  CubinBuilder B = instrumented();
  B.addObject("__crsan_table_00000000000000cd", makeTable(0xcd, 3, {"_Z1lv"}));
  B.addKernel("_Z1lv");
  SiteTable Sites;
  auto Image = readDeviceImage(B.build(), Sites);
  ASSERT_TRUE(Image);
  EXPECT_EQ(Image->Units.size(), 2u);
  EXPECT_TRUE(Image->MayShuffle);
}

TEST(InjectImage, OneUnitThatObjectsForbidsShuffling) {
  SiteTable Sites;
  auto Image = readDeviceImage(instrumented(abi::NoShuffle).build(), Sites);
  ASSERT_TRUE(Image);
  EXPECT_FALSE(Image->MayShuffle);
}

TEST(InjectImage, AKernelThatThePassDidNotSeeForbidsShuffling) {
  CubinBuilder B = instrumented();
  B.addKernel("_Z6othersv");
  SiteTable Sites;
  auto Image = readDeviceImage(B.build(), Sites);
  ASSERT_TRUE(Image);
  EXPECT_FALSE(Image->MayShuffle);
}

TEST(InjectImage, AFunctionOfAForeignObjectForbidsShuffling) {
  CubinBuilder B = instrumented();
  B.addDeviceFunction("_Z5otherv");
  SiteTable Sites;
  auto Image = readDeviceImage(B.build(), Sites);
  ASSERT_TRUE(Image);
  EXPECT_FALSE(Image->MayShuffle);
}

TEST(InjectImage, TheAssemblersOwnFunctionsAreNotForeign) {
  CubinBuilder B = instrumented();
  B.addDeviceFunction("__cuda_sm20_div_u64");
  B.addDeviceFunction("$_Z1kPi$__cuda_sm20_rem_u64");
  SiteTable Sites;
  auto Image = readDeviceImage(B.build(), Sites);
  ASSERT_TRUE(Image);
  EXPECT_TRUE(Image->MayShuffle);
  EXPECT_FALSE(Image->MayWait);
}

TEST(InjectImage, ACopyForOneKernelIsTheFunctionItself) {
  CubinBuilder B = instrumented();
  B.addDeviceFunction("$_Z1kPi$_Z1fPi");
  SiteTable Sites;
  auto Image = readDeviceImage(B.build(), Sites);
  ASSERT_TRUE(Image);
  EXPECT_TRUE(Image->MayShuffle);
}

TEST(InjectImage, VariablesAreKnownBySection) {
  SiteTable Sites;
  CubinBuilder B = instrumented(abi::HasMetadata);
  B.addManaged("managed", 12);
  Bytes File = B.build();
  auto Image = readDeviceImage(File, Sites);
  ASSERT_TRUE(Image && Image->hasMetadata());
  ASSERT_EQ(Image->Variables.size(), 3u);
  const VariableBlock &Data = Image->Variables[0];
  ASSERT_EQ(Data.Symbols.size(), 2u);
  EXPECT_EQ(Data.Symbols[1].first, "__crsan_table_00000000000000ab");
  EXPECT_EQ(Data.Symbols[1].second, sizeof(abi::Config));
  EXPECT_GT(Data.Size, sizeof(abi::Config));
  EXPECT_EQ(Image->Variables[1].Size, CubinBuilder::ZeroSize);
  EXPECT_FALSE(Image->Variables[1].IsManaged);
  EXPECT_EQ(Image->Variables[2].Size, 12u);
  EXPECT_TRUE(Image->Variables[2].IsManaged);
}

TEST(InjectImage, AnotherVersionIsAProblemInOneLine) {
  SiteTable Sites;
  auto Image =
      readDeviceImage(instrumented(0, abi::Version + 1).build(), Sites);
  ASSERT_TRUE(Image);
  EXPECT_THAT(Image->Problem, HasSubstr("ABI"));
  EXPECT_THAT(Image->Problem, HasSubstr("rebuild"));
  EXPECT_THAT(Image->Problem, testing::Not(HasSubstr("\n")));
  // Its name is kept: it says which handle the problem belongs to.
  ASSERT_EQ(Image->Units.size(), 1u);
  EXPECT_EQ(Image->Units[0].tableName(), "__crsan_table_00000000000000ab");
}

TEST(InjectImage, AMissingConfigIsAProblem) {
  CubinBuilder B;
  B.addObject("__crsan_table_00000000000000ab", makeTable(0xab, 1, {}));
  SiteTable Sites;
  auto Image = readDeviceImage(B.build(), Sites);
  ASSERT_TRUE(Image);
  EXPECT_THAT(Image->Problem, HasSubstr("__crsan_config"));
}

TEST(InjectImage, CodeThatTheDriverCompiledIsAProblem) {
  CubinBuilder B;
  B.addObject("__crsan_config", Bytes(sizeof(abi::Config)));
  B.addObject("__crsan_table_00000000000000ab", makeTable(0xab, 1, {}));
  CubinBuilder Assembled;
  Assembled.addObject("__crsan_config", makeConfig());
  Assembled.addObject("__crsan_table_00000000000000ab", makeTable(0xab, 1, {}));
  SiteTable Sites;
  auto FromPTX = readDeviceImage(B.build(), Sites);
  auto Healthy = readDeviceImage(Assembled.build(), Sites);
  ASSERT_TRUE(FromPTX && Healthy);
  EXPECT_THAT(FromPTX->Problem, HasSubstr("--offload-arch"));
  EXPECT_EQ(Healthy->Problem, "");
  EXPECT_NE(FromPTX->Hash, Healthy->Hash);
}

TEST(InjectImage, EqualImagesHaveEqualHashes) {
  SiteTable Sites;
  auto A = readDeviceImage(instrumented().build(), Sites);
  auto B = readDeviceImage(instrumented().build(), Sites);
  auto C = readDeviceImage(instrumented(abi::NoShuffle).build(), Sites);
  EXPECT_EQ(A->Hash, B->Hash);
  EXPECT_NE(A->Hash, C->Hash);
}

// Intent: ptxas's own layout is what CubinBuilder imitates.
TEST(InjectImage, WhatPtxasWritesIsRead) {
  const std::string Ptxas = CRSAN_PTXAS;
  if (!std::filesystem::exists(Ptxas))
    GTEST_SKIP() << "no ptxas at " << Ptxas;
  Bytes Table = makeTable(0xab, 2, {"_Z1kPi"});
  auto List = [](const Bytes &All) {
    std::string Text;
    for (uint8_t Byte : All)
      Text += (Text.empty() ? "" : ",") + std::to_string(Byte);
    return Text;
  };
  auto Folder = std::filesystem::temp_directory_path() /
                ("crsan-inject-" + std::to_string(getpid()));
  std::filesystem::create_directories(Folder);
  std::ofstream(Folder / "k.ptx")
      << ".version 8.0\n.target sm_75\n.address_size 64\n"
         ".weak .const .align 8 .b8 __crsan_config["
      << sizeof(abi::Config) << "] = {" << List(makeConfig())
      << "};\n"
         ".visible .global .align 8 .b8 __crsan_sites_00000000000000ab[96];\n"
         ".visible .global .align 8 .b8 __crsan_table_00000000000000ab["
      << Table.size() << "] = {" << List(Table)
      << "};\n.visible .entry _Z1kPi(.param .u64 p) { ret; }\n";
  for (const char *Arch : {"sm_75", "sm_90", "sm_100"}) {
    std::string Command = "'" + Ptxas + "' -arch=" + Arch + " '" +
                          (Folder / "k.ptx").string() + "' -o '" +
                          (Folder / "k.cubin").string() + "'";
    ASSERT_EQ(std::system(Command.c_str()), 0);
    std::ifstream In(Folder / "k.cubin", std::ios::binary);
    Bytes File((std::istreambuf_iterator<char>(In)), {});
    SiteTable Sites;
    auto Image = readDeviceImage(File, Sites);
    ASSERT_TRUE(Image) << Arch;
    EXPECT_EQ(Image->Problem, "") << Arch;
    ASSERT_EQ(Image->Units.size(), 1u);
    EXPECT_EQ(Image->Units[0].Info.Kernels, std::vector<std::string>{"_Z1kPi"});
    EXPECT_TRUE(Image->MayShuffle) << Arch;
  }
  std::filesystem::remove_all(Folder);
}

} // namespace crsan
