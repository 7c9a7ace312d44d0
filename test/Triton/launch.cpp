// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// launch DIRECTORY NAME...: runs the kernel of each DIRECTORY/NAME.ptx, and
// compares what it computes with what the host does; NAME-racy as NAME is.
// `all` is every kernel.

#include "host/Device.h"

static std::vector<Case> allCases() {
  std::vector<Case> All;
  for (const auto *Cases :
       {&ElementCases, &RowCases, &ProductCases, &SharedCases})
    All.insert(All.end(), Cases->begin(), Cases->end());
  return All;
}

static void run(const Case &C, const std::string &Directory,
                const std::string &File) {
  Program P((Directory + '/' + File + ".ptx").c_str());
  C.Run(P);
  std::printf("%s: OK\n", File.c_str());
  std::fflush(stdout);
}

/// Whether there is such a kernel.
static bool runNamed(const std::string &Directory, const std::string &File) {
  const std::string Name = File.substr(0, File.find("-racy"));
  for (const Case &C : allCases())
    if (Name == C.Name) {
      run(C, Directory, File);
      return true;
    }
  return false;
}

int main(int Count, char **Arguments) {
  if (Count < 3) {
    std::fprintf(stderr, "usage: %s DIRECTORY NAME...\n", *Arguments);
    return 1;
  }
  const std::string Directory = Arguments[1];
  for (int I = 2; I < Count; ++I)
    if (Arguments[I] == std::string("all"))
      for (const Case &C : allCases())
        run(C, Directory, C.Name);
    else if (!runNamed(Directory, Arguments[I])) {
      std::fprintf(stderr, "there is no kernel %s\n", Arguments[I]);
      return 1;
    }
}
