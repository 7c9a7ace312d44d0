// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a mistyped word may have meant.
#ifndef CRSAN_TOOLS_CRSAN_NEARESTWORD_H
#define CRSAN_TOOLS_CRSAN_NEARESTWORD_H

#include <string>
#include <string_view>
#include <vector>

namespace crsan {

/// "; did you mean 'report'?", or "" if no word is near.
std::string didYouMean(std::string_view Word,
                       const std::vector<std::string> &Words);

} // namespace crsan

#endif // CRSAN_TOOLS_CRSAN_NEARESTWORD_H
