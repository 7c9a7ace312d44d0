// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How often launches are checked, by time: the option launch_pause_us.
#ifndef CRSAN_INJECT_SESSION_LAUNCHPAUSE_H
#define CRSAN_INJECT_SESSION_LAUNCHPAUSE_H

#include <chrono>
#include <cstdint>

namespace crsan {

/// A kernel of a few microseconds takes many times as long where it is checked,
/// and a program may launch it often: a pause after each launch that is checked
/// limits the time that this takes.
class LaunchPause {
public:
  using Clock = std::chrono::steady_clock;

  /// Whether a launch at the time `Now` may be checked, which belongs to the
  /// group `Group`. Then a pause of `Length` begins, in which the others of the
  /// group may be checked, too, and no more.
  bool permits(uint64_t Group, Clock::duration Length, Clock::time_point Now) {
    if (Group == Last)
      return true;
    if (Now < End)
      return false;
    Last = Group;
    End = Now + Length;
    return true;
  }

private:
  uint64_t Last = ~uint64_t(0); ///< Group; at first none.
  Clock::time_point End = Clock::time_point::min();
};

} // namespace crsan

#endif // CRSAN_INJECT_SESSION_LAUNCHPAUSE_H
