// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contract between pass, device and host.
//
// The headers of this folder are the contract between the pass (which emits
// some of these objects), the device runtime (which fills in others) and the
// host library (which writes the configuration and reads everything else).
// They are freestanding. Every structure is laid out for 64-bit little-endian
// hosts and devices, and every size and offset is asserted.
//
//   Config.h       what the library tells a module before its kernels run
//   Names.h        names of the objects that the pass defines in a module
//   Rewritten.h    what stands above PTX that got its checks when it was loaded
//   MemoryModel.h  scopes, memory orders, kinds of accesses, state spaces
//   Site.h         the checked accesses, as the device sees them
//   SiteTable.h    the checked accesses, as the report names them
//   Omissions.def  why an access is not checked
//   Record.h       races, as the device records them
//   Watchpoints.h  what waiting threads are about to access (collider)
//   Cell.h         who accessed a word last (metadata mode)
//   Clock.h        clocks of warps and lanes, and what releases hand on
//   Launch.h       which grids are ordered
//   Operation.h    copies and fills of streams, as the device checks them
//   TensorMap.h    tensor maps that the host knows of
//   Check.h        arguments of the runtime's entry points
//   Metadata.h     where the tables of metadata mode lie
//   BlockOrder.h   the permutation of block indices
//   MatrixOperand.h  where an operand of a warp group's product lies
//   Host.h         the checked accesses of host code
//   HostNote.h     the same, as the device judges them (metadata mode)
#ifndef CRSAN_ABI_VERSION_H
#define CRSAN_ABI_VERSION_H

#include <cstdint>

namespace crsan::abi {

/// The version of the contract: any change of these headers increments it.
/// Objects of different versions cannot be mixed: ModuleHeader and Config carry
/// the version, and the library refuses a module of another one.
inline constexpr uint32_t Version = 30;

} // namespace crsan::abi

#endif // CRSAN_ABI_VERSION_H
