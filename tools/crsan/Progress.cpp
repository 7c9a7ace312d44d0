// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How far a series of runs has come, on the standard error.
#include "Progress.h"

#include "Report/Words.h"

#include <fmt/format.h>

#include <fstream>
#include <iostream>

#include <unistd.h>

using namespace crsan;
using Clock = std::chrono::steady_clock;

std::string crsan::durationWords(std::chrono::seconds Time) {
  const auto Count = Time.count();
  if (Count < 100)
    return fmt::format("{} s", Count);
  if (Count < 100 * 60)
    return fmt::format("{} min", (Count + 30) / 60);
  return fmt::format("{} h", (Count + 1800) / 3600);
}

Progress::Progress(size_t Runs, bool IsSilent)
    : Runs(Runs), IsShown(!IsSilent && isatty(2)), Begin(Clock::now()) {
  draw();
}

void Progress::draw() {
  if (!IsShown)
    return;
  std::string Left;
  if (Done) {
    const auto Spent =
        std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - Begin);
    Left = fmt::format(", about {} left",
                       durationWords(Spent * (Runs - Done) / Done));
  }
  std::cerr << fmt::format("\r\033[K{} of {} runs, {} so far{}", Done, Runs,
                           counted(Findings, "finding"), Left)
            << std::flush;
}

void Progress::erase() {
  if (IsShown)
    std::cerr << "\r\033[K";
}

void Progress::update(size_t NowDone, size_t NowFindings) {
  Done = NowDone;
  Findings = NowFindings;
  draw();
}

void Progress::say(const std::string &Line, const std::string &More) {
  erase();
  std::cerr << "CRSan: " << Line << '\n' << More;
  draw();
}

void Progress::say(const std::string &Line, const std::filesystem::path &File) {
  erase();
  std::cerr << "CRSan: " << Line << '\n';
  if (std::ifstream In(File, std::ios::binary);
      In.peek() != std::ifstream::traits_type::eof())
    std::cerr << In.rdbuf();
  draw();
}

void Progress::finish() { erase(); }
