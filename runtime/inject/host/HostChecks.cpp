// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of host code.

#include "host/HostChecks.h"

#include "Report/Demangle.h"
#include "common/Log.h"
#include "common/Signals.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>

#include <pthread.h>
#include <time.h>

namespace crsan {

using namespace std::chrono_literals;

HostPace::~HostPace() = default;

HostChecks &hostChecks() {
  static auto *TheChecks = new HostChecks;
  return *TheChecks;
}

/// What gates call.
static void checkOfGate(abi::HostSite *Site, uint64_t Address,
                        uint64_t Length) {
  const int Error = errno;
  hostChecks().check(*Site, Address, Length);
  errno = Error;
}

/// The counters of a site, which other threads change.
static uint64_t read(const uint64_t &Counter) {
  return __atomic_load_n(&Counter, __ATOMIC_RELAXED);
}
static uint64_t count(uint64_t &Counter) {
  return __atomic_add_fetch(&Counter, 1, __ATOMIC_RELAXED);
}

//===----------------------------------------------------------------------===//
// Code, memory, work
//===----------------------------------------------------------------------===//

HostChecks::HostChecks()
    : Work([this](bool IsAny) {
        IsPending = IsAny;
        setGates();
      }) {
  // A child has neither CUDA nor findings.
  pthread_atfork(nullptr, nullptr, [] { hostChecks().closeForChild(); });
}

/// The thread that holds the lock may be dying.
HostChecks::TimedLock HostChecks::lock() const { return {Lock, 1s}; }

/// Opens or closes all gates.
void HostChecks::setGates() {
  const TimedLock Guard = lock();
  const auto [Begin, End] = Ranges.bounds();
  const bool IsOpen = Pace && IsPending && Begin != End;
  for (const Loaded &L : Code) {
    // Whatever a thread reads in between: check() asks for the exact ranges.
    __atomic_store_n(&L.Gate->Size, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&L.Gate->Check, checkOfGate, __ATOMIC_RELAXED);
    __atomic_store_n(&L.Gate->Begin, IsOpen ? Begin : 0, __ATOMIC_RELAXED);
    __atomic_store_n(&L.Gate->Size, IsOpen ? End - Begin : 0, __ATOMIC_RELEASE);
  }
}

/// No other thread is left, but what one had locked.
void HostChecks::closeForChild() {
  Pace = nullptr;
  Watch.closeForChild();
  for (const Loaded &L : Code)
    L.Gate->Size = 0;
}

void HostChecks::loaded(abi::HostGate &Gate,
                        std::span<const abi::HostUnit> Units) {
  {
    const TimedLock Guard = lock();
    Loaded New{&Gate, {}};
    for (const abi::HostUnit &Unit : Units) {
      auto Info =
          Sites.add({static_cast<const uint8_t *>(Unit.Table), Unit.TableSize});
      if (const auto *Error = std::get_if<TableError>(&Info)) {
        theLog().say("host code is not checked: {}", Error->Message);
        continue;
      }
      const ModuleInfo &Module = std::get<ModuleInfo>(Info);
      Past.Skipped += Module.Skipped;
      Past.Exempt += Module.Exempt;
      Past.Sites += Unit.NumSites;
      for (uint64_t I = 0; I < Unit.NumSites; ++I) {
        Ids.push_back(Unit.Sites[I].Id);
        Unit.Sites[I].Number = uint32_t(Ids.size());
      }
      New.Units.push_back(Unit);
    }
    // Without a site, the gate stays closed.
    if (!New.Units.empty())
      Code.push_back(std::move(New));
    HasCode = !Code.empty();
  }
  setGates();
}

void HostChecks::unloading(abi::HostGate &Gate) {
  const TimedLock Guard = lock();
  for (const Loaded &L : Code) {
    if (L.Gate != &Gate)
      continue;
    for (const abi::HostUnit &Unit : L.Units)
      for (uint64_t I = 0; I < Unit.NumSites; ++I) {
        Past.Executed += read(Unit.Sites[I].Executed);
        Past.Checked += read(Unit.Sites[I].Checked);
      }
    for (Found &F : Records)
      if (F.IsComplete)
        F.Hits = std::max(F.Hits, hitsOf(F));
  }
  std::erase_if(Code, [&](const Loaded &L) { return L.Gate == &Gate; });
}

void HostChecks::begin(HostPace *By, bool Samples, bool Looks) {
  IsSampled = Samples;
  LooksAtValues = Looks;
  Pace = By;
  setGates();
}

void HostChecks::allocated(uint64_t Base, uint64_t Size) {
  Ranges.add(Base, Size);
  HasShared = true;
  setGates();
}

bool HostChecks::freeing(uint64_t Base) {
  const bool WasKnown = Ranges.remove(Base);
  if (WasKnown)
    setGates();
  return WasKnown;
}

//===----------------------------------------------------------------------===//
// A check
//===----------------------------------------------------------------------===//

/// Whether the `N`-th execution of a site is chosen: the first eight are, and
/// of the others four each time that their number doubles.
static bool isChosen(uint64_t N) {
  constexpr int Digits = 3;
  const int Rest = int(std::bit_width(N)) - Digits;
  return Rest <= 0 || N >> Rest << Rest == N;
}

/// The bytes of an access: up to eight as they are, more as a hash.
static uint64_t valueAt(uint64_t Address, uint64_t Size) {
  const auto *Bytes = reinterpret_cast<const volatile uint8_t *>(Address);
  uint64_t Value = 0;
  if (Size <= sizeof(Value)) {
    for (uint64_t I = 0; I < Size; ++I)
      Value |= uint64_t(Bytes[I]) << 8 * I;
    return Value;
  }
  constexpr uint64_t Most = 4096;
  for (uint64_t I = 0; I < std::min(Size, Most); ++I)
    Value = (Value ^ Bytes[I]) * 0x100000001b3u;
  return Value;
}

namespace {
/// While a thread checks, no handler of a signal runs, which might never return
/// (siglongjmp), and the thread is not cancelled.
class Undisturbed {
public:
  Undisturbed() {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &Cancelling);
    Signals.emplace(/*ButCrashes=*/true);
  }
  ~Undisturbed() {
    Signals.reset();
    pthread_setcancelstate(Cancelling, nullptr);
  }
  Undisturbed(const Undisturbed &) = delete;
  Undisturbed &operator=(const Undisturbed &) = delete;

private:
  int Cancelling = PTHREAD_CANCEL_ENABLE;
  std::optional<BlockedSignals> Signals;
};
} // namespace

void HostChecks::check(abi::HostSite &Site, uint64_t Address, uint64_t Length) {
  const uint64_t End = Ranges.endOf(Address);
  HostPace *By = Pace.load(std::memory_order_acquire);
  if (!End || !By || !IsPending || Length == 0)
    return;
  const HostAccess A{Site, Address, std::min(Length, End - Address)};
  const uint64_t Execution = count(Site.Executed);
  const uint32_t Epoch = Work.epoch();
  const bool IsFirst =
      __atomic_exchange_n(&Site.Epoch, Epoch, __ATOMIC_RELAXED) != Epoch;
  if (IsFirst)
    __atomic_store_n(&Site.SinceEpoch, 0, __ATOMIC_RELAXED);
  if (Notes.isOn()) {
    const uint32_t Since =
        __atomic_add_fetch(&Site.SinceEpoch, 1, __ATOMIC_RELAXED);
    if (!IsSampled || isChosen(Since))
      Notes.add(Site, A.Address, A.Size);
  }
  const bool IsLooked =
      LooksAtValues && (IsFirst || !IsSampled || isChosen(Execution));
  std::optional<Undisturbed> Guard;
  if (IsLooked || By->holdsLock())
    Guard.emplace();
  const std::optional<uint64_t> Patience =
      By->begin(read(Site.Checked), IsLooked);
  if (!Patience) {
    ++Refused;
    return;
  }
  if (IsLooked)
    look(*By, Site, A, *Patience);
  if (LooksAtValues && Site.Access != abi::AccessKind::Load)
    Writes.note(A.Address, A.Size, Site.Number);
  By->end(A);
}

void HostChecks::look(HostPace &By, abi::HostSite &Site, const HostAccess &A,
                      uint64_t Patience) {
  const uint64_t Before = valueAt(A.Address, A.Size);
  // A short kernel is soon over, and a long one needs time. Each look may move
  // the memory from the GPU to the host.
  for (const uint64_t Share : {64, 8, 1}) {
    {
      // Reading the memory may raise a signal; waiting does not.
      const HostWatch::Set Mine(Watch, Site.Id, A.Address, A.Size,
                                Site.Access != abi::AccessKind::Load);
      By.wait(Patience / Share - (Share < 64 ? Patience / (8 * Share) : 0));
    }
    const uint64_t After = valueAt(A.Address, A.Size);
    if (After != Before) {
      record(Site, A, Before, After);
      break;
    }
    if (!IsPending)
      break;
  }
  count(Site.Checked);
}

void HostChecks::record(abi::HostSite &Site, const HostAccess &A,
                        uint64_t Before, uint64_t After) {
  count(Site.Hits);
  uint32_t None = 0;
  constexpr uint32_t Claimed = ~0u;
  if (!__atomic_compare_exchange_n(&Site.Slot, &None, Claimed, /*weak=*/false,
                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    return;
  const uint32_t Index = NextRecord.fetch_add(1, Relaxed);
  if (Index >= Records.size())
    return;
  Found &F = Records[Index];
  F.Rec.Site = Site.Id;
  F.Rec.Address = A.Address;
  F.Rec.Before = Before;
  F.Rec.After = After;
  F.Rec.Kind = Site.Access == abi::AccessKind::Load
                   ? abi::RaceKind::ClobberedRead
                   : abi::RaceKind::LostUpdate;
  F.Rec.MemorySpace = abi::Space::Global;
  F.Rec.Size = uint8_t(std::min<uint64_t>(A.Size, 255));
  F.Rec.Flags = A.Size > sizeof(Before) ? abi::ValuesAreHashes : 0;
  F.Site = Site.Number;
  F.Kernels = Work.kernels();
  F.IsComplete.store(true, std::memory_order_release);
  __atomic_store_n(&Site.Slot, Index + 1, __ATOMIC_RELAXED);
}

//===----------------------------------------------------------------------===//
// What was found
//===----------------------------------------------------------------------===//

size_t HostChecks::countRecorded() const {
  return size_t(
      std::count_if(Records.begin(), Records.end(),
                    [](const Found &F) -> bool { return F.IsComplete; }));
}

uint64_t HostChecks::countDropped() const {
  const uint64_t Claimed = NextRecord;
  return Claimed - std::min<uint64_t>(Claimed, Records.size());
}

/// How often the race of a record was found, in code that is loaded.
uint64_t HostChecks::hitsOf(const Found &F) const {
  for (const Loaded &L : Code)
    for (const abi::HostUnit &Unit : L.Units)
      if (Unit.NumSites && Unit.Sites[0].Number <= F.Site &&
          F.Site - Unit.Sites[0].Number < Unit.NumSites)
        return read(Unit.Sites[F.Site - Unit.Sites[0].Number].Hits);
  return 0;
}

/// What the host had not waited for, for a reader.
static std::string
explain(const PendingWork::Kernels &Kernels, bool IsRead,
        const std::function<std::string(const std::string &)> &Describe) {
  std::string Names;
  for (const std::string *Kernel : Kernels) {
    if (!Kernel)
      break;
    const std::string At = Describe(*Kernel);
    Names += fmt::format("{}{}{}{}", Names.empty() ? "" : "; ",
                         demangle(*Kernel), At.empty() ? "" : ", ", At);
  }
  return fmt::format(
      "The host was about to {} this location when something else changed it, "
      "and nothing orders the two: a kernel or a copy that the host has not "
      "waited for, or another thread of the host. {}Wait for what writes it "
      "(cudaDeviceSynchronize, or its stream or an event behind it) before the "
      "host accesses it.",
      IsRead ? "read" : "write",
      Names.empty() ? "" : fmt::format("Not waited for: {}. ", Names));
}

void HostChecks::collect(
    ReportFile &File,
    const std::function<std::string(const std::string &)> &Describe) {
  const TimedLock Guard = lock();
  for (const Found &F : Records) {
    if (!F.IsComplete.load(std::memory_order_acquire))
      continue;
    Occurrence &New = File.Occurrences.emplace_back();
    New.Rec = F.Rec;
    New.Count = std::max({F.Hits, hitsOf(F), uint64_t(1)});
    New.AtLeast = IsSampled;
    New.Explanation = explain(
        F.Kernels, F.Rec.Kind == abi::RaceKind::ClobberedRead, Describe);
    if (const SiteInfo *Site = Sites.find(F.Rec.Site))
      File.Sites.add(*Site);
  }
}

std::optional<HostSummary> HostChecks::summarise() {
  const TimedLock Guard = lock();
  if (Past.Sites == 0)
    return std::nullopt;
  HostSummary Sum = Past;
  for (const Loaded &L : Code)
    for (const abi::HostUnit &Unit : L.Units)
      for (uint64_t I = 0; I < Unit.NumSites; ++I) {
        Sum.Executed += read(Unit.Sites[I].Executed);
        Sum.Checked += read(Unit.Sites[I].Checked);
      }
  Sum.Refused = Refused;
  Sum.Noted = Notes.wanted();
  return Sum;
}

std::optional<SiteInfo> HostChecks::siteOf(uint32_t Number) {
  const TimedLock Guard = lock();
  const SiteInfo *Site =
      Number && Number <= Ids.size() ? Sites.find(Ids[Number - 1]) : nullptr;
  return Site ? std::optional(*Site) : std::nullopt;
}

std::optional<SiteInfo> HostChecks::find(uint64_t Id) {
  const TimedLock Guard = lock();
  const SiteInfo *Site = Sites.find(Id);
  return Site ? std::optional(*Site) : std::nullopt;
}

std::string HostChecks::whereWritten(uint64_t Address, uint64_t Size) {
  const std::optional<SiteInfo> Site = siteOf(Writes.writerOf(Address, Size));
  if (!Site || Site->Frames.empty())
    return {};
  const SourceFrame &F = frameToName(Site->Frames);
  return fmt::format("{}:{} in {}", F.File, F.Line, F.Function);
}

//===----------------------------------------------------------------------===//
// On hardware
//===----------------------------------------------------------------------===//

static uint64_t nanosecondsSince(std::chrono::steady_clock::time_point Start) {
  return uint64_t(
      std::chrono::nanoseconds(std::chrono::steady_clock::now() - Start)
          .count());
}

std::optional<uint64_t> HostSleep::begin(uint64_t Checked, bool IsChosen) {
  if (!IsChosen)
    return 0;
  // A second, and then a tenth of the program's time.
  constexpr uint64_t AtLeastNs = 1000000000;
  if (SleptNs.load(Relaxed) > AtLeastNs + nanosecondsSince(Start) / 10)
    return std::nullopt;
  return LongestNs >> std::min<uint64_t>(Checked / 2, 10);
}

void HostSleep::wait(uint64_t Nanoseconds) {
  constexpr uint64_t Second = 1000000000;
  const timespec Time{time_t(Nanoseconds / Second), long(Nanoseconds % Second)};
  const uint64_t Before = nanosecondsSince(Start);
  nanosleep(&Time, nullptr);
  SleptNs.fetch_add(nanosecondsSince(Start) - Before, Relaxed);
}

} // namespace crsan
