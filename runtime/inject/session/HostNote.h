// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How an instrumented program is recognised.
#ifndef CRSAN_INJECT_SESSION_HOSTNOTE_H
#define CRSAN_INJECT_SESSION_HOSTNOTE_H

namespace crsan {

/// Whether the program or a library that it has loaded holds the host part,
/// which carries an ELF note, or `crsan run` has started it. That the library
/// was loaded would not tell: children inherit the environment.
bool isInstrumentedProgram();

} // namespace crsan

#endif // CRSAN_INJECT_SESSION_HOSTNOTE_H
