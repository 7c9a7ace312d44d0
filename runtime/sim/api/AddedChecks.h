// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks for code of the program that was built without them.
#ifndef CRSAN_SIM_ADDEDCHECKS_H
#define CRSAN_SIM_ADDEDCHECKS_H

#include "Objects.h"

namespace crsan {
class Session;
struct Flags;
} // namespace crsan

namespace crsan::api {

/// Puts checks into those modules of an image that have none, if the options
/// ask for it, and tells the session what has none now.
void addChecks(CUlib_st &Image, const Flags &Options, Session *TheSession);

/// The image with its checks could not be loaded, for that reason: takes them
/// out. False: it had none.
bool takeChecksOut(CUlib_st &Image, const std::string &Why,
                   Session *TheSession);

} // namespace crsan::api

#endif // CRSAN_SIM_ADDEDCHECKS_H
