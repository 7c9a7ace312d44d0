// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Thread instructions a second on the simulated GPU.
//
//     sim_speed [iterations [threads]]
//
// A loop of arithmetic, global and shared memory by 8 blocks of 256 threads,
// under each policy; then in rounds, by one host thread up to so many.
#include "Machine.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace crsan::sim;

static const char *const Text = R"(.version 8.3
.target sm_90
.address_size 64
.visible .entry loop(.param .u64 p, .param .u32 n, .param .u32 apart)
{
  .reg .pred %p<4>;
  .reg .b32 %r<20>;
  .reg .f32 %f<8>;
  .reg .b64 %rd<8>;
  .shared .align 4 .b8 s[1024];
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [n];
  ld.param.u32 %r11, [apart];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mad.lo.u32 %r4, %r3, 256, %r2;
  mul.wide.u32 %rd2, %r4, 4;
  add.s64 %rd3, %rd1, %rd2;
  shl.b32 %r5, %r2, 2;
  mov.u32 %r6, s;
  add.u32 %r7, %r6, %r5;
  mov.u32 %r8, 0;
  st.shared.u32 [%r7], %r2;
  bar.sync 0;
  and.b32 %r12, %r2, %r11;
  setp.ne.u32 %p2, %r12, 0;
  @%p2 bra Loop;
Loop:
  ld.global.u32 %r9, [%rd3];
  ld.shared.u32 %r10, [%r7];
  add.u32 %r9, %r9, %r10;
  mul.lo.u32 %r9, %r9, 1664525;
  xor.b32 %r9, %r9, %r8;
  cvt.rn.f32.u32 %f1, %r10;
  fma.rn.f32 %f2, %f1, %f1, %f2;
  st.shared.u32 [%r7], %r9;
  st.global.u32 [%rd3], %r9;
  add.u32 %r8, %r8, 1;
  setp.lt.u32 %p1, %r8, %r1;
  @%p1 bra Loop;
  st.global.f32 [%rd3], %f2;
  ret;
}
)";

static void measure(const char *Name, Options::Policy P, uint32_t Iterations,
                    unsigned Rounds = 0) {
  const uint32_t Apart = 0;
  Options O;
  O.Schedule = P;
  O.InRounds = Rounds != 0;
  O.Threads = std::max(Rounds, 1u);
  Machine M(0, O);
  std::string PTX = Text;
  auto Loaded = M.load({&PTX, 1}, "sim_speed");
  if (auto *Error = std::get_if<std::string>(&Loaded)) {
    std::fprintf(stderr, "%s\n", Error->c_str());
    std::exit(1);
  }
  Launch L;
  L.Kernel = M.findKernel(std::get<ModuleId>(Loaded), "loop");
  L.Grid = {8, 1, 1};
  L.Block = {256, 1, 1};
  void *Array = M.allocate(8 * 256 * 4);
  std::memset(Array, 0, 8 * 256 * 4);
  L.Params.resize(16);
  std::memcpy(L.Params.data(), &Array, 8);
  std::memcpy(L.Params.data() + 8, &Iterations, 4);
  std::memcpy(L.Params.data() + 12, &Apart, 4);
  auto Start = std::chrono::steady_clock::now();
  M.launch(0, std::move(L));
  if (auto Bad = M.drive(Machine::Wait::All)) {
    std::fprintf(stderr, "%s\n", Bad->text().c_str());
    std::exit(1);
  }
  double Seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - Start)
          .count();
  std::printf("%-32s %8.1f million thread instructions a second\n", Name,
              double(M.instructions()) / Seconds / 1e6);
}

int main(int Argc, char **Argv) {
  uint32_t N = Argc > 1 ? uint32_t(std::atoi(Argv[1])) : 2000;
  unsigned Threads = Argc > 2 ? unsigned(std::atoi(Argv[2])) : 2;
  measure("round robin", Options::Policy::RoundRobin, N);
  measure("random", Options::Policy::Random, N);
  measure("pct", Options::Policy::PCT, N);
  for (unsigned T = 1; T <= Threads; ++T)
    measure(("random, in rounds, " + std::to_string(T) + " threads").c_str(),
            Options::Policy::Random, N, T);
}
