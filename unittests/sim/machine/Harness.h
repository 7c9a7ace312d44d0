// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A machine for tests of small PTX texts.
#ifndef CRSAN_UNITTESTS_SIM_HARNESS_H
#define CRSAN_UNITTESTS_SIM_HARNESS_H

#include "Machine.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <cstring>

namespace crsan::sim {

/// One machine with one image, and an array that kernels get as their
/// parameter.
class Harness {
public:
  explicit Harness(Options O = {}) : M(0, withPrint(std::move(O))) {}

  Options withPrint(Options O) {
    O.Print = [this](std::string_view Text) { Printed += Text; };
    if (!O.MaxSteps)
      O.MaxSteps = 2'000'000; // No test hangs.
    // All tests are also run in rounds (see CMakeLists.txt).
    if (const char *Threads = std::getenv("CRSAN_TEST_THREADS");
        Threads && O.Threads == 1)
      O.Threads = unsigned(std::atoi(Threads));
    return O;
  }

  /// Adds the header.
  void load(std::string Text) {
    std::string All = ".version 8.3\n.target sm_90\n.address_size 64\n" + Text;
    auto Result = M.load({&All, 1}, "test");
    ASSERT_TRUE(std::holds_alternative<ModuleId>(Result))
        << std::get<std::string>(Result);
    Module = std::get<ModuleId>(Result);
  }

  /// A kernel `k(.param .u64 p)` around a body; %rd1 is p, %r1 the linear
  /// thread in the grid, %r2 the thread in the block.
  void loadBody(const std::string &Body, const std::string &Before = {}) {
    load(Before + R"(
.visible .entry k(.param .u64 p)
{
  .reg .pred %p<20>;
  .reg .b16 %rs<40>;
  .reg .b32 %r<80>;
  .reg .b64 %rd<40>;
  .reg .f32 %f<20>;
  .reg .f64 %fd<20>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mad.lo.s32 %r1, %r3, %r4, %r2;
)" + Body +
         "\n  ret;\n}\n");
  }

  template <class T> T *array(size_t Count) {
    T *P = static_cast<T *>(M.allocate(Count * sizeof(T)));
    std::memset(P, 0, Count * sizeof(T));
    return P;
  }

  void launch(const void *P, uint32_t Blocks, uint32_t Threads, Stream S = 0,
              const char *Name = "k", uint32_t Cluster = 1,
              bool IsCooperative = false) {
    const KernelInfo *K = M.findKernel(Module, Name);
    ASSERT_NE(K, nullptr);
    Launch L;
    L.Kernel = K;
    L.Grid = {Blocks, 1, 1};
    L.Block = {Threads, 1, 1};
    L.Cluster = {Cluster, 1, 1};
    L.IsCooperative = IsCooperative;
    L.Params.resize(8);
    std::memcpy(L.Params.data(), &P, 8);
    M.launch(S, std::move(L));
  }

  std::optional<Fault> run(const void *P, uint32_t Blocks, uint32_t Threads) {
    launch(P, Blocks, Threads);
    return M.drive(Machine::Wait::All);
  }
  void runWell(const void *P, uint32_t Blocks, uint32_t Threads) {
    auto Bad = run(P, Blocks, Threads);
    ASSERT_FALSE(Bad.has_value()) << Bad->text();
  }

  std::string Printed;
  Machine M;
  ModuleId Module = 0;
};

inline Options withSeed(uint64_t Seed,
                        Options::Policy P = Options::Policy::Random) {
  Options O;
  O.Seed = Seed;
  O.Schedule = P;
  return O;
}

/// For each policy and some seeds.
template <class Callable> void underSchedules(Callable F) {
  using Policy = Options::Policy;
  for (Policy P : {Policy::RoundRobin, Policy::Random, Policy::PCT})
    for (uint64_t Seed = 0; Seed < 10; ++Seed) {
      SCOPED_TRACE(testing::Message()
                   << "policy " << int(P) << ", seed " << Seed);
      F(withSeed(Seed, P));
    }
}

/// %r9 of each thread, to the array of u32 that the kernel gets.
inline constexpr char StoreResult[] = R"(
  mul.wide.u32 %rd10, %r1, 4;
  add.s64 %rd11, %rd1, %rd10;
  st.global.u32 [%rd11], %r9;
)";

} // namespace crsan::sim

#endif // CRSAN_UNITTESTS_SIM_HARNESS_H
