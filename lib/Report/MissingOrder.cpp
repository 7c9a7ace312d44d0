// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What would have ordered two accesses.
#include "MissingOrder.h"
#include "Report/Words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

using namespace crsan;
using namespace crsan::abi; // Reasons and kinds fill the table below.

static constexpr uint32_t set(RaceKind Kind) { return 1u << unsigned(Kind); }

namespace {
/// Sentences for records of one of `Kinds` that have all reasons of `With` and
/// none of `Without`.
struct Row {
  uint32_t Kinds;
  uint64_t With;
  uint64_t Without;
  const char *Sentences;
};
} // namespace

static constexpr uint32_t Any = ~0u;

/// The first row that applies is the answer: what there was of synchronisation,
/// and what would order the two. {earlier} and {later} are the two places,
/// {both} the two together ("line 31 and line 40"), {distance} where the
/// threads are ("in different blocks"), {scope} which atomic has which scope,
/// {remedy} what orders threads at this distance, {earlier_block} and
/// {later_block} the two blocks, {told} the strong access that told the later
/// thread.
///
/// No sentence claims more than the record: the device declares a race only
/// where no path of synchronisation can exist, and the reasons say what there
/// was of one. `EarlierFencedDevice` stands for a fence that is wide enough.
static constexpr Row Rows[] = {
    {set(RaceKind::BarrierDivergence), OtherIteration, 0,
     "Some threads of the block wait at {later} in one iteration of a loop "
     "while "
     "others wait there in another iteration. The GPU takes the two for one "
     "barrier, so each side goes on without the other; by CUDA C++, all "
     "threads "
     "of a block that have not ended must come to the __syncthreads() in the "
     "same iterations. Move the barrier out of the condition, or give the "
     "groups "
     "named barriers of their own."},
    {set(RaceKind::BarrierDivergence), 0, 0,
     "Some threads of the block wait at {later} while others wait at "
     "{earlier}. The GPU takes the two for one barrier, so each side goes on "
     "without the other; by CUDA C++, all threads of a block that have not "
     "ended must come to the same __syncthreads(). Move the barrier out of the "
     "condition, or give the two groups named barriers of their own."},

    {set(RaceKind::AtomicScope), 0, 0,
     "{scope}, and the threads are {distance}: device scope includes both."},

    {set(RaceKind::ProxyFence), 0, 0,
     "A `fence.proxy.async` is missing between the write at {earlier} and the "
     "copy at {later}. The write comes first, but bulk copies read memory "
     "through another proxy than loads and stores do, and may read what was "
     "there before. Let each thread that writes execute the fence behind its "
     "write and before the barrier, or the thread that copies behind the "
     "barrier."},

    {set(RaceKind::HostAccess), 0, 0,
     "Nothing orders the two: wait for what the GPU does "
     "(cudaDeviceSynchronize, or its stream or an event behind it) before the "
     "host accesses the memory, or start it behind the host's access."},
    {set(RaceKind::StreamOperation), 0, 0,
     "No stream, event or synchronisation by the host orders the two: let the "
     "stream of {later} wait for an event that is recorded behind {earlier}, "
     "or the host for the stream of {earlier}."},

    {Any, OtherGrid | UnorderedLaunch, 0,
     "No stream, event or synchronisation orders the two kernels: let the "
     "later one's stream wait for an event that is recorded behind the earlier "
     "one, or the host for the earlier one's stream."},
    {Any, OtherGrid, 0,
     "The two kernels run at the same time: no stream or event orders them."},

    {Any, EarlierInFlight | EarlierAtMbarrier, 0,
     "The asynchronous copy at {earlier} may be under way at {later}: the "
     "later thread comes after no wait for the copy's phase of its mbarrier."},
    {Any, EarlierInFlight | EarlierBulkGroup, 0,
     "The asynchronous copy at {earlier} was not waited for "
     "(cp.async.bulk.wait_group, by the thread that issued it) before "
     "{later}."},
    {Any, EarlierInFlight | EarlierByWarpGroup, 0,
     "The matrix product at {earlier} may still read its operands at {later}: "
     "the later thread comes after no wait for the product "
     "(wgmma.wait_group)."},
    {Any, EarlierInFlight, 0,
     "The asynchronous copy at {earlier} was not waited for "
     "(cp.async.wait_group "
     "or wait_all, by the thread that issued it) before {later}."},
    {Any, EarlierWaited | EarlierNoSync, 0,
     "The earlier thread has waited for its asynchronous copy at {earlier}, "
     "which tells no other thread of it: it has executed no fence, barrier or "
     "release since. {remedy}"},

    {set(RaceKind::ImproperLock),
     EarlierUsedLock | LaterHoldsLock | EarlierNoSync | EarlierHoldsLock, 0,
     "Both threads hold a lock at the same time, so it is not the same one: "
     "one lock has to protect {both}."},
    {set(RaceKind::ImproperLock),
     LaterHoldsLock | EarlierUsedLock | EarlierNoSync, 0,
     "Both threads use locks, but the earlier thread has given its lock back "
     "and executed no fence, barrier or release since {earlier}: put a "
     "__threadfence() in front of what gives the lock back."},
    {set(RaceKind::ImproperLock),
     LaterHoldsLock | EarlierUsedLock | EarlierFencedBlock, EarlierFencedDevice,
     "Both threads use locks, but the earlier thread's fences since {earlier} "
     "have block scope, and the threads are {distance}: a __threadfence() "
     "reaches them."},
    {set(RaceKind::ImproperLock), LaterHoldsLock | EarlierUsedLock, 0,
     "Both threads use locks, but no lock that the later thread holds at "
     "{later} protects {earlier}: one lock has to protect {both}."},
    {set(RaceKind::ImproperLock), LaterHoldsLock | SameBlock,
     EarlierUsedLock | SameWarp,
     "The later thread holds a lock at {later}, and the earlier thread, of the "
     "same block, holds none at {earlier}: one lock has to protect {both}. If "
     "one thread holds the lock for its block, a barrier is missing. "
     "{remedy}"},
    {set(RaceKind::ImproperLock), EarlierUsedLock | SameBlock,
     LaterHoldsLock | SameWarp,
     "The earlier thread used a lock around {earlier}, and the later thread, "
     "of the same block, holds none at {later}: one lock has to protect "
     "{both}. If one thread holds the lock for its block, a barrier is "
     "missing. {remedy}"},
    {set(RaceKind::ImproperLock), LaterHoldsLock, 0,
     "The lock that the later thread holds at {later} is not held at "
     "{earlier}: one lock has to protect {both}."},
    {set(RaceKind::ImproperLock), EarlierUsedLock, 0,
     "The later thread holds no lock at {later}; the earlier thread used one "
     "around {earlier}: one lock has to protect {both}."},
    {set(RaceKind::ImproperLock), 0, 0, "No common lock protects {both}."},

    {set(RaceKind::WarpBarrier), EarlierBarrier, 0,
     "The earlier lane has reached a barrier since {earlier}, but not one that "
     "the later lane has passed before {later}; lanes of a warp do not run in "
     "lockstep. {remedy}"},
    {set(RaceKind::WarpBarrier), 0, 0,
     "Lanes of a warp do not run in lockstep. {remedy}"},

    {Any, LaterUnfenced | SameBlock, 0,
     "The later thread learned by {told} that the earlier one was done, but "
     "executed no fence after it: put a __threadfence_block() behind {told}, "
     "for what an atomic says is ordered by fences on both sides."},
    {Any, LaterUnfenced, 0,
     "{later_block} learned by {told} that {earlier_block} was done, but "
     "executed no __threadfence() after it: put one behind {told}, for what an "
     "atomic says is ordered by fences on both sides; a __syncthreads() orders "
     "threads of its own block only."},

    {Any, EarlierForgotten, 0,
     "Nothing orders the two: the earlier thread's block has ended, and no "
     "thread has acquired from it since {earlier}. That a block ends tells the "
     "others nothing. {remedy}"},
    {Any, EarlierNoSync | EarlierEnded, 0,
     "Nothing orders the two: the earlier thread has ended, and had executed "
     "no fence, barrier or release since {earlier}. That a thread ends tells "
     "the others nothing. {remedy}"},
    {Any, EarlierNoSync, 0,
     "Nothing orders the two: the earlier thread has executed no fence, "
     "barrier or release since {earlier}. {remedy}"},
    {Any, SameBlock | EarlierBarrier, 0,
     "The earlier thread has reached a barrier since {earlier}, but not one "
     "that the later thread has passed before {later}. {remedy}"},

    {Any, EarlierFencedDevice | LaterAcquired, 0,
     "The earlier thread has executed a fence or a release since {earlier}, "
     "and the later has acquired from another thread, but nothing leads from "
     "the one to the other. {remedy}"},
    {Any, EarlierFencedDevice, 0,
     "The earlier thread has executed a fence or a release since {earlier}, "
     "but the later has acquired nothing. {remedy}"},
    {Any, EarlierFencedBlock, 0,
     "The earlier thread's fences since {earlier} have block scope, and the "
     "threads are {distance}: a __threadfence() reaches them."},
    {Any, EarlierBarrier, 0,
     "The earlier thread has reached a barrier since {earlier}, which orders "
     "threads of one block, and the threads are {distance}. {remedy}"},

    // What synchronises and is neither a fence nor a barrier of all lanes.
    {Any, LaterAcquired, 0,
     "The earlier thread has arrived at a barrier since {earlier}, and the "
     "later has learned of another thread, but nothing leads from the one to "
     "the other. {remedy}"},
    {Any, 0, 0,
     "The earlier thread has arrived at a barrier since {earlier}, but the "
     "later has not waited for it before {later}. {remedy}"},
};

static std::string_view fileOf(const std::optional<SiteInfo> &Site) {
  if (!Site || Site->Frames.empty() || frameToName(Site->Frames).Line == 0)
    return {};
  return frameToName(Site->Frames).File;
}

static uint32_t lineOf(const std::optional<SiteInfo> &Site) {
  return frameToName(Site->Frames).Line;
}

/// "line 31", or "kernel.cu:31" where the other side is in another file.
static std::string placeWords(const std::optional<SiteInfo> &Site,
                              const std::optional<SiteInfo> &Other,
                              const char *IfUnknown) {
  const std::string_view File = fileOf(Site);
  if (File.empty())
    return IfUnknown;
  if (fileOf(Other).empty() || fileOf(Other) == File)
    return fmt::format("line {}", lineOf(Site));
  return fmt::format("{}:{}", File.substr(File.rfind('/') + 1), lineOf(Site));
}

namespace {
/// The words of a finding that sentences are made of.
struct Places {
  std::string Earlier, Later;
  std::string Both; ///< "line 31 and line 40", "the two accesses at line 31".
};
} // namespace

static Places placesOf(const Finding &F) {
  Places P;
  P.Earlier = placeWords(F.Other, F.Site, "the earlier access");
  P.Later = placeWords(F.Site, F.Other, "the later access");
  if (F.kind() == RaceKind::BarrierDivergence) {
    if (P.Earlier == P.Later)
      P.Earlier += ", which they have reached in another way";
    return P;
  }
  if (P.Earlier == P.Later) {
    P.Both = "the two accesses at " + P.Later;
    return P;
  }
  // In the order of the source, for that is how it is read.
  const bool OneFile =
      !fileOf(F.Site).empty() && fileOf(F.Site) == fileOf(F.Other);
  const bool LaterFirst = OneFile && lineOf(F.Site) < lineOf(F.Other);
  P.Both = LaterFirst ? P.Later + " and " + P.Earlier
                      : P.Earlier + " and " + P.Later;
  return P;
}

/// Whether the access is strong for some threads of the device only.
static bool isNarrow(const std::optional<SiteInfo> &Site) {
  return Site && (Site->isStrong() || Site->isAtomic()) &&
         Site->Scope < Scope::Device;
}

/// The scope that leaves the other thread out; Device if it is not known.
static Scope narrowestScope(const Finding &F) {
  Scope Least = Scope::Device;
  for (const auto &Site : {F.Site, F.Other})
    if (isNarrow(Site))
      Least = std::min(Least, Site->Scope);
  return Least;
}

/// "The atomic update at line 12 has block scope".
static std::string scopeWords(const Finding &F, const Places &P) {
  const Scope Least = narrowestScope(F);
  if (Least == Scope::Device)
    return "One of the two accesses has a scope that leaves the other thread "
           "out";
  const auto IsLeast = [=](const std::optional<SiteInfo> &Site) {
    return isNarrow(Site) && Site->Scope == Least;
  };
  const auto Who = [](const std::optional<SiteInfo> &Site,
                      const std::string &Place) {
    return Site->Access == AccessKind::Update
               ? "the atomic at " + Place
               : fmt::format("the atomic {} at {}",
                             Site->Access == AccessKind::Load ? "read"
                                                              : "write",
                             Place);
  };
  const std::string Later = IsLeast(F.Site) ? Who(F.Site, P.Later) : "";
  const std::string Earlier = IsLeast(F.Other) ? Who(F.Other, P.Earlier) : "";
  if (Later.empty() || Earlier.empty() || Later == Earlier)
    return fmt::format("{} has {} scope", Later.empty() ? Earlier : Later,
                       nameOf(Least));
  return fmt::format("{} and {} have {} scope", Earlier, Later, nameOf(Least));
}

static const char *distanceWords(const Finding &F) {
  if (F.reasons() & OtherGrid)
    return "in different kernels";
  if (F.reasons() & SameWarp)
    return "in the same warp";
  if (F.reasons() & SameBlock)
    return "in the same block";
  if (F.kind() == RaceKind::AtomicScope && narrowestScope(F) == Scope::Cluster)
    return "in different clusters";
  return "in different blocks";
}

/// Said first of a strong access against a weak one.
static std::string weakSide(const Finding &F, const Places &P) {
  const auto IsWeak = [](const std::optional<SiteInfo> &Site) {
    return Site && !Site->isStrong() && !Site->isAtomic();
  };
  if (IsWeak(F.Site) == IsWeak(F.Other))
    return "Only one of the two accesses is volatile or atomic. ";
  const bool IsLater = IsWeak(F.Site);
  return fmt::format("The {} at {} is neither volatile nor atomic. ",
                     accessWords(IsLater ? &*F.Site : &*F.Other),
                     IsLater ? P.Later : P.Earlier);
}

/// As a sentence begins; but the name of a file stays as it is.
static std::string capitalised(std::string Text) {
  if (Text.starts_with("line ") || Text.starts_with("the ") ||
      Text.starts_with("block ") || Text.starts_with("a block "))
    Text[0] = char(std::toupper((unsigned char)Text[0]));
  return Text;
}

/// What orders two threads at this distance. Whether one place in the source is
/// on the way of both is not known: the two accesses may be on the two sides of
/// a branch. So the sentence says what each thread has to execute.
static std::string remedyWords(const Finding &F, const Places &P) {
  if (F.kind() == RaceKind::WarpBarrier || (F.reasons() & SameWarp))
    return fmt::format("A __syncwarp() orders the two if the earlier lane "
                       "executes it after {} and the later lane before {}.",
                       P.Earlier, P.Later);
  if (F.reasons() & SameBlock)
    return fmt::format(
        "A __syncthreads() orders the two if all threads of the block execute "
        "it, the earlier thread after {} and the later thread before {}.",
        P.Earlier, P.Later);
  return "Between blocks, a new launch or a barrier of the grid orders; or a "
         "__threadfence() and then an atomic write by the earlier thread, and "
         "an atomic read of it and then a __threadfence() by the later one.";
}

/// "the atomic at line 26", "the atomic at line 26 or line 30".
static std::string toldWords(const Finding &F) {
  std::vector<std::string> Places;
  for (const SiteInfo &Site : F.Told)
    if (std::string Place = placeWords(Site, F.Site, "");
        !Place.empty() &&
        std::find(Places.begin(), Places.end(), Place) == Places.end())
      Places.push_back(std::move(Place));
  constexpr size_t Most = 3;
  if (Places.empty() || Places.size() > Most)
    return "an atomic or volatile read";
  const bool IsAtomic =
      std::all_of(F.Told.begin(), F.Told.end(),
                  [](const SiteInfo &Site) { return Site.isAtomic(); });
  return fmt::format("the {} at {}", IsAtomic ? "atomic" : "strong read",
                     fmt::join(Places, " or "));
}

/// Of plain read-modify-writes: no order of the two makes both of them count.
static std::string updateWords(const Finding &F, const Places &P) {
  const auto IsPlain = [](const std::optional<SiteInfo> &Site) {
    return Site && (Site->Flags & IsOfUpdate) && !Site->isAtomic();
  };
  const bool Both = IsPlain(F.Site) && IsPlain(F.Other);
  const std::string Places = Both              ? P.Both
                             : IsPlain(F.Site) ? P.Later
                                               : P.Earlier;
  return fmt::format(
      "Both threads read this location, change the value and write it back, so "
      "one of the two changes may be lost; fences do not help. Make {} "
      "(atomicAdd, for instance), or let one lock protect {}.",
      P.Earlier == P.Later ? fmt::format("{} an atomic update", P.Later)
      : Both               ? fmt::format("{} atomic updates", Places)
                           : fmt::format("{} an atomic update, too", Places),
      P.Both);
}

/// Whether both sides update the location, one of them by plain accesses.
static bool areUpdates(const Finding &F) {
  return F.Site && F.Other && F.Site->isOfUpdate() && F.Other->isOfUpdate() &&
         !(F.Site->isAtomic() && F.Other->isAtomic()) &&
         F.kind() != RaceKind::ImproperLock &&
         F.kind() != RaceKind::ProxyFence && !(F.reasons() & OtherGrid);
}

std::string crsan::whatIsMissing(const Finding &F) {
  uint64_t Reasons = F.reasons();
  // Within a block any fence is wide enough.
  if ((Reasons & SameBlock) && (Reasons & EarlierFencedBlock))
    Reasons |= EarlierFencedDevice;
  const auto *It =
      std::find_if(std::begin(Rows), std::end(Rows), [&](const Row &R) {
        return (R.Kinds & set(F.kind())) && (Reasons & R.With) == R.With &&
               !(Reasons & R.Without);
      });
  const Places P = placesOf(F);
  const std::string Text =
      areUpdates(F)
          ? updateWords(F, P)
          : capitalised(fmt::format(
                fmt::runtime(It->Sentences), fmt::arg("earlier", P.Earlier),
                fmt::arg("later", P.Later), fmt::arg("both", P.Both),
                fmt::arg("distance", distanceWords(F)),
                fmt::arg("scope", scopeWords(F, P)),
                fmt::arg("remedy", remedyWords(F, P)),
                fmt::arg("told", toldWords(F)),
                fmt::arg("later_block", blockWords(F, Side::Later)),
                fmt::arg("earlier_block", blockWords(F, Side::Earlier))));
  return F.kind() == RaceKind::NotStrong ? weakSide(F, P) + Text : Text;
}
