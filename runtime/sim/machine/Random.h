// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The schedule's numbers.
#ifndef CRSAN_SIM_RANDOM_H
#define CRSAN_SIM_RANDOM_H

#include <cstdint>

namespace crsan::sim {

/// SplitMix64: the same numbers from the same seed on every platform, which no
/// distribution of the standard library promises.
class Random {
public:
  explicit Random(uint64_t Seed = 0) : State(Seed) {}
  uint64_t next() {
    uint64_t Z = State += 0x9E37'79B9'7F4A'7C15;
    Z = (Z ^ Z >> 30) * 0xBF58'476D'1CE4'E5B9;
    Z = (Z ^ Z >> 27) * 0x94D0'49BB'1331'11EB;
    return Z ^ Z >> 31;
  }
  /// From 0 to Bound - 1.
  uint32_t below(uint32_t Bound) {
    return uint32_t((next() >> 32) * Bound >> 32);
  }
  bool oneIn(uint32_t N) { return below(N) == 0; }

private:
  uint64_t State;
};

} // namespace crsan::sim

#endif // CRSAN_SIM_RANDOM_H
