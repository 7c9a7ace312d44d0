// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses of host code, as the device judges them.
//
// Host code notes what it is about to access while work is pending. A kernel of
// the library's own asks later whether the cells of that memory name a kernel
// that the host had given to a GPU, and had not waited for.
#ifndef CRSAN_ABI_HOSTNOTE_H
#define CRSAN_ABI_HOSTNOTE_H

#include "crsan/abi/Launch.h"

namespace crsan::abi {

inline constexpr char HostNotesKernel[] = "__crsan_host_notes";
/// Threads of its blocks.
inline constexpr uint32_t HostNotesBlock = 128;

/// An access that the host was about to make.
struct HostNote {
  uint64_t Address;
  uint64_t Id;    ///< SiteEntry::Id of its site.
  uint32_t Bytes; ///< Of a longer access, the first MostNotedBytes.
  /// Runs (StreamRun) of smaller numbers had been given to the GPU.
  uint32_t Limit;
  uint32_t Number; ///< HostSite::Number.
  uint32_t Writes; ///< 1: the access may write, 0: it reads only.
};
static_assert(sizeof(HostNote) == 32 && offsetof(HostNote, Address) == 0 &&
              offsetof(HostNote, Id) == 8 && offsetof(HostNote, Bytes) == 16 &&
              offsetof(HostNote, Limit) == 20 &&
              offsetof(HostNote, Number) == 24 &&
              offsetof(HostNote, Writes) == 28);
inline constexpr uint32_t MostNotedBytes = 4096;

/// The sites of host code that a context has room for, by HostSite::Number - 1.
/// Accesses of further sites are not noted.
inline constexpr uint32_t MaxHostSites = 1024;

/// How many notes there may be at a time.
inline constexpr uint32_t NumHostNotes = 64;

/// The parameter of the kernel.
struct HostNotes {
  uint64_t Sites; ///< Device address: AccessSite[MaxHostSites].
  uint32_t Count;
  uint32_t Reserved;
  /// By stream: the sequence of the last run that the host may know to be done.
  uint32_t Known[NumStreams];
  HostNote Notes[NumHostNotes];
};
static_assert(sizeof(HostNotes) == 2192 && offsetof(HostNotes, Sites) == 0 &&
              offsetof(HostNotes, Count) == 8 &&
              offsetof(HostNotes, Reserved) == 12 &&
              offsetof(HostNotes, Known) == 16 &&
              offsetof(HostNotes, Notes) == 144);

} // namespace crsan::abi

#endif // CRSAN_ABI_HOSTNOTE_H
