// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Suppression files, and the patterns in them.
#include "Report/Suppressions.h"

#include <cstdlib>

using namespace crsan;

static Finding aFinding() {
  SiteInfo Site;
  Site.Kernel = "void stencil<float>(float *, int)";
  Site.Frames = {{"load(float *)", "src/stencil.cuh", 31, 9},
                 {"void stencil<float>(float *, int)", "src/a*b.cu", 57, 3}};
  Finding F;
  F.Site = F.Other = Site;
  return F;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  static const Finding F = aFinding();
  const std::string_view Text(reinterpret_cast<const char *>(Data), Size);
  auto Parsed = Suppressions::parse(Text);
  if (auto *Error = std::get_if<SuppressionsError>(&Parsed)) {
    if (Error->Message.empty())
      std::abort();
    return 0;
  }
  Report R;
  R.Findings = {F};
  std::get<Suppressions>(Parsed).apply(R);
  if (R.Findings.size() + R.Summary.Suppressed != 1)
    std::abort();
  return 0;
}
