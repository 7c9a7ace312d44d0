// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program's command line.

#include "common/CommandLine.h"

#include <fstream>
#include <iterator>
#include <string_view>

namespace crsan {

static std::string quoted(std::string_view Word) {
  constexpr std::string_view Plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
      "_-+=./:,@%";
  if (!Word.empty() && Word.find_first_not_of(Plain) == Word.npos)
    return std::string(Word);
  std::string Text = "'";
  for (char C : Word)
    Text += C == '\'' ? "'\\''" : std::string(1, C);
  return Text + "'";
}

std::string commandLine() {
  std::ifstream In("/proc/self/cmdline", std::ios::binary);
  std::string Raw((std::istreambuf_iterator<char>(In)), {}), Text;
  for (size_t At = 0; At < Raw.size();) {
    std::string_view Word = Raw.c_str() + At;
    Text += (Text.empty() ? "" : " ") + quoted(Word);
    At += Word.size() + 1;
  }
  return Text;
}

} // namespace crsan
