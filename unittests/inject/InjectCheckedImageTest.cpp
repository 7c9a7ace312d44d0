// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An image with checks, which the driver loads in the place of a program's.

#include "FakeRun.h"
#include "FatBuilder.h"
#include "image/Fatbin.h"
#include "image/ProgramCode.h"
#include "rewrite/CheckedImage.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <unistd.h>

using namespace crsan;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
namespace fs = std::filesystem;

namespace {

std::string textFor(const std::string &Target, const std::string &Name = "k") {
  return ".version 8.8\n.target sm_" + Target +
         "\n.address_size 64\n.visible .entry " + Name +
         "(.param .u64 p)\n{\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\n"
         "st.global.u32 [%rd1], 1;\nret;\n}\n";
}

class CheckedImageTest : public testing::Test {
protected:
  CheckedImageTest() {
    std::string Template =
        (fs::temp_directory_path() / "crsan-XXXXXX").string();
    Folder = mkdtemp(Template.data());
    setenv("CRSAN_CACHE_DIR", (Folder / "cache").c_str(), 1);
  }
  ~CheckedImageTest() override { fs::remove_all(Folder); }

  /// What ptxas makes of a text.
  std::string assemble(const std::string &Text, const std::string &Words) {
    const fs::path In = Folder / "in.ptx", Out = Folder / "out.cubin";
    std::ofstream(In) << Text;
    const std::string Command = std::string(CRSAN_PTXAS) + " " + Words + " " +
                                In.string() + " -o " + Out.string();
    EXPECT_EQ(std::system(Command.c_str()), 0) << Command;
    std::ifstream Stream(Out, std::ios::binary);
    return {std::istreambuf_iterator<char>(Stream), {}};
  }

  /// The architectures of the machine code with checks; none if the image
  /// stays.
  std::vector<unsigned> checked(const void *Image,
                                std::vector<unsigned> GPUs = {90}) {
    Lines.clear();
    const std::string New =
        imageWithChecks(Image,
                        {.Mode = "metadata",
                         .Name = "it",
                         .GPUs = GPUs,
                         .DriverOptions = {"--maxrregcount=32"}},
                        Lines);
    std::vector<unsigned> Found;
    if (New.empty())
      return Found;
    for (unsigned GPU : GPUs)
      EXPECT_TRUE(hasChecks(New.data(), GPU));
    for (const FatEntry &E : fatEntries(New.data()))
      if (E.What == FatEntry::Kind::Cubin)
        Found.push_back(E.Architecture);
    EXPECT_EQ(imageWithChecks(New.data(),
                              {.Mode = "metadata",
                               .Name = "it",
                               .GPUs = GPUs,
                               .DriverOptions = {}},
                              Lines),
              "")
        << "it has checks";
    return Found;
  }

  std::vector<std::string> Lines;
  fs::path Folder;
};

using Architectures = std::vector<unsigned>;

TEST_F(CheckedImageTest, PTXBecomesMachineCodeForEachGPU) {
  const std::string Text = textFor("75");
  EXPECT_EQ(checked(Text.c_str(), {80, 90}), (Architectures{80, 90}));
  EXPECT_THAT(Lines, IsEmpty());
}

TEST_F(CheckedImageTest, MachineCodeOfTheSameTextIsReplaced) {
  FatBuilder B;
  const std::string Text = textFor("75");
  const void *Image = B.add(FatBuilder::PTX, 75, Text)
                          .add(FatBuilder::Cubin, 90,
                               assemble(Text, "-arch=sm_90"), Pack::Zstandard)
                          .finish();
  EXPECT_EQ(checked(Image), Architectures{90});
  EXPECT_THAT(Lines, IsEmpty());
}

/// Text for another architecture may be another program (__CUDA_ARCH__).
TEST_F(CheckedImageTest, MachineCodeOfAnotherTextStays) {
  FatBuilder B;
  const void *Image =
      B.add(FatBuilder::PTX, 75, textFor("75"))
          .add(FatBuilder::Cubin, 90, assemble(textFor("90"), "-arch=sm_90"))
          .finish();
  EXPECT_THAT(checked(Image), IsEmpty());
  ASSERT_THAT(Lines, SizeIs(1));
  EXPECT_EQ(Lines[0],
            "code of it is not checked: its PTX is for sm_75, and its machine "
            "code was compiled for sm_90; embed PTX for that (nvcc: -gencode "
            "arch=compute_90,code=compute_90)");
  // The driver compiles the PTX for a GPU of another generation.
  EXPECT_EQ(checked(Image, {80}), Architectures{80});
}

TEST_F(CheckedImageTest, OptionsOfPtxasAreKept) {
  FatBuilder B;
  const std::string Text = textFor("90");
  const void *Image =
      B.add(FatBuilder::PTX, 90, Text)
          .add(FatBuilder::Cubin, 90,
               assemble(Text, "-arch=sm_90 -maxrregcount=40 -O1 -dlcm=cg"))
          .finish();
  const auto Origin = originOfMachineCode(Image, 90);
  ASSERT_TRUE(Origin);
  EXPECT_EQ(Origin->Virtual.text(), "sm_90");
  EXPECT_THAT(
      Origin->Options,
      testing::IsSupersetOf({"-maxrregcount", "40", "-O", "1", "-dlcm", "cg"}));
  EXPECT_EQ(checked(Image), Architectures{90});
  EXPECT_THAT(Lines, IsEmpty());
}

/// The note of code for a debugger has the name of a file among the options.
TEST_F(CheckedImageTest, CodeForADebuggerGetsChecks) {
  FatBuilder B;
  const std::string Text = textFor("90");
  const void *Image =
      B.add(FatBuilder::PTX, 90, Text)
          .add(FatBuilder::Cubin, 90, assemble(Text, "-arch=sm_90 -g -O0"))
          .finish();
  EXPECT_EQ(checked(Image), Architectures{90});
  EXPECT_THAT(Lines, IsEmpty());
}

/// sm_90a is another architecture than sm_90.
TEST_F(CheckedImageTest, SpecificMachineCodeOfGeneralTextStays) {
  FatBuilder B;
  const void *Image =
      B.add(FatBuilder::PTX, 90, textFor("90"))
          .add(FatBuilder::Cubin, 90, assemble(textFor("90a"), "-arch=sm_90a"))
          .finish();
  EXPECT_THAT(checked(Image), IsEmpty());
  ASSERT_THAT(Lines, SizeIs(1));
  EXPECT_THAT(Lines[0], HasSubstr("its PTX is for sm_90, and its machine code "
                                  "was compiled for sm_90a"));
  const void *Both =
      B.add(FatBuilder::PTX, 90, textFor("90a"))
          .add(FatBuilder::Cubin, 90, assemble(textFor("90a"), "-arch=sm_90a"))
          .finish();
  EXPECT_EQ(checked(Both), Architectures{90});
}

/// Each GPU of the program must be able to run the image.
TEST_F(CheckedImageTest, GPUsOfTwoKinds) {
  FatBuilder B;
  const void *Image =
      B.add(FatBuilder::PTX, 90, textFor("90a"))
          .add(FatBuilder::Cubin, 90, assemble(textFor("90a"), "-arch=sm_90a"))
          .add(FatBuilder::Cubin, 100,
               assemble(textFor("100a"), "-arch=sm_100a"))
          .finish();
  EXPECT_THAT(checked(Image, {90, 100}), IsEmpty());
  ASSERT_THAT(Lines, SizeIs(1));
  EXPECT_THAT(Lines[0], HasSubstr("which the GPU (sm_100) cannot run"));
}

TEST_F(CheckedImageTest, WhatCannotGetChecksIsNamed) {
  FatBuilder B;
  const void *Machine =
      B.add(FatBuilder::Cubin, 90, assemble(textFor("90"), "-arch=sm_90"))
          .finish();
  EXPECT_THAT(checked(Machine), IsEmpty());
  EXPECT_EQ(
      Lines[0],
      "code of it is not checked: it holds no PTX for sm_90; embed PTX "
      "when it is built (nvcc: -gencode arch=compute_90,code=compute_90)");
  // The GPU runs none of it.
  EXPECT_THAT(checked(Machine, {80}), IsEmpty());
  EXPECT_THAT(Lines, IsEmpty());
  const std::string Cubin = assemble(textFor("90"), "-arch=sm_90");
  EXPECT_THAT(checked(Cubin.data()), IsEmpty());
  EXPECT_THAT(Lines, SizeIs(1));
  const std::string Broken = textFor("90") + "broken";
  EXPECT_THAT(checked(Broken.c_str()), IsEmpty());
  EXPECT_THAT(Lines[0], HasSubstr("code of it is not checked: line 1"));
}

TEST_F(CheckedImageTest, DamagedFilesAreLeftToTheDriver) {
  FatBuilder B;
  const std::string Cubin = assemble(textFor("90"), "-arch=sm_90");
  const auto IsWhole = [](std::string_view Bytes) {
    return isWholeImage(
        {reinterpret_cast<const uint8_t *>(Bytes.data()), Bytes.size()});
  };
  EXPECT_TRUE(IsWhole(Cubin));
  EXPECT_FALSE(IsWhole(std::string_view(Cubin).substr(0, Cubin.size() / 2)));
  const void *Fatbin = B.add(FatBuilder::Cubin, 90, Cubin).finish();
  const std::string_view Bytes(static_cast<const char *>(Fatbin),
                               16 + 64 + (Cubin.size() + 7) / 8 * 8);
  EXPECT_TRUE(IsWhole(Bytes));
  EXPECT_FALSE(IsWhole(Bytes.substr(0, Bytes.size() - 1)));
  EXPECT_TRUE(IsWhole(textFor("90")));
  EXPECT_FALSE(IsWhole(""));
}

/// As nvcc's device linker leaves them in a program (-rdc=true).
TEST_F(CheckedImageTest, RelocatableModulesAreLinked) {
  FatBuilder Linked, First, Second;
  const auto Caller =
      ".version 8.8\n.target sm_90\n.address_size 64\n.extern .func f\n"
      "(.param .b64 q);\n.visible .entry k(.param .u64 p)\n{\n"
      ".reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\n{\n.param .b64 a;\n"
      "st.param.b64 [a], %rd1;\ncall.uni f, (a);\n}\nret;\n}\n";
  const auto Callee =
      ".version 8.8\n.target sm_90\n.address_size 64\n.visible .func f("
      ".param .b64 q)\n{\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [q];\n"
      "st.global.u32 [%rd1], 1;\nret;\n}\n";
  const void *Parts[] = {First.add(FatBuilder::PTX, 90, Caller).finish(),
                         Second.add(FatBuilder::PTX, 90, Callee).finish(),
                         nullptr};
  const struct {
    uint32_t Magic = 0x466243b1, Version = 2;
    const void *Data;
    const void *const *Prelinked;
  } Wrapper{.Data = Linked
                        .add(FatBuilder::Cubin, 90,
                             assemble(textFor("90"), "-arch=sm_90"))
                        .finish(),
            .Prelinked = Parts};
  EXPECT_EQ(checked(&Wrapper), Architectures{90});
  EXPECT_THAT(Lines, IsEmpty());
  // A module without PTX would be missing.
  Parts[0] = Parts[1];
  Parts[1] = nullptr;
  EXPECT_THAT(checked(&Wrapper), IsEmpty());
  ASSERT_THAT(Lines, SizeIs(1));
  EXPECT_THAT(Lines[0],
              HasSubstr("holds no PTX of the module with the kernel k"));
}

/// A program that gives the driver PTX, from memory and from a file.
TEST_F(CheckedImageTest, TheDriverLoadsWhatHasChecks) {
  const std::string Cache = "CRSAN_CACHE_DIR=" + (Folder / "cache").string();
  Outcome R = run("loadtext", Cache);
  EXPECT_THAT(R.Text, HasSubstr("driver: text\n"));
  R = run("loadtext", Cache + " CRSAN_OPTIONS=detector=metadata");
  EXPECT_THAT(R.Text, HasSubstr("driver: fat binary\n"));
  R = run("loadtext",
          Cache + " CRSAN_OPTIONS=detector=metadata:add_checks_on_gpu=0");
  EXPECT_THAT(R.Text, HasSubstr("driver: text\n"));
  R = run("loadlimited", Cache + " CRSAN_OPTIONS=detector=metadata");
  EXPECT_THAT(R.Text, HasSubstr("driver: fat binary\n"));
  R = run("loadfile", Cache + " CRSAN_OPTIONS=detector=metadata");
  EXPECT_THAT(R.Text, HasSubstr("driver: fat binary\n"));
  R = run("loadbroken", Cache + " CRSAN_OPTIONS=detector=metadata");
  EXPECT_THAT(R.Text, HasSubstr("driver: text\n"));
  EXPECT_THAT(R.Text, HasSubstr("FakeProgram is not checked: line 3: "));
}

} // namespace
