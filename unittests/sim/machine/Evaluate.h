// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One lane's arithmetic, for tests.
#ifndef CRSAN_UNITTESTS_SIM_EVALUATE_H
#define CRSAN_UNITTESTS_SIM_EVALUATE_H

#include "Harness.h"

#include <bit>

namespace crsan::sim {

/// Runs `Op` on 64-bit a (%rd2) and b (%rd3), 32-bit halves in %r5 and %r6; the
/// result is %rd4. One thread for each pair.
inline std::vector<uint64_t>
evaluate(const std::string &Op, std::vector<std::pair<uint64_t, uint64_t>> In) {
  Harness H;
  H.loadBody(R"(
  mul.wide.u32 %rd10, %r1, 24;
  add.s64 %rd11, %rd1, %rd10;
  ld.global.u64 %rd2, [%rd11];
  ld.global.u64 %rd3, [%rd11+8];
  cvt.u32.u64 %r5, %rd2;
  cvt.u32.u64 %r6, %rd3;
  mov.u64 %rd4, 0;
  )" + Op + "\n  st.global.u64 [%rd11+16], %rd4;");
  uint64_t *A = H.array<uint64_t>(In.size() * 3);
  for (size_t N = 0; N < In.size(); ++N) {
    A[N * 3] = In[N].first;
    A[N * 3 + 1] = In[N].second;
  }
  H.runWell(A, 1, uint32_t(In.size()));
  std::vector<uint64_t> Out;
  for (size_t N = 0; N < In.size(); ++N)
    Out.push_back(A[N * 3 + 2]);
  return Out;
}

inline uint64_t one(const std::string &Op, uint64_t A, uint64_t B = 0) {
  return evaluate(Op, {{A, B}})[0];
}
/// `Op d, %r5, %r6` of 32 bits.
inline uint32_t one32(const std::string &Op, uint32_t A, uint32_t B = 0) {
  return uint32_t(one(Op + "\n cvt.u64.u32 %rd4, %r7;", A, B));
}
inline uint32_t bits(float F) { return std::bit_cast<uint32_t>(F); }
inline float asFloat(uint32_t B) { return std::bit_cast<float>(B); }

} // namespace crsan::sim

#endif // CRSAN_UNITTESTS_SIM_EVALUATE_H
