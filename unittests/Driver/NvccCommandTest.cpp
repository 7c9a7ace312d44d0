// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NvccCommand.h"
#include "NvccOptions.h"
#include "NvccRecognition.h"
#include "gtest/gtest.h"

using namespace crsan::driver;

namespace {

using Words = std::vector<std::string>;

bool isNvcc(const Words &W, bool On = false) { return isNvccCommand(W, On); }

/// What \p W becomes, without what is added to each command.
Words translated(const Words &W) {
  llvm::Expected<NvccCommand> Command = NvccCommand::read(W);
  if (!Command)
    return {"error: " + llvm::toString(Command.takeError())};
  Words Out = Command->Words;
  for (const char *Added : {"-O3", "-Xarch_device"})
    if (!Out.empty() && Out.back() == Added)
      Out.pop_back();
  return Out;
}

TEST(NvccCommand, AWordThatOnlyNvccKnowsTells) {
  EXPECT_TRUE(isNvcc({"-gencode", "arch=compute_90,code=sm_90", "-c", "a.cu"}));
  EXPECT_TRUE(isNvcc({"-rdc=true", "a.cu"}));
  EXPECT_TRUE(isNvcc({"-x", "cu", "a.cpp"}));
  EXPECT_TRUE(isNvcc({"-Werror", "all-warnings", "a.cu"}));
  EXPECT_TRUE(isNvcc({"a.cu", "-cudart", "shared"}));
  EXPECT_TRUE(isNvcc({"-std", "c++17", "a.cu"}));
}

TEST(NvccCommand, AWordThatMeansNothingToClangTells) {
  for (const char *Word :
       {"-dc", "-dw", "-dlink", "-G", "-lineinfo", "-use_fast_math", "-arch",
        "-Xcompiler", "-default-stream", "-diag-suppress"})
    EXPECT_TRUE(isNvcc({Word, "x", "a.cu"})) << Word;
  EXPECT_TRUE(isNvcc({"-lib", "a.o", "-o", "liba.a"}));
}

TEST(NvccCommand, ClangsCommandsAreClangs) {
  EXPECT_FALSE(
      isNvcc({"-c", "-O2", "-std=c++17", "-Werror", "a.cu", "-o", "b"}));
  EXPECT_FALSE(isNvcc({"-Ia", "-D", "X=1", "-MD", "-MT", "x", "-shared"}));
  EXPECT_FALSE(isNvcc({"-lib", "a.o", "-o", "a"}));
  EXPECT_FALSE(isNvcc({"-odir", "a.o", "-t"})); // Clang's output is `dir`.
  EXPECT_FALSE(isNvcc({"-Xlinker", "-rdc=true", "-o", "-dc", "a.o"}));
  EXPECT_FALSE(isNvcc({"--", "-rdc=true"}));
  EXPECT_FALSE(isNvcc({"--no-such-option", "-x", "cuda", "a.cu"}));
}

TEST(NvccCommand, TheRuntimeLibraryIsChosenWithCRSansOptionToo) {
  EXPECT_FALSE(isNvcc({"a.o", "--cudart=static"}, /*On=*/true));
  EXPECT_TRUE(isNvcc({"a.o", "--cudart=static"}, /*On=*/false));
}

TEST(NvccCommand, ArchitecturesBecomeOffloadArchitectures) {
  EXPECT_EQ(translated({"-gencode", "arch=compute_80,code=[sm_80,compute_80]",
                        "-gencode=arch=compute_90,code=sm_90a"}),
            (Words{"--offload-arch=sm_80", "--offload-arch=sm_90a"}));
  EXPECT_EQ(translated({"-gencode", "arch=compute_80,code=\"sm_80,sm_86\""}),
            (Words{"--offload-arch=sm_80", "--offload-arch=sm_86"}));
  EXPECT_EQ(translated({"-gencode", "arch=compute_80"}),
            (Words{"--offload-arch=sm_80"}));
  EXPECT_EQ(translated({"-arch=compute_80", "-code=sm_86,compute_80"}),
            (Words{"--offload-arch=sm_86", "--offload-arch=sm_80"}));
  EXPECT_EQ(translated({"-arch", "sm_90"}), (Words{"--offload-arch=sm_90"}));
  EXPECT_EQ(translated({"-arch=all-major"}).size(), 5u);
  EXPECT_EQ(translated({"-arch=sm_100f"}),
            (Words{"error: 'sm_100f' is unknown to clang 22; write sm_100a"}));
  EXPECT_EQ(translated({"-arch=x"}),
            (Words{"error: 'x' is no architecture; write sm_90, say"}));
}

TEST(NvccCommand, ValuesStandInEachOfNvccsPlaces) {
  for (const Words &W :
       {Words{"-maxrregcount=32"}, Words{"-maxrregcount", "32"},
        Words{"--maxrregcount=32"}})
    EXPECT_EQ(translated(W), (Words{"-Xcuda-ptxas", "--maxrregcount=32"}));
  EXPECT_EQ(translated({"-I=a,b", "-Ic", "-I", "d"}),
            (Words{"-Ia", "-Ib", "-Ic", "-Id"}));
  EXPECT_EQ(translated({"-t4", "-t", "4", "--threads=4"}), Words());
  EXPECT_EQ(translated({"-compress-mode=size", "--compress-mode", "none"}),
            (Words{"-Xcuda-fatbinary", "--compress-mode=size",
                   "-Xcuda-fatbinary", "--compress-mode=none"}));
  EXPECT_EQ(translated({"-no-compress", "-Xfatbin", "-compress-all"}),
            (Words{"-Xcuda-fatbinary", "--compress=false", "-Xcuda-fatbinary",
                   "-compress-all"}));
  EXPECT_EQ(translated({"-rdc", "true", "--relocatable-device-code=false"}),
            (Words{"-fgpu-rdc", "-fno-gpu-rdc"}));
  EXPECT_EQ(translated({"-rdc=yes"}),
            (Words{"error: '-rdc=yes': write true or false"}));
  EXPECT_EQ(translated({"-arch"}),
            (Words{"error: nvcc's '-arch' has a value, which is missing"}));
}

TEST(NvccCommand, ListsAreSplitAsNvccSplitsThem) {
  EXPECT_EQ(splitNvccList("a,\"b,c\",,d\\,e"), (Words{"a", "\"b,c\"", "d,e"}));
  EXPECT_EQ(
      translated({"-Xcompiler", "-Wall,-O3", "-Xcompiler=-fPIC -DX=\"a b\"",
                  "-Xcompiler", "\"-Wl,-z,now\""}),
      (Words{"-Wall", "-O3", "-fPIC", "-DX=a b", "-Wl,-z,now"}));
  EXPECT_EQ(translated({"-Xlinker", "-rpath,/x"}),
            (Words{"-Xlinker", "-rpath", "-Xlinker", "/x"}));
  EXPECT_EQ(translated({"-Xptxas", "-v,-O2"}),
            (Words{"-Xcuda-ptxas", "-v", "-Xcuda-ptxas", "-O2"}));
}

TEST(NvccCommand, WarningsThatAreErrors) {
  EXPECT_EQ(translated({"-Werror", "all-warnings,reorder"}),
            (Words{"-Werror", "-Werror=reorder"}));
  EXPECT_EQ(translated({"-Werror=cross-execution-space-call"}), Words());
  EXPECT_EQ(translated({"-Werror", "-c", "-Werror=shadow"}),
            (Words{"-Werror", "-c", "-Werror=shadow"}));
}

TEST(NvccCommand, FilesKeepTheirLanguage) {
  EXPECT_EQ(translated({"-x", "cu", "a.cpp", "b.o"}),
            (Words{"-x", "cuda", "a.cpp", "-x", "none", "b.o"}));
  EXPECT_EQ(translated({"a.c", "b.cu"}),
            (Words{"-x", "c", "a.c", "-x", "none", "b.cu"}));
}

TEST(NvccCommand, FilesHaveNvccsNames) {
  EXPECT_EQ(translated({"-ptx", "d/a.cu"}),
            (Words{"--cuda-device-only", "-S", "d/a.cu", "-Xarch_device", "-O3",
                   "-o", "a.ptx"}));
  EXPECT_EQ(translated({"-M", "-odir", "out", "a.cu"}),
            (Words{"-M", "a.cu", "-Xarch_device", "-O3", "-MT", "out/a.o"}));
}

TEST(NvccCommand, DeviceCodeIsOptimizedUnlessItIsDebugged) {
  llvm::Expected<NvccCommand> Debugged = NvccCommand::read({"-G", "a.cu"});
  ASSERT_TRUE(bool(Debugged));
  EXPECT_EQ(Debugged->Words,
            (Words{"-g", "a.cu", "--cuda-noopt-device-debug"}));
  llvm::Expected<NvccCommand> Optimized =
      NvccCommand::read({"-G", "-dopt=on", "-g", "-lineinfo", "a.cu"});
  ASSERT_TRUE(bool(Optimized));
  EXPECT_EQ(Optimized->Words, (Words{"-gline-tables-only", "-g", "-g", "a.cu",
                                     "-Xarch_device", "-O3"}));
}

TEST(NvccCommand, WhatHasNoEquivalentIsAnErrorWithTheRemedy) {
  EXPECT_EQ(translated({"-optix-ir", "a.cu"}),
            (Words{"error: clang has nothing like nvcc's '-optix-ir'; only "
                   "nvcc makes OptiX IR; compile these files with nvcc"}));
}

TEST(NvccCommand, EachOptionHasItsNote) {
  llvm::Expected<NvccCommand> Command =
      NvccCommand::read({"-lineinfo", "--restrict", "-dlink", "-O2", "-c"});
  ASSERT_TRUE(bool(Command));
  EXPECT_EQ(
      Command->Notes,
      (Words{"nvcc's '-lineinfo' -> '-gline-tables-only'",
             "nvcc's '--restrict' is dropped: clang believes "
             "__restrict__ only",
             "nvcc's '-dlink' -> an object with the linked device code"}));
}

} // namespace
