// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs FakeProgram, whose arguments say what it does and how it ends, against
// FakeDriver.
#ifndef CRSAN_UNITTESTS_INJECT_FAKERUN_H
#define CRSAN_UNITTESTS_INJECT_FAKERUN_H

#include <array>
#include <cstdio>
#include <string>

#include <sys/wait.h>

/// What the report of a program that races says last.
inline constexpr char Race[] = "SUMMARY: CRSan: 1 data race (1 clobbered read)";

struct Outcome {
  int Status = -1; ///< Exit code, or 128 and the signal.
  std::string Text;
  size_t reports() const {
    size_t Count = 0;
    for (size_t At = 0; (At = Text.find("SUMMARY:", At)) != Text.npos; ++At)
      ++Count;
    return Count;
  }
};

inline Outcome run(const std::string &Words,
                   const std::string &Environment = "",
                   const std::string &Program = "FakeProgram") {
  const std::string Dir = CRSAN_FAKE_DIR;
  std::string Command = "env -u CUDA_INJECTION64_PATH -u CRSAN_OPTIONS "
                        "-u CRSAN_HOST -u CRSAN_LIBRARY LD_LIBRARY_PATH='" +
                        Dir + "' " + Environment + " timeout 60 '" + Dir + "/" +
                        Program + "' " + Words + " 2>&1";
  Outcome Result;
  FILE *Pipe = popen(Command.c_str(), "r");
  std::array<char, 4096> Part;
  while (size_t Size = fread(Part.data(), 1, Part.size(), Pipe))
    Result.Text.append(Part.data(), Size);
  int Status = pclose(Pipe);
  Result.Status =
      WIFEXITED(Status) ? WEXITSTATUS(Status) : 128 + WTERMSIG(Status);
  return Result;
}

#endif // CRSAN_UNITTESTS_INJECT_FAKERUN_H
