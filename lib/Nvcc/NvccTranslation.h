// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// crsan-nvcc's command line to nvcc's.
#ifndef CRSAN_NVCC_NVCCTRANSLATION_H
#define CRSAN_NVCC_NVCCTRANSLATION_H

#include "NvccLine.h"
#include "RaceOptions.h"
#include "ToolkitView.h"

namespace crsan::nvcc {

/// An error if \p Line asks for what cannot be checked.
llvm::Error checkOptions(const driver::CommandLine &Line,
                         const driver::RaceOptions &Options);

/// The arguments with which the view's nvcc does what \p Line asks, with the
/// sanitizer on.
Words translate(const driver::CommandLine &Line,
                const driver::RaceOptions &Options,
                const driver::Installation &Where, const RealNvcc &Real,
                const ToolkitView &View);

} // namespace crsan::nvcc

#endif // CRSAN_NVCC_NVCCTRANSLATION_H
