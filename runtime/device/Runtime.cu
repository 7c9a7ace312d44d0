// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an instrumented kernel calls.
//
// The device runtime. CMake compiles this file once to bitcode for sm_70 and
// embeds the bitcode in the pass plugin, which links it into every instrumented
// module with internal linkage. Where ptxas assembles a module as a whole, it
// compiles these functions anew for every kernel, so each function is small,
// and loops are not unrolled.
//
//   common/          intrinsics, the runtime's own loads and stores, the record
//                    buffer, the block shuffle, boxes of tensor copies
//   collider/        the slow path of sampled windows, watchpoints, conflicts
//                    between the lanes of a warp; the pass emits the fast path
//                    (is this window sampled?) in line
//   metadata/        clocks, cells, sync cells, the happens-before judgement,
//                    two-sided records of metadata mode
//   metadata/entry/  what instrumented code calls in metadata mode
//
// The collider's check may precede the access (docs/soundness.md): between the
// check and the access there is no synchronization and no branch around the
// access, so a write of another thread that the check sees is ordered neither
// before nor after the access that follows.

#include "collider/PlainBody.h"
#include "collider/SlowPath.h"
#include "common/BlockShuffle.h"
#include "common/TensorBox.h"
#include "metadata/entry/Access.h"
#include "metadata/entry/Barrier.h"
#include "metadata/entry/Context.h"
#include "metadata/entry/Copy.h"
#include "metadata/entry/Exemption.h"
#include "metadata/entry/InLine.h"
#include "metadata/entry/Kernel.h"
#include "metadata/entry/Product.h"
#include "metadata/entry/QuickCheck.h"
#include "metadata/entry/Synchronization.h"
#include "metadata/entry/UnknownCode.h"
