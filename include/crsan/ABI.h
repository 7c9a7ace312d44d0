//===- ABI.h - What the pass, the device and the host agree on ---*- C++
//-*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Freestanding: included by the pass (which emits these layouts), by the device
// runtime (which fills them in) and by the host library (which reads them).
// Every structure is laid out for 64-bit little-endian hosts and devices, and
// every size and offset is asserted. A change of anything here is a change of
// `Version`: objects of different versions refuse each other at load time.
//
// Three things cross the bus:
//   * Config, host -> device, a `__constant__` in every module;
//   * Record, device -> host, 64 bytes, in pinned host memory that outlives a
//     kernel which hangs or traps;
//   * the site table, which the device never touches: the host reads it from
//   the
//     loaded image. A Record names a site by its identity, never by text.
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_ABI_H
#define CRSAN_ABI_H

#include "MemoryModel.h"

#include <cstddef>
#include <cstdint>

namespace crsan::abi {

/// Objects built by different versions cannot be mixed; see ModuleHeader.
inline constexpr uint32_t Version = 12;

/// The little-endian bytes of "CRSN", the first word of a site table.
inline constexpr uint32_t Magic = 0x4e535243;

/// Names of the objects that the pass defines in each module. `ConfigName` is
/// weak, so that relocatable device code shares one; the others carry the
/// translation unit's identity as a suffix of 16 hexadecimal digits.
inline constexpr char ConfigName[] = "__crsan_config";
inline constexpr char SitesPrefix[] = "__crsan_sites_"; ///< Site[NumSites]
inline constexpr char WindowsPrefix[] =
    "__crsan_windows_";                                 ///< Window[NumWindows]
inline constexpr char TablePrefix[] = "__crsan_table_"; ///< see ModuleHeader
/// uint32_t[NumPlaces]: of each SharedPlace, 1 more than the variable's address
/// in shared memory; 0: the kernel has not run yet.
inline constexpr char PlacesPrefix[] = "__crsan_places_";

/// Relocatable machine code carries its own PTX, as a Zstandard frame, for the
/// simulated GPU: clang's device linker would lose it anywhere else. Defined by
/// crsan-ptxas, with a hash of the text as the suffix.
inline constexpr char PTXPrefix[] = "__crsan_ptx_";
/// Before the name of a kernel, or of a function that one calls: its native
/// twin, which is not instrumented. crsan-ptxas asks it for its registers, and
/// leaves it out of the program (lib/Transforms/NativeTwin.h).
inline constexpr char TwinPrefix[] = "__crsan_twin_";
/// In a module's PTX, before the name of a function in which no lane waits for
/// another (lib/Transforms/Polls.h).
inline constexpr char WaitlessComment[] = "// crsan waitless: ";

/// What a record accuses.
enum class RaceKind : uint8_t {
  None = 0,
  /// A value that a weak load is about to use changed while nobody was allowed
  /// to change it (SuperCollider 3.1).
  ClobberedRead = 1,
  /// A location that a weak store is about to write was written by another
  /// thread meanwhile (SuperCollider 3.2).
  LostUpdate = 2,
  /// Lanes of one warp wrote one location with one store (SuperCollider 3.3).
  IntraWarpLostUpdate = 3,
  /// One lane wrote what another lane of its warp reads or writes by another
  /// instruction, with no synchronisation between the two. `Record::Other`
  /// names the writing site.
  IntraWarpConflict = 4,
  /// Two threads were about to access one location at the same time, at least
  /// one of them to write it. `Record::Other` names the other's site.
  Conflict = 5,

  // Metadata mode: records with `TwoSided`. Kinds of iGUARD's Table 4.
  /// IL: one side holds a lock that does not protect the other (R5).
  ImproperLock = 6,
  /// AS: atomics whose scope leaves the other thread out (R1).
  AtomicScope = 7,
  /// ITS: threads of a warp without a __syncwarp() between them (R2).
  WarpBarrier = 8,
  /// BR: threads of a block (R3).
  IntraBlock = 9,
  /// DR: threads of two blocks (R4).
  InterBlock = 10,
  /// A strong access against a weak one (ScoRD, Table IV c).
  NotStrong = 11,
  /// Threads of two kernels.
  InterKernel = 12,
  /// An operation of a stream, such as a copy, against another or against a
  /// thread. Only the simulated GPU finds these.
  StreamOperation = 13,
};

/// One race, as the device saw it first. 64 bytes.
struct Record {
  uint64_t Site;    ///< Site::Id of the accused access.
  uint64_t Other;   ///< Site::Id of the other side where known, else 0.
  uint64_t Address; ///< Generic address of the first byte of the access.
  uint64_t Before;  ///< Up to 8 bytes that were there first (this lane's value
                    ///< to be written, for intra-warp kinds).
  uint64_t After;   ///< Up to 8 bytes that were there later (the other lane's).
  uint32_t Block[3]; ///< As the hardware counts; see GridPlace and Shuffled.
  uint32_t Thread;   ///< threadIdx: x in bits 0-9, y in 10-19, z in 20-25.
  uint32_t Lanes;    ///< Lanes of the warp involved, as a mask.
  RaceKind Kind;     ///< Written last; None while the record is being filled.
  Space MemorySpace;
  uint8_t Size;  ///< Bytes accessed, 255 for 255 or more.
  uint8_t Flags; ///< RecordFlags.
};
static_assert(sizeof(Record) == 64 && offsetof(Record, Block) == 40 &&
              offsetof(Record, Lanes) == 56 && offsetof(Record, Kind) == 60);

enum RecordFlags : uint8_t {
  /// Before and After are hashes of more than 8 bytes, not values.
  ValuesAreHashes = 1,
  /// All lanes of an intra-warp lost update wrote the same value.
  SameValue = 2,
  /// The program saw permuted block indices (Permutation.h).
  Shuffled = 4,
  /// Both sides are known: Other names the earlier site, Before its thread
  /// (earlierThread) and After the RaceReasons (Metadata.h).
  TwoSided = 8,
};

/// The grid that a record's block belongs to.
struct GridPlace {
  uint32_t Extent[3];
  uint8_t Cluster[3]; ///< Blocks of a cluster, by dimension.
  uint8_t Reserved;
};
static_assert(sizeof(GridPlace) == 16);

/// Pinned, mapped host memory: this header, then `Capacity` each of Record,
/// uint64_t and GridPlace. The number is the occurrences of the race in the
/// record of the same index, a lower bound that the device publishes each time
/// the count doubles.
struct RecordBuffer {
  uint32_t Capacity;
  uint32_t Reserved;
  uint64_t Dropped; ///< Races that found no free record (device's last word).
  uint8_t Pad[48];
};
static_assert(sizeof(RecordBuffer) == 64);

inline constexpr size_t recordBufferSize(uint32_t Capacity) {
  return sizeof(RecordBuffer) +
         size_t(Capacity) * (sizeof(Record) + 8 + sizeof(GridPlace));
}

/// Device memory, one a context, zeroed by the host. Sharded by multiprocessor
/// because one word would be contended by every warp.
inline constexpr uint32_t CounterShards = 128;
struct Counters {
  uint32_t NextRecord; ///< Slots claimed so far; may pass Capacity.
  uint32_t Reserved;
  uint64_t Dropped;
  uint64_t Pad[2];
  struct Shard {
    uint64_t Checks;  ///< Accesses checked, one a thread.
    uint64_t Windows; ///< Windows checked, one a warp.
    uint64_t DelayNs; ///< Delays slept, one a warp.
    uint64_t Pad;
  } Shards[CounterShards];
};
static_assert(sizeof(Counters) == 32 + CounterShards * 32);

/// Device memory, one a context, zeroed by the host: what threads that sleep in
/// a check are about to access, for other threads to find. Each entry watches
/// some of 8 aligned bytes: it is 0 while free, else odd, until it is exchanged
/// for the address of a Site that was about to access the same bytes.
struct Watchpoints {
  static constexpr uint32_t NumGlobal = 1 << 15, NumShared = 1 << 12;
  /// Address / 8 in bits 10-63, bytes in bits 2-9, a write in bit 1.
  uint64_t Global[NumGlobal];
  /// As above, but a version above the offset / 8 in bits 10-24; the offset
  /// means something only in one block, and the version keeps two uses of the
  /// entry apart.
  struct Shared {
    uint64_t Word;
    uint64_t Version;
    uint64_t Grid;
    uint64_t Block; ///< x in bits 0-31, y in 32-47, z in 48-63.
  } Shared[NumShared];
};
static_assert(sizeof(Watchpoints) ==
              8 * Watchpoints::NumGlobal + 32 * Watchpoints::NumShared);

enum ConfigFlags : uint32_t {
  Enabled = 1,        ///< Set by the library; clear, a window costs its test.
  TrapOnRace = 2,     ///< `trap=1`: breakpoint instead of carrying on.
  DistinctOnly = 4,   ///< Intra-warp lost updates of equal values are let pass.
  ShuffleBlocks = 8,  ///< Permute block indices.
  IntraWarp = 16,     ///< Compare the lanes of a warp with each other.
  Watch = 64,         ///< Set watchpoints, and look for those of others.
  Shadowed = 128,     ///< Metadata mode: Config::Metadata is set.
  WeakVolatile = 256, ///< `volatile=weak`: volatile accesses are weak ones.
};

/// `__constant__`, zero until the library writes it: a program without the
/// library finds Enabled clear and runs as if it were not instrumented.
struct Config {
  uint32_t Version;  ///< abi::Version of the library.
  uint32_t Flags;    ///< ConfigFlags.
  uint64_t Records;  ///< Device address of the RecordBuffer.
  uint64_t Counters; ///< Device address of the Counters.
  uint32_t Seed;
  uint32_t DelayNs;     ///< Longest delay of a window.
  uint32_t Budget;      ///< Executions (by warps) of a window that are checked
                        ///< before sampling sets in; 0: never sample.
  uint32_t MaxInterval; ///< At least one window in so many is checked.
  uint64_t Watchpoints; ///< Device address of the Watchpoints.
  uint64_t Metadata;    ///< Device address of the Metadata.
  /// AssembledMark in the image of code that crsan-ptxas has assembled. What
  /// the driver compiles from PTX lacks it, and what crsan-ptxas does to keep
  /// warps together.
  uint64_t Assembled;
};
static_assert(sizeof(Config) == 64);
inline constexpr uint64_t AssembledMark = 0x7478'7074'6173'7263; // "crsatptx"

/// Device memory, one an access, initialised by the pass.
struct Site {
  uint64_t Id;   ///< Identity: a hash of the descriptor.
  uint32_t Size; ///< Bytes accessed; 0: the length is an operand of the check.
  AccessKind Access;
  Space MemorySpace;
  /// For a store: which accesses of its group, by position, other lanes may
  /// make where this one writes.
  uint8_t Meets;
  uint8_t HasValue; ///< The check is told what this store is about to write.
  /// From the address that the check is given: constants stay out of the code,
  /// where they would take a register each.
  int64_t Offset;
  /// Occurrences, and the record that has the first one, plus 1 (0: none yet,
  /// ~0u: dropped): [0] between any threads, [1] within the warp.
  uint64_t Hits[2];
  uint32_t Slot[2];
};
static_assert(sizeof(Site) == 48);

/// Device memory, one a window (or one for all windows that run in every
/// iteration of a loop), zero at first: what has been exercised so far.
struct Window {
  uint32_t
      Interval; ///< About one execution in so many is checked; 0 and 1: all.
  uint32_t Executed; ///< Times checked, by warps.
};
static_assert(sizeof(Window) == 8);

/// Accesses of a window that are checked together, at most.
inline constexpr unsigned MaxGroupSize = 8;

//===----------------------------------------------------------------------===//
// The site table: ModuleHeader, SiteEntry[NumSites], Frame[NumFrames],
// Companion[NumCompanions], Variable[NumVariables], SharedPlace[NumPlaces],
// then NumFunctions uint32_t string offsets, then a string table of
// `StringSize` bytes of NUL-terminated UTF-8; offset 0 is the empty string.
//===----------------------------------------------------------------------===//

struct ModuleHeader {
  uint32_t Magic;
  uint32_t Version;
  uint64_t Unit; ///< The suffix of the names above.
  uint32_t NumSites;
  uint32_t NumWindows;
  uint32_t NumFrames;
  uint32_t NumFunctions; ///< Functions defined here (mangled names), ...
  uint32_t NumKernels;   ///< ... of which the first so many are kernels.
  uint32_t StringSize;
  uint32_t Flags;   ///< ModuleFlags.
  uint32_t Skipped; ///< Accesses not checked (see -Rpass-missed=cuda-race).
  uint32_t NumCompanions;
  uint32_t Exempt; ///< Accesses not checked because the user asked for it.
  uint32_t NumVariables;
  uint32_t NumPlaces;
};
static_assert(sizeof(ModuleHeader) == 64);

enum ModuleFlags : uint32_t {
  /// Some code here depends on the order of blocks (it may wait for other
  /// blocks, or reads the block index in a way that cannot be rewritten):
  /// the host must leave ShuffleBlocks clear for the whole image.
  NoShuffle = 1,
  HasCollider = 2, ///< Compiled with mode=collider or hybrid.
  HasMetadata = 4, ///< Compiled with mode=metadata or hybrid.
  /// A function calls itself, perhaps by way of others, or one by a pointer.
  /// How much stack a kernel takes is not known then, and checks take a share.
  UnknownStack = 8,
};

/// A site's place in the source: Frames[Frame] is the access itself.
struct SiteEntry {
  uint64_t Id;
  uint32_t Frame;
  uint32_t
      Kernel; ///< String: the (mangled) kernel it runs in, if only one can be.
  AccessKind Access;
  Space MemorySpace;
  uint8_t Flags; ///< AccessFlags: strong, atomic.
  uint8_t Scope; ///< abi::Scope of a strong access.
  uint32_t Size;
  uint32_t FirstCompanion, NumCompanions;
  /// The index of the only variable that it can access, plus 1; 0: not known.
  uint32_t Variable;
  uint32_t Reserved;
};
static_assert(sizeof(SiteEntry) == 40);

/// Another access that the same thread surely makes if it makes the site's: of
/// the same bytes, and without synchronisation between the two. So whatever
/// races with the one, and conflicts with the other, races with the other.
struct Companion {
  uint32_t Frame; ///< As SiteEntry's.
  AccessKind Access;
  uint8_t Reserved[3];
};
static_assert(sizeof(Companion) == 8);

/// A variable of the program in global or shared memory.
struct Variable {
  uint32_t Name;    ///< String: as the linker knows it.
  uint32_t Element; ///< Bytes of what it consists of; of a scalar, all.
  uint64_t Size;    ///< Bytes; 0: as many as the launch says.
  /// Of an array, elements by dimension, the outermost first; 0: no more
  /// dimensions. AnyExtent: as many as fit.
  uint32_t Extent[3];
  Space MemorySpace;
  uint8_t Reserved[3];
};
static_assert(sizeof(Variable) == 32);
inline constexpr uint32_t AnyExtent = ~0u;

/// A variable in shared memory, which is at another address in each kernel.
struct SharedPlace {
  uint32_t Kernel;   ///< String: the (mangled) kernel.
  uint32_t Variable; ///< Index.
};
static_assert(sizeof(SharedPlace) == 8);

/// One step of a chain of inlined calls, innermost first.
struct Frame {
  uint32_t Function; ///< String: linkage name where there is one.
  uint32_t File;     ///< String: path as the compiler was given it.
  uint32_t Line;     ///< 0: unknown (no debug information).
  uint32_t Column;
  uint32_t InlinedAt; ///< Frame of the call, or NoFrame.
};
static_assert(sizeof(Frame) == 20);
inline constexpr uint32_t NoFrame = ~0u;

} // namespace crsan::abi

#endif // CRSAN_ABI_H
