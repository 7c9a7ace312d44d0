// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of host code.
//
// A check stands immediately before a weak access. It reads the location, lets
// the GPUs work for a while, and reads it again: a change is a race of the
// access (docs/soundness.md). Meanwhile a watchpoint tells kernels what the
// thread is about to access. Checks take no lock, and may be made in a signal
// handler.
#ifndef CRSAN_INJECT_HOST_HOSTCHECKS_H
#define CRSAN_INJECT_HOST_HOSTCHECKS_H

#include "Report/ReportFile.h"
#include "crsan/abi/Host.h"
#include "host/HostNotes.h"
#include "host/HostRanges.h"
#include "host/HostWatch.h"
#include "host/HostWrites.h"
#include "order/PendingWork.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace crsan {

/// An access that is about to be made.
struct HostAccess {
  const abi::HostSite &Site;
  uint64_t Address = 0, Size = 0;
};

/// How GPUs get on while a thread of the host checks.
class HostPace {
public:
  virtual ~HostPace();
  /// A check begins. Returns how long the thread may wait, in units of wait();
  /// nothing: it must not check now. `Checked`: how often the site has been
  /// checked. IsChosen: this execution will be.
  virtual std::optional<uint64_t> begin(uint64_t Checked, bool IsChosen) = 0;
  /// Lets the GPUs work for so long.
  virtual void wait(uint64_t Amount) = 0;
  /// The access comes next. Not called if begin() returned nothing.
  virtual void end(const HostAccess &A) = 0;
  /// Whether the thread holds a lock from begin() to end().
  virtual bool holdsLock() const { return false; }
};

/// On hardware: sleeps, in nanoseconds. All sleeps together are limited, and
/// each is shorter the more often the site has been checked.
class HostSleep final : public HostPace {
public:
  explicit HostSleep(uint64_t LongestNs) : LongestNs(LongestNs) {}
  std::optional<uint64_t> begin(uint64_t Checked, bool IsChosen) override;
  void wait(uint64_t Nanoseconds) override;
  void end(const HostAccess &) override {}

private:
  const uint64_t LongestNs;
  const std::chrono::steady_clock::time_point Start =
      std::chrono::steady_clock::now();
  std::atomic<uint64_t> SleptNs{0};
};

/// Functions without a note take a lock.
class HostChecks {
public:
  HostChecks();

  /// An executable or a shared library with host code is loaded, or is about to
  /// be unloaded.
  void loaded(abi::HostGate &Gate, std::span<const abi::HostUnit> Units);
  void unloading(abi::HostGate &Gate);
  /// Needs no lock.
  bool hasCode() const { return HasCode; }
  /// Whether any of it may be checked: the program has, or has had, memory that
  /// host and GPU share. Work that the GPUs were given before is taken not to
  /// access that memory, so its races with host code are missed. Needs no lock.
  bool mayCheck() const { return HasCode && HasShared; }

  /// Checks may be made from now on. Pace: null: none are. IsSampled: not all
  /// executions of a site are checked. LooksAtValues: false: accesses are told
  /// to the pace only.
  void begin(HostPace *Pace, bool IsSampled, bool LooksAtValues);

  /// Memory that host and GPU share; ...
  void allocated(uint64_t Base, uint64_t Size);
  /// ... which is about to be freed. Returns whether it was known.
  bool freeing(uint64_t Base);
  PendingWork &pending() { return Work; }
  /// What host threads that wait in a check are about to access.
  HostWatch &watch() { return Watch; }
  /// What they have accessed while work was pending, for metadata mode.
  HostNotes &notes() { return Notes; }

  /// Adds all findings, with their sites. `Describe`: what is known of a kernel
  /// (mangled), in words.
  void collect(ReportFile &File,
               const std::function<std::string(const std::string &)> &Describe);
  /// Nothing if no host code is instrumented.
  std::optional<HostSummary> summarise();
  /// Where host code has written there while work was pending, in words; empty:
  /// it has not, as far as is known.
  std::string whereWritten(uint64_t Address, uint64_t Size);
  /// The site with that SiteEntry::Id.
  std::optional<SiteInfo> find(uint64_t Id);
  /// The site of that number (abi::HostSite::Number).
  std::optional<SiteInfo> siteOf(uint32_t Number);
  /// Races recorded so far, and races of which there was no room for a record.
  /// Need no lock.
  size_t countRecorded() const;
  uint64_t countDropped() const;

  /// Of abi::HostGate. Takes no lock.
  void check(abi::HostSite &Site, uint64_t Address, uint64_t Length);

private:
  struct Found {
    std::atomic<bool> IsComplete{false};
    abi::Record Rec{};
    uint32_t Site = 0; ///< abi::HostSite::Number.
    PendingWork::Kernels Kernels{};
    uint64_t Hits = 0; ///< Of code that was unloaded.
  };
  struct Loaded {
    abi::HostGate *Gate;
    std::vector<abi::HostUnit> Units;
  };
  using TimedLock = std::unique_lock<std::timed_mutex>;
  TimedLock lock() const;

  void setGates();
  void closeForChild();
  uint64_t hitsOf(const Found &F) const;
  void look(HostPace &By, abi::HostSite &Site, const HostAccess &A,
            uint64_t Patience);
  void record(abi::HostSite &Site, const HostAccess &A, uint64_t Before,
              uint64_t After);

  mutable std::timed_mutex Lock;
  std::vector<Loaded> Code;
  std::vector<uint64_t> Ids; ///< Of sites, by number - 1.
  SiteTable Sites;
  HostSummary Past; ///< What the tables say, and counts of unloaded code.
  std::atomic<bool> HasCode{false}, HasShared{false}, IsPending{false};

  HostRanges Ranges;
  HostWrites Writes;
  HostWatch Watch;
  HostNotes Notes;
  PendingWork Work;
  std::atomic<HostPace *> Pace{nullptr};
  bool IsSampled = true, LooksAtValues = true;
  std::atomic<uint64_t> Refused{0}; ///< By HostPace::begin().
  std::array<Found, 512> Records;
  std::atomic<uint32_t> NextRecord{0};
};

/// The process's. Never destroyed.
HostChecks &hostChecks();

} // namespace crsan

#endif // CRSAN_INJECT_HOST_HOSTCHECKS_H
