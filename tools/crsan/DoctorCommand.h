// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// crsan doctor.
#ifndef CRSAN_TOOLS_CRSAN_DOCTORCOMMAND_H
#define CRSAN_TOOLS_CRSAN_DOCTORCOMMAND_H

namespace CLI {
class App;
}

namespace crsan {

/// Adds `crsan doctor`, which says what CRSan needs and does not find, and how
/// to mend it. `ExitCode` is 0 if programs can be checked on some device, and 1
/// if not.
void addDoctorCommand(CLI::App &App, int &ExitCode);

} // namespace crsan

#endif // CRSAN_TOOLS_CRSAN_DOCTORCOMMAND_H
