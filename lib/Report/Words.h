// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a report calls things.
//
// Names of kinds, accesses, scopes, places and threads, for every printer: a
// thing has the same name in text, JSON and SARIF.
#ifndef CRSAN_REPORT_WORDS_H
#define CRSAN_REPORT_WORDS_H

#include "Report/Finding.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace crsan {

/// Words for a kind of race.
struct KindWords {
  abi::RaceKind Kind;
  const char *Key;  ///< In report files and SARIF.
  const char *Code; ///< In iGUARD's Table 4; empty: it has none.
  const char *Name;
  const char *Plural;
};
/// Of every kind that a record may have, in the order of the ABI.
std::span<const KindWords> allKindWords();
const KindWords &wordsOf(abi::RaceKind Kind);
/// Whether the two sides are accesses of memory; else they are barriers, or a
/// kernel failed.
bool isDataRace(abi::RaceKind Kind);

const char *nameOf(abi::Space Space);
const char *nameOf(abi::Scope Scope);
const char *nameOf(abi::MemoryOrder Order);

/// "3 apples", "1 apple".
std::string counted(uint64_t N, std::string_view One, std::string_view Many);
std::string counted(uint64_t N, std::string_view One);

/// "block-scope atomic update", "device-scope acquire read"; null: an access of
/// which nothing is known.
std::string accessWords(const SiteInfo *Site);
const char *accessWords(const CompanionInfo &Companion);

/// "kernel.cu:31:9", with what the user must do where that is not known.
/// `Strip` is taken off the start of the file's name.
std::string position(const SourceFrame &Frame, std::string_view Strip);

/// The seeds of some of the runs, as ranges: "0-3, 7".
std::string seedList(std::span<const uint32_t> Indices,
                     std::span<const RunInfo> Runs);

/// What and where, without the source: "lost update of 4 bytes in global
/// memory".
std::string heading(const Finding &F);
/// "lost update of 4 bytes in global memory at a.cu:2:3"; without the place if
/// it is not known. `Strip`: as of position().
std::string headingAndPlace(const Finding &F, std::string_view Strip);

/// "<<<(4,1,1), (128,1,1)>>>": the extents of the accused thread's grid and of
/// its blocks; empty: not known.
std::string launchWords(const Finding &F);

/// The accused access of a finding, which is the later of a two-sided one, or
/// the other access.
enum class Side : uint8_t { Later, Earlier };
/// Who it was, as far as is known: "block (1,0,0) thread (0,0,0)"; where the
/// extent of a grid or a block is not known, by linear index.
std::string threadWords(const Finding &F, Side Which);
/// Its block: "block (1,0,0)".
std::string blockWords(const Finding &F, Side Which);
/// Of a fault: "kernel count(int*), launched at app.cu:52 in main, block
/// (1,0,0) thread (0,0,0)", as far as that is known; empty: nothing is.
std::string faultWords(const Finding &F);
/// One side of a two-sided finding: "write of 4 bytes at a.cu:31:9 by block
/// (1,0,0) thread (0,0,0)".
std::string sideWords(const Finding &F, Side Which, std::string_view Strip);

/// Where the finding was seen first: "block (1,0,0) thread (0,0,0) address
/// 0x400 (global) value 0x11 became 0x07". Sides of a two-sided finding have
/// their threads in their own words.
std::string firstSeenWords(const Finding &F);
/// The values that lanes wrote by one store: "0x01 in this lane, 0x02 in the
/// other lane"; empty: the finding is of another kind.
std::string valueWords(const Finding &F);

} // namespace crsan

#endif // CRSAN_REPORT_WORDS_H
