// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What names mean in a function's blocks.
#include "Names.h"

#include <charconv>

using namespace crsan::sim;

Ref Names::findRegister(std::string_view Name) const {
  for (const Names *N = this; N; N = N->Parent) {
    if (auto It = N->Registers.find(Name); It != N->Registers.end())
      return It->second;
    // A family: the number is what follows its name.
    for (size_t At = Name.size();
         At > 0 && Name[At - 1] >= '0' && Name[At - 1] <= '9'; --At) {
      auto It = N->Families.find(Name.substr(0, At - 1));
      if (It == N->Families.end())
        continue;
      uint32_t Number = 0;
      std::from_chars(Name.data() + At - 1, Name.data() + Name.size(), Number);
      if (Number >= It->second.Count)
        continue;
      Ref R = It->second.First;
      R.Offset += Number * (R.Size ? R.Size * WarpSize : 4);
      return R;
    }
  }
  return {};
}
