// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How an instrumented program is recognised.
#ifndef CRSAN_INJECT_SESSION_HOSTNOTE_H
#define CRSAN_INJECT_SESSION_HOSTNOTE_H

namespace crsan {

/// The host parts (runtime/host) of the program and of the libraries that it
/// has loaded, which carry ELF notes.
struct HostParts {
  bool Exist = false;
  /// Each of them wraps CUDA's functions (runtime/host/Wrapped.c), and so tells
  /// of launches that CUDA's run-time library refuses. One that was linked
  /// without crsan-clang and crsan-nvcc does not. Of launches by libraries
  /// without a host part nobody tells.
  bool AllTellRefusals = false;
};
HostParts findHostParts();
/// Whether `crsan run` asked for this library. That it was loaded would not
/// tell: children of a program with a host part inherit the environment.
bool isRunByTool();

} // namespace crsan

#endif // CRSAN_INJECT_SESSION_HOSTNOTE_H
