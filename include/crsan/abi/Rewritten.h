// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands above PTX that got its checks after it was compiled.
//
// `crsan-ptxas --crsan-rewrite` writes these lines, and whoever has run it
// reads them. The PTX, or a fat binary, begins behind the last one.
#ifndef CRSAN_ABI_REWRITTEN_H
#define CRSAN_ABI_REWRITTEN_H

namespace crsan::abi {

/// Completed by the reason why the module has no checks: it is as it was.
inline constexpr char UncheckedModule[] = "// crsan module unchecked: ";
/// Completed by the name of a function without checks, ": ", and the reason.
inline constexpr char UncheckedFunction[] = "// crsan function unchecked: ";
/// The text was made by an earlier run.
inline constexpr char CachedComment[] = "// crsan cached";
/// Completed by the reason why the text will be made again in the next run.
inline constexpr char UncachedComment[] = "// crsan not cached: ";
/// The last line.
inline constexpr char EndOfRewritten[] = "// crsan rewritten";

} // namespace crsan::abi

#endif // CRSAN_ABI_REWRITTEN_H
