// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text, line by line.
#ifndef CRSAN_REPORT_LINES_H
#define CRSAN_REPORT_LINES_H

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <utility>

namespace crsan {

/// A text to which lines are appended.
struct Lines {
  std::string Text;

  template <typename... Ts>
  void line(fmt::format_string<Ts...> Format, Ts &&...Args) {
    fmt::format_to(std::back_inserter(Text), Format, std::forward<Ts>(Args)...);
    Text += '\n';
  }
};

} // namespace crsan

#endif // CRSAN_REPORT_LINES_H
