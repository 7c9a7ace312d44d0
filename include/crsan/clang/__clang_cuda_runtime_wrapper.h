// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lets -DN=8 and the like compile as with nvcc.
//
// Clang includes the header of this name in front of the user's code. That
// header includes some of CUDA's headers that nvcc does not (cuda.h, cuRAND's),
// which have parameters of these names, and a macro of the command line would
// replace these.
#pragma push_macro("N")
#pragma push_macro("V")
#pragma push_macro("X")
#pragma push_macro("Y")
#undef N
#undef V
#undef X
#undef Y
#include_next <__clang_cuda_runtime_wrapper.h>
#pragma pop_macro("N")
#pragma pop_macro("V")
#pragma pop_macro("X")
#pragma pop_macro("Y")
