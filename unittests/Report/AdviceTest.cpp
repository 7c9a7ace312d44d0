// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Changes of the source that order two accesses, and where there is none.
#include "Report/Advice.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace crsan {

namespace {
class AdviceTest : public testing::Test {
protected:
  ~AdviceTest() override { std::filesystem::remove(Path); }

  /// Of a race between threads of a block: the earlier access is in the line
  /// that ends in "// A", the later one in the line that ends in "// B", or
  /// both in the line that ends in "// AB".
  std::string advice(const std::string &Source,
                     abi::RaceKind Kind = abi::RaceKind::IntraBlock,
                     uint8_t Size = 4) {
    std::ofstream(Path) << Source;
    Finding F;
    F.First.Kind = Kind;
    F.First.Flags = abi::TwoSided;
    F.First.Size = Size;
    F.First.MemorySpace = abi::Space::Shared;
    F.Site.emplace();
    F.Other.emplace();
    uint32_t Line = 1;
    size_t Begin = 0;
    auto Set = [&](SiteInfo &Site) {
      Site.Access = abi::AccessKind::Store;
      Site.Flags = abi::IsOfUpdate;
      Site.Size = Size;
      Site.Kernel = "k";
      Site.Frames = {{"k", Path, Line, 1}};
    };
    for (; Begin < Source.size(); ++Line) {
      const size_t End = std::min(Source.find('\n', Begin), Source.size());
      const std::string Text = Source.substr(Begin, End - Begin);
      if (Text.ends_with("// A") || Text.ends_with("// AB"))
        Set(*F.Other);
      if (Text.ends_with("// B") || Text.ends_with("// AB"))
        Set(*F.Site);
      Begin = End + 1;
    }
    SourceFiles Files;
    std::string All;
    for (const Edit &E : adviceFor(F, Files))
      All += (All.empty() ? "" : "; ") +
             (E.Old.empty() ? std::to_string(E.Line) + ": " + E.New
                            : E.Old + " -> " + E.New);
    return All;
  }
  std::string update(const std::string &Statement) {
    return advice("__global__ void k() {\n" + Statement + " // AB\n}\n");
  }
  std::string barrier(const std::string &Body) {
    return advice("__global__ void k() {\n" + Body + "}\n");
  }

  // ctest runs several tests at a time.
  const std::string Path =
      testing::TempDir() + "crsan-" +
      testing::UnitTest::GetInstance()->current_test_info()->name() + ".cu";
};
} // namespace

TEST_F(AdviceTest, AnUpdateBecomesAtomic) {
  EXPECT_EQ(update("  Sum += V;"), "Sum += V -> atomicAdd(&Sum, V)");
  EXPECT_EQ(update("struct S { int N; }; if (X) A[f(1, B[2])].M->N -= V * 2;"),
            "A[f(1, B[2])].M->N -= V * 2 -> "
            "atomicAdd(&A[f(1, B[2])].M->N, -(V * 2))");
  EXPECT_EQ(update("  *P |= 1u << (Lane % 32);"),
            "*P |= 1u << (Lane % 32) -> atomicOr(&*P, 1u << (Lane % 32))");
  EXPECT_EQ(update("  else ++(*P); "), "++(*P) -> atomicAdd(&(*P), 1)");
  EXPECT_EQ(update("  A[I]--;"), "A[I]-- -> atomicAdd(&A[I], -(1))");
}

TEST_F(AdviceTest, AnUpdateWhoseValueIsUsedOrUnclearStays) {
  EXPECT_EQ(update("  X = Sum += V;"), "");
  EXPECT_EQ(update("  f(Sum += V);"), "");
  EXPECT_EQ(update("  Sum += V, W;"), "");
  EXPECT_EQ(update("  Sum +="), "");
  EXPECT_EQ(update("  Sum *= 2;"), "");
  EXPECT_EQ(update("  Old[I] = Sum++;"), "");
  EXPECT_EQ(update("  A += 1; B += 1;"), "");
  EXPECT_EQ(update("  for (;; A[I] += 1) {"), "");
  EXPECT_EQ(update("  f(\"Sum += V;\");"), "");
  EXPECT_EQ(update("  f(); /* Sum += V; */"), "");
  EXPECT_EQ(advice("__global__ void k() {\n  Sum += V; // AB\n}\n",
                   abi::RaceKind::IntraBlock, 8),
            "");
}

TEST_F(AdviceTest, ABitFieldHasNoAddress) {
  EXPECT_EQ(update("struct S { int Low : 3, High : 5; }; P->High += 1;"), "");
  EXPECT_EQ(update("struct S { int N : 3; }; ++(P->N);"), "");
  EXPECT_EQ(update("  P->DeclaredElsewhere += 1;"), "");
  EXPECT_EQ(update("  return P->N; P.N += 1;"), "");
  EXPECT_EQ(update("  f(0, N); X = P->N; Y = 2 * N; P.N += 1;"), "");
  EXPECT_EQ(update("  *P->DeclaredElsewhere += 1;"),
            "*P->DeclaredElsewhere += 1 -> "
            "atomicAdd(&*P->DeclaredElsewhere, 1)");
  EXPECT_EQ(update("struct S { int N, M; }; P->M += std::x;"),
            "P->M += std::x -> atomicAdd(&P->M, std::x)");
}

TEST_F(AdviceTest, ABarrierStandsWhereAllThreadsComeBy) {
  EXPECT_EQ(barrier("  S[T] = 1; // A\n"
                    "  X = S[T + 1]; // B\n"),
            "3: __syncthreads();");
  EXPECT_EQ(barrier("  X = S[T + 1]; // B\n"
                    "  S[T] = 1; // A\n"),
            "3: __syncthreads();");
  EXPECT_EQ(barrier("  if (T) {\n"
                    "    S[T] = 1; // A\n"
                    "  }\n"
                    "  int X = 0;\n"
                    "  for (;;)\n"
                    "    X += S[T + 1]; // B\n"),
            "6: __syncthreads();");
  EXPECT_EQ(advice("namespace n {\ntemplate <int N>\n__global__\nvoid k()\n{\n"
                   "  S[T] = 1; // A\n"
                   "  X = S[T + 1]; // B\n}\n}\n",
                   abi::RaceKind::WarpBarrier),
            "7: __syncwarp();");
}

TEST_F(AdviceTest, NoBarrierInBranchesLoopsAndBehindReturns) {
  EXPECT_EQ(barrier("  if (T) {\n"
                    "    S[T] = 1; // A\n"
                    "    X = S[T + 1]; // B\n"
                    "  }\n"),
            "");
  EXPECT_EQ(barrier("  for (;;) {\n"
                    "    S[T] = 1; // A\n"
                    "    X = S[T + 1]; // B\n"
                    "  }\n"),
            "");
  EXPECT_EQ(barrier("  if (T > N) return;\n"
                    "  S[T] = 1; // A\n"
                    "  X = S[T + 1]; // B\n"),
            "");
  EXPECT_EQ(barrier("  S[T] = 1; // A\n"
                    "#ifdef X\n"
                    "  if (T) {\n"
                    "#endif\n"
                    "  X = S[T + 1]; // B\n"),
            "");
  EXPECT_EQ(barrier("  if (T)\n"
                    "    X = S[T + 1]; // B\n"
                    "  else {\n"
                    "    S[T] = 1; // A\n"
                    "  }\n"),
            "");
  EXPECT_EQ(barrier("  if (T)\n"
                    "    S[T] = 1; // A\n"
                    "  else\n"
                    "    X = S[T + 1]; // B\n"),
            "");
  EXPECT_EQ(barrier("  if (T) {\n"
                    "    S[T] = 1; // A\n"
                    "  }\n"
                    "  else {\n"
                    "    X = S[T + 1]; // B\n"
                    "  }\n"),
            "");
  EXPECT_EQ(advice("__device__ void k() {\n  S[T] = 1; // A\n"
                   "  X = S[T + 1]; // B\n}\n"),
            "");
}

} // namespace crsan
