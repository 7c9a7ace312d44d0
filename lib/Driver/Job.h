// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Commands to run, one after another.
#ifndef CRSAN_DRIVER_JOB_H
#define CRSAN_DRIVER_JOB_H

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace crsan::driver {

struct Job {
  std::vector<std::string> Arguments; ///< Without argv[0].
  std::string Program = {};           ///< Empty: clang.
};

/// The commands that a command of the user's becomes.
struct Plan {
  std::vector<Job> Jobs;
  /// The last job links what the others compile: it runs only if all of them
  /// succeeded.
  bool LastLinks = false;
  /// Programs other than clang are printed; they run unless this is set.
  bool IsDryRun = false;
  bool IsVerbose = false;
  /// A command to run at the end, if all jobs succeeded: nvcc's -run.
  std::vector<std::string> Then = {};
  /// Deleted at the end: temporary objects and their folder.
  std::vector<std::string> Temporaries;
  /// Make-style dependency files of the compilations, to be joined into one.
  std::vector<std::string> DependencyParts;
  std::string DependencyFile;
};

/// Runs \p P with the clang \p Program and returns its exit code.
int run(const Plan &P, const std::string &Program);

/// Makes an empty file, for a dry run: clang leaves inputs out of what it
/// prints if they do not exist.
void touch(llvm::StringRef Path);

/// Becomes \p Program with \p Arguments; returns only if that failed.
int become(const std::string &Program,
           const std::vector<std::string> &Arguments);

} // namespace crsan::driver

#endif // CRSAN_DRIVER_JOB_H
