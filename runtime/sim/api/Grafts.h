// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ends of programs that do not know this library.
#ifndef CRSAN_SIM_GRAFTS_H
#define CRSAN_SIM_GRAFTS_H

namespace crsan::api {

/// An executable that loads this library while it runs (an interpreter, say)
/// has bound _exit, exec and the like to the C library's before. From now on
/// what is loaded calls those of runtime/host/Endings.c, as programs do that
/// are linked to this library.
void graftEndings();

} // namespace crsan::api

#endif // CRSAN_SIM_GRAFTS_H
