// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the checked accesses are.
//
// The site table of a module is a constant that the device never reads: the
// library finds it in the loaded image. A record names a site by its identity,
// and the site table says what that site is called in the source. In memory:
//
//   ModuleHeader
//   SiteEntry[NumSites], Frame[NumFrames], Companion[NumCompanions],
//   Variable[NumVariables], SharedUse[NumSharedUses]
//   OmittedAccess[NumOmitted]
//   uint32_t[NumChecked]: the window (Sampling) of each abi::Site
//   uint32_t[NumWindows]: how many checks count there, in each execution
//   uint32_t[NumFunctions]: strings, the mangled names of the functions
//   char[StringSize]: NUL-terminated UTF-8 strings
//
// A string is an offset into the last array; offset 0 is the empty string.
#ifndef CRSAN_ABI_SITETABLE_H
#define CRSAN_ABI_SITETABLE_H

#include "crsan/abi/MemoryModel.h"

#include <cstddef>

namespace crsan::abi {

/// The first word of a site table: the bytes "CRSN" in little-endian order.
inline constexpr uint32_t Magic = 0x4e535243;

struct ModuleHeader {
  uint32_t Magic;
  uint32_t Version; ///< abi::Version of the pass.
  uint64_t Unit;    ///< The identity of the translation unit (Names.h).
  uint32_t NumSites;
  uint32_t NumWindows;
  uint32_t NumFrames;
  uint32_t NumFunctions; ///< The functions defined here.
  uint32_t NumKernels;   ///< The first so many of them are kernels.
  uint32_t StringSize;
  uint32_t Flags;   ///< ModuleFlags.
  uint32_t Skipped; ///< Accesses not checked (see -Rpass-missed=cuda-race).
  uint32_t NumCompanions;
  uint32_t Exempt; ///< Accesses not checked because the user asked for it.
  uint32_t NumVariables;
  uint32_t NumSharedUses;
  uint32_t NumOmitted;
  uint32_t NumChecked; ///< How many abi::Site there are.
  /// The first so many kernels may wait for what is done by others than their
  /// threads and those that came before them.
  uint32_t NumWaiting;
  uint32_t Reserved;
};
static_assert(sizeof(ModuleHeader) == 80 &&
              offsetof(ModuleHeader, Magic) == 0 &&
              offsetof(ModuleHeader, Version) == 4 &&
              offsetof(ModuleHeader, Unit) == 8 &&
              offsetof(ModuleHeader, NumSites) == 16 &&
              offsetof(ModuleHeader, NumWindows) == 20 &&
              offsetof(ModuleHeader, NumFrames) == 24 &&
              offsetof(ModuleHeader, NumFunctions) == 28 &&
              offsetof(ModuleHeader, NumKernels) == 32 &&
              offsetof(ModuleHeader, StringSize) == 36 &&
              offsetof(ModuleHeader, Flags) == 40 &&
              offsetof(ModuleHeader, Skipped) == 44 &&
              offsetof(ModuleHeader, NumCompanions) == 48 &&
              offsetof(ModuleHeader, Exempt) == 52 &&
              offsetof(ModuleHeader, NumVariables) == 56 &&
              offsetof(ModuleHeader, NumSharedUses) == 60 &&
              offsetof(ModuleHeader, NumOmitted) == 64 &&
              offsetof(ModuleHeader, NumChecked) == 68 &&
              offsetof(ModuleHeader, NumWaiting) == 72 &&
              offsetof(ModuleHeader, Reserved) == 76);

enum ModuleFlags : uint32_t {
  /// The code may depend on the order of blocks: it may wait for other blocks,
  /// or it reads the block index in a way that the pass cannot rewrite. The
  /// library leaves ShuffleBlocks clear for the whole image.
  NoShuffle = 1,
  HasCollider = 2, ///< Compiled with mode=collider or hybrid.
  HasMetadata = 4, ///< Compiled with mode=metadata or hybrid.
  /// A function may call itself, or calls a function by a pointer. The linker
  /// then does not know how much stack a kernel takes, and checks take more.
  UnknownStack = 8,
  /// A function that other units may call may wait, as NumWaiting has it.
  MayWait = 16,
  /// Host code: the sites are abi::HostSite.
  IsHostCode = 32,
};

/// A checked access.
struct SiteEntry {
  uint64_t Id;
  uint32_t Frame;  ///< The index of the access's own Frame.
  uint32_t Kernel; ///< String: the kernel (mangled), if only one can reach it.
  AccessKind Access;
  Space MemorySpace;
  uint8_t Flags; ///< AccessFlags.
  uint8_t Scope; ///< abi::Scope of a strong access.
  uint32_t Size;
  uint32_t FirstCompanion, NumCompanions;
  /// The index, plus 1, of the only variable that the access can be to; 0:
  /// several can be, or the pass does not know.
  uint32_t Variable;
  uint32_t Reserved;
};
static_assert(sizeof(SiteEntry) == 40 && offsetof(SiteEntry, Id) == 0 &&
              offsetof(SiteEntry, Frame) == 8 &&
              offsetof(SiteEntry, Kernel) == 12 &&
              offsetof(SiteEntry, Access) == 16 &&
              offsetof(SiteEntry, MemorySpace) == 17 &&
              offsetof(SiteEntry, Flags) == 18 &&
              offsetof(SiteEntry, Scope) == 19 &&
              offsetof(SiteEntry, Size) == 20 &&
              offsetof(SiteEntry, FirstCompanion) == 24 &&
              offsetof(SiteEntry, NumCompanions) == 28 &&
              offsetof(SiteEntry, Variable) == 32 &&
              offsetof(SiteEntry, Reserved) == 36);

/// Another access to the same bytes that a thread surely makes if it makes the
/// site's access, without synchronisation between the two. Whatever races with
/// the site's access, and conflicts with the companion, races with the
/// companion.
struct Companion {
  uint32_t Frame;
  AccessKind Access;
  uint8_t Reserved[3];
};
static_assert(sizeof(Companion) == 8 && offsetof(Companion, Frame) == 0 &&
              offsetof(Companion, Access) == 4 &&
              offsetof(Companion, Reserved) == 5);

/// A variable of the program in global or shared memory.
struct Variable {
  uint32_t Name;    ///< String: as the linker knows it.
  uint32_t Element; ///< Bytes of an element; of a scalar, of the variable.
  uint64_t Size;    ///< Bytes; 0: the launch decides (dynamic shared memory).
  /// Elements of an array by dimension, the outermost first; 0: there are no
  /// more dimensions; AnyExtent: as many as fit.
  uint32_t Extent[3];
  Space MemorySpace;
  uint8_t Reserved[3];
};
static_assert(sizeof(Variable) == 32 && offsetof(Variable, Name) == 0 &&
              offsetof(Variable, Element) == 4 &&
              offsetof(Variable, Size) == 8 &&
              offsetof(Variable, Extent) == 16 &&
              offsetof(Variable, MemorySpace) == 28 &&
              offsetof(Variable, Reserved) == 29);
inline constexpr uint32_t AnyExtent = ~0u;

/// A kernel's use of a variable in shared memory. Each kernel may have the
/// variable at another address (SharedUsesPrefix).
struct SharedUse {
  uint32_t Kernel;   ///< String: the kernel (mangled).
  uint32_t Variable; ///< Index.
};
static_assert(sizeof(SharedUse) == 8 && offsetof(SharedUse, Kernel) == 0 &&
              offsetof(SharedUse, Variable) == 4);

/// Why an access is not checked.
enum class Omission : uint8_t {
#define CRSAN_OMISSION(Name, Remark, What, Why) Name,
#include "crsan/abi/Omissions.def"
};

/// An access of the source that is not checked.
struct OmittedAccess {
  uint32_t Frame;  ///< Index, or NoFrame.
  uint32_t Kernel; ///< String: the kernel (mangled), if only one can reach it.
  Omission Why;
  uint8_t Reserved[3];
};
static_assert(sizeof(OmittedAccess) == 12 &&
              offsetof(OmittedAccess, Frame) == 0 &&
              offsetof(OmittedAccess, Kernel) == 4 &&
              offsetof(OmittedAccess, Why) == 8 &&
              offsetof(OmittedAccess, Reserved) == 9);

/// One step of a chain of inlined calls, the innermost first.
struct Frame {
  uint32_t Function; ///< String: the linkage name where there is one.
  uint32_t File;     ///< String: the path as the compiler was given it.
  uint32_t Line;     ///< 0: not known (no debug information).
  uint32_t Column;
  uint32_t InlinedAt; ///< Index of the call's Frame, or NoFrame.
};
static_assert(sizeof(Frame) == 20 && offsetof(Frame, Function) == 0 &&
              offsetof(Frame, File) == 4 && offsetof(Frame, Line) == 8 &&
              offsetof(Frame, Column) == 12 &&
              offsetof(Frame, InlinedAt) == 16);
inline constexpr uint32_t NoFrame = ~0u;

} // namespace crsan::abi

#endif // CRSAN_ABI_SITETABLE_H
