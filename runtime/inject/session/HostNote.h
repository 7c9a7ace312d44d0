// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How an instrumented program is recognised.
#ifndef CRSAN_INJECT_SESSION_HOSTNOTE_H
#define CRSAN_INJECT_SESSION_HOSTNOTE_H

namespace crsan {

/// Whether the program or a library that it has loaded holds the host part,
/// which carries an ELF note.
bool hasHostPart();
/// Whether `crsan run` asked for this library. That it was loaded would not
/// tell: children of a program with a host part inherit the environment.
bool isRunByTool();

} // namespace crsan

#endif // CRSAN_INJECT_SESSION_HOSTNOTE_H
