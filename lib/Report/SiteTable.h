// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which source place a site id names.
//
// A device record names the accused access by a 64-bit identity; the site table
// that the pass left in each module says what that is in the user's source. Raw
// tables are kept as they came and decoded a site at a time when a record asks,
// because modules have many sites, races are few, and tables are read while the
// program starts.
#ifndef CRSAN_REPORT_SITETABLE_H
#define CRSAN_REPORT_SITETABLE_H

#include "Report/Variable.h"
#include "crsan/abi/Record.h"
#include "crsan/abi/SiteTable.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

namespace crsan {

/// One step of a chain of inlined calls.
struct SourceFrame {
  std::string Function; ///< Demangled; empty: not known.
  std::string File;     ///< As the compiler was given it; empty: not known.
  uint32_t Line = 0;    ///< 0: not known.
  uint32_t Column = 0;  ///< 0: not known.

  bool operator==(const SourceFrame &) const = default;
};

/// The frame to name where there is room for one, of some that are innermost
/// first: the innermost that is not clang's or CUDA's, which no user can
/// change.
const SourceFrame &frameToName(const std::vector<SourceFrame> &Frames);

/// See abi::Companion.
struct CompanionInfo {
  abi::AccessKind Access = abi::AccessKind::Load;
  std::vector<SourceFrame> Frames; ///< As SiteInfo's.

  bool operator==(const CompanionInfo &) const = default;
};

/// A checked access.
struct SiteInfo {
  uint64_t Id = 0;
  abi::AccessKind Access = abi::AccessKind::Load;
  abi::Space Space = abi::Space::Generic;
  uint8_t Flags = 0;                    ///< abi::AccessFlags.
  abi::Scope Scope = abi::Scope::Block; ///< Of a strong access.
  uint32_t Size = 0;                    ///< Bytes; 0: only known at run time.
  std::string Kernel;              ///< Demangled; empty: several may run it.
  std::vector<SourceFrame> Frames; ///< Innermost first; may be empty.
  std::vector<CompanionInfo> Companions;
  /// The only one that it can access, if that is known.
  std::optional<VariableInfo> Variable = {};
  /// Of a strong access; Weak: the table does not say.
  abi::MemoryOrder Order = abi::MemoryOrder::Weak;
  bool IsVolatile = false; ///< Only if Order is known.
  /// The site is no code, but an operation of a stream: "cudaMemcpyAsync".
  std::string Operation = {};
  bool IsHost = false; ///< It is host code.
  /// The site is no access, but the place where a kernel failed. Frames may be
  /// empty.
  bool IsFault = false;

  bool operator==(const SiteInfo &) const = default;

  bool isStrong() const { return Flags & abi::IsStrong; }
  bool isAtomic() const { return Flags & abi::IsAtomic; }
  bool isCopy() const { return Flags & abi::IsCopy; }
  /// Of a read-modify-write: a plain one, or one in one step.
  bool isOfUpdate() const {
    return (Flags & abi::IsOfUpdate) ||
           (isAtomic() && Access == abi::AccessKind::Update);
  }
};

/// A kernel's use of a variable in shared memory.
struct SharedUseInfo {
  std::string Kernel; ///< Demangled.
  VariableInfo Variable;
};

/// See abi::OmittedAccess.
struct OmissionInfo {
  std::string Kernel;              ///< Demangled; empty: several may run it.
  std::vector<SourceFrame> Frames; ///< As SiteInfo's.
  abi::Omission Why{};
};

/// What a table says about its translation unit.
struct ModuleInfo {
  uint64_t Unit = 0;
  uint32_t Version = 0;
  uint32_t NumSites = 0; ///< Accesses; barriers do not count.
  uint32_t NumWindows = 0;
  uint32_t Flags = 0;               ///< abi::ModuleFlags.
  uint32_t Skipped = 0;             ///< Accesses that the pass did not check.
  uint32_t Exempt = 0;              ///< Accesses exempted by the user.
  std::vector<std::string> Kernels; ///< Instrumented kernels, mangled.
  /// Those of them that may wait (abi::ModuleHeader::NumWaiting).
  std::vector<std::string> WaitingKernels;
  /// Every function compiled with CRSan, kernels too, mangled.
  std::vector<std::string> Functions;
  std::vector<VariableInfo> Variables;   ///< That its code names.
  std::vector<SharedUseInfo> SharedUses; ///< As abi::SharedUse.
  std::vector<uint32_t> WindowOfSite;    ///< By index of abi::Site: its window.
  /// How many checks of an execution a window counts: all those that run in
  /// every iteration of a loop count in one.
  std::vector<uint32_t> ChecksOfWindow;
};

/// Why a table was refused: one line with the remedy, without a prefix.
struct TableError {
  std::string Message;
};

/// All sites of all modules loaded so far. Not synchronised, `find` included.
class SiteTable {
public:
  SiteTable() = default;
  SiteTable(SiteTable &&) = default;
  SiteTable &operator=(SiteTable &&) = default;

  /// Parses one table: the bytes of a `__crsan_table_*` object, aligned or not,
  /// which are copied. Everything is checked first; on an error no site is
  /// added. A unit may be added again (another context or device).
  std::variant<ModuleInfo, TableError> add(std::span<const uint8_t> Table);

  /// Adds one site that is already decoded. The first of an id is kept.
  void add(SiteInfo Site);

  /// Adds one site of another program's table: under its id, unless that names
  /// another site here. Returns the id.
  uint64_t addForeign(SiteInfo Site);

  /// The site, or null if no table names it. The pointer stays valid as long as
  /// this object lives.
  const SiteInfo *find(uint64_t Id) const;

  /// Decodes all sites, in no order.
  void forEach(const std::function<void(const SiteInfo &)> &Do) const;

  /// Of a kernel (demangled): its sites that read strongly, by place.
  std::vector<const SiteInfo *> strongReadsOf(const std::string &Kernel) const;

  /// The accesses of all units that are not checked.
  std::vector<OmissionInfo> omissions() const;

  /// Different sites known.
  size_t size() const { return Index.size(); }

private:
  /// Where a site is, until it is decoded.
  struct Location {
    uint32_t Table = 0;
    uint32_t Entry = 0;
    const SiteInfo *Decoded = nullptr;
  };

  std::deque<std::vector<uint8_t>> Tables;
  std::unordered_set<uint64_t> Units; ///< Of Tables.
  mutable std::deque<SiteInfo> Decoded;
  mutable std::unordered_map<uint64_t, Location> Index;
};

} // namespace crsan

#endif // CRSAN_REPORT_SITETABLE_H
