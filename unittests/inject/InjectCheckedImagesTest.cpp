// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images with checks, which the driver loads in the place of a program's.

#include "FakeRun.h"
#include "FatBuilder.h"
#include "image/Fatbin.h"
#include "image/ProgramCode.h"
#include "rewrite/CheckedImages.h"

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

class CheckedImagesTest : public testing::Test {
protected:
  CheckedImagesTest() {
    Options.detector = "metadata";
    std::string Template =
        (fs::temp_directory_path() / "crsan-XXXXXX").string();
    Folder = mkdtemp(Template.data());
    setenv("CRSAN_CACHE_DIR", (Folder / "cache").c_str(), 1);
  }
  ~CheckedImagesTest() override { fs::remove_all(Folder); }

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

  const void *replace(const void *Image, std::vector<unsigned> GPUs = {90}) {
    Lines.clear();
    return Images.replace(Image, GPUs, "it", Lines);
  }

  /// The architectures of the machine code in an image, which has checks.
  std::vector<unsigned> checkedFor(const void *Image) {
    std::vector<unsigned> Found;
    EXPECT_TRUE(hasChecks(Image, 90));
    for (const FatEntry &E : fatEntries(Image))
      if (E.What == FatEntry::Kind::Cubin)
        Found.push_back(E.Architecture);
    return Found;
  }

  Flags Options;
  CheckedImages Images{Options};
  std::vector<std::string> Lines;
  fs::path Folder;
};

using Architectures = std::vector<unsigned>;

TEST_F(CheckedImagesTest, PTXBecomesMachineCodeForEachGPU) {
  const std::string Text = textFor("75");
  const void *New = replace(Text.c_str(), {80, 90});
  EXPECT_EQ(checkedFor(New), (Architectures{80, 90}));
  EXPECT_THAT(Lines, IsEmpty());
  EXPECT_EQ(replace(Text.c_str(), {80, 90}), New) << "made once";
  EXPECT_EQ(replace(New), New) << "it has checks";
}

TEST_F(CheckedImagesTest, MachineCodeOfTheSameTextIsReplaced) {
  FatBuilder B;
  const std::string Text = textFor("75");
  const void *Image = B.add(FatBuilder::PTX, 75, Text)
                          .add(FatBuilder::Cubin, 90,
                               assemble(Text, "-arch=sm_90"), Pack::Zstandard)
                          .finish();
  EXPECT_FALSE(hasChecks(Image, 90));
  EXPECT_EQ(checkedFor(replace(Image)), Architectures{90});
  EXPECT_THAT(Lines, IsEmpty());
}

/// Text for another architecture may be another program (__CUDA_ARCH__).
TEST_F(CheckedImagesTest, MachineCodeOfAnotherTextStays) {
  FatBuilder B;
  const void *Image =
      B.add(FatBuilder::PTX, 75, textFor("75"))
          .add(FatBuilder::Cubin, 90, assemble(textFor("90"), "-arch=sm_90"))
          .finish();
  EXPECT_EQ(replace(Image), Image);
  ASSERT_THAT(Lines, SizeIs(1));
  EXPECT_EQ(Lines[0],
            "code of it is not checked: its PTX is for sm_75, and its machine "
            "code was compiled for sm_90; embed PTX for that (nvcc: -gencode "
            "arch=compute_90,code=compute_90)");
  // The driver compiles the PTX for a GPU of another generation.
  EXPECT_EQ(checkedFor(replace(Image, {80})), Architectures{80});
}

TEST_F(CheckedImagesTest, OptionsOfPtxasAreKept) {
  FatBuilder B;
  const std::string Text = textFor("90");
  const void *Image =
      B.add(FatBuilder::PTX, 90, Text)
          .add(FatBuilder::Cubin, 90,
               assemble(Text, "-arch=sm_90 -maxrregcount=40 -O1 -dlcm=cg"))
          .finish();
  const auto Origin = originOfMachineCode(Image, 90);
  ASSERT_TRUE(Origin);
  EXPECT_EQ(Origin->Virtual, 90u);
  EXPECT_THAT(
      Origin->Options,
      testing::IsSupersetOf({"-maxrregcount", "40", "-O", "1", "-dlcm", "cg"}));
  EXPECT_EQ(checkedFor(replace(Image)), Architectures{90});
  EXPECT_THAT(Lines, IsEmpty());
}

TEST_F(CheckedImagesTest, WhatCannotGetChecksIsNamed) {
  FatBuilder B;
  const std::string Special = textFor("100a");
  EXPECT_EQ(replace(Special.c_str()), Special.c_str());
  EXPECT_EQ(Lines[0],
            "code of it is not checked: its PTX is for sm_100a, which the GPU "
            "(sm_90) is not; build it for the GPU (nvcc: -arch=native)");
  const void *Machine =
      B.add(FatBuilder::Cubin, 90, assemble(textFor("90"), "-arch=sm_90"))
          .finish();
  EXPECT_EQ(replace(Machine), Machine);
  EXPECT_THAT(Lines[0], HasSubstr("only machine code for sm_90"));
  const std::string Broken = ".version 8.8\n.target sm_90\nbroken";
  EXPECT_EQ(replace(Broken.c_str()), Broken.c_str());
  ASSERT_THAT(Lines, SizeIs(1));
  EXPECT_THAT(Lines[0], HasSubstr("code of it is not checked: "));
}

/// As nvcc's device linker leaves them in a program (-rdc=true).
TEST_F(CheckedImagesTest, RelocatableModulesAreLinked) {
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
  EXPECT_EQ(checkedFor(replace(&Wrapper)), Architectures{90});
  EXPECT_THAT(Lines, IsEmpty());
}

/// A program that gives the driver PTX, from memory and from a file.
TEST_F(CheckedImagesTest, TheDriverLoadsWhatHasChecks) {
  const std::string Cache = "CRSAN_CACHE_DIR=" + (Folder / "cache").string();
  Outcome R = run("loadtext", Cache);
  EXPECT_THAT(R.Text, HasSubstr("driver: text\n"));
  R = run("loadtext", Cache + " CRSAN_OPTIONS=detector=metadata");
  EXPECT_THAT(R.Text, HasSubstr("driver: fat binary\n"));
  R = run("loadtext",
          Cache + " CRSAN_OPTIONS=detector=metadata:add_checks_on_gpu=0");
  EXPECT_THAT(R.Text, HasSubstr("driver: text\n"));
  R = run("loadfile", Cache + " CRSAN_OPTIONS=detector=metadata");
  EXPECT_THAT(R.Text, HasSubstr("driver: fat binary\n"));
  R = run("loadbroken", Cache + " CRSAN_OPTIONS=detector=metadata");
  EXPECT_THAT(R.Text, HasSubstr("driver: text\n"));
  EXPECT_THAT(R.Text, HasSubstr("FakeProgram is not checked: line 3: "));
}

} // namespace
