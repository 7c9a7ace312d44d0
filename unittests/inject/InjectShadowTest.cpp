// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pages of shadow, and what they cost.

#include "common/Driver.h"
#include "shadow/Allocations.h"
#include "shadow/MetadataShadow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include <sys/mman.h>

namespace crsan {

namespace {

constexpr uint64_t MiB = uint64_t(1) << 20;
constexpr uint64_t Slot = ShadowMemory::SlotBytes;

/// A device of host memory that is only there where it is touched.
struct Card {
  uint64_t Total = 1152 * MiB;
  uint64_t ProgramUses = 0, Allocated = 0, Created = 0;
  uint64_t free() const { return Total - ProgramUses - Allocated - Created; }
  std::map<uint64_t, uint64_t> Blocks; ///< Of cuMemAlloc.
  std::set<uint64_t> Mapped;
};
Card TheCard;

uint64_t mapMemory(uint64_t Size) {
  void *Base = mmap(nullptr, Size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return reinterpret_cast<uint64_t>(Base);
}

CUresult memAlloc(CUdeviceptr *Address, size_t Size) {
  if (Size > TheCard.free())
    return CUDA_ERROR_OUT_OF_MEMORY;
  *Address = mapMemory(Size);
  TheCard.Blocks[*Address] = Size;
  TheCard.Allocated += Size;
  return CUDA_SUCCESS;
}
CUresult memFree(CUdeviceptr Address) {
  auto Found = TheCard.Blocks.find(Address);
  if (Found == TheCard.Blocks.end())
    return CUDA_ERROR_INVALID_VALUE;
  TheCard.Allocated -= Found->second;
  munmap(reinterpret_cast<void *>(Address), Found->second);
  TheCard.Blocks.erase(Found);
  return CUDA_SUCCESS;
}
CUresult memGetInfo(size_t *Free, size_t *Total) {
  *Free = TheCard.free();
  *Total = TheCard.Total;
  return CUDA_SUCCESS;
}
CUresult addressReserve(CUdeviceptr *Base, size_t Size, size_t Align,
                        CUdeviceptr, unsigned long long) {
  *Base = (mapMemory(Size + Align) + Align - 1) / Align * Align;
  return CUDA_SUCCESS;
}
CUresult create(CUmemGenericAllocationHandle *Handle, size_t Size,
                const CUmemAllocationProp *, unsigned long long) {
  if (Size > TheCard.free())
    return CUDA_ERROR_OUT_OF_MEMORY;
  TheCard.Created += Size;
  *Handle = Size;
  return CUDA_SUCCESS;
}
CUresult map(CUdeviceptr Address, size_t, size_t, CUmemGenericAllocationHandle,
             unsigned long long) {
  return TheCard.Mapped.insert(Address).second ? CUDA_SUCCESS
                                               : CUDA_ERROR_ALREADY_MAPPED;
}
CUresult unmap(CUdeviceptr Address, size_t) {
  return TheCard.Mapped.erase(Address) ? CUDA_SUCCESS
                                       : CUDA_ERROR_INVALID_VALUE;
}
CUresult release(CUmemGenericAllocationHandle Handle) {
  TheCard.Created -= Handle;
  return CUDA_SUCCESS;
}
CUresult setAccess(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t) {
  return CUDA_SUCCESS;
}
CUresult memsetD8(CUdeviceptr Address, unsigned char Value, size_t Size,
                  CUstream) {
  // Most of it was never touched.
  auto *Bytes = reinterpret_cast<unsigned char *>(Address);
  if (Size % 4096 == 0 && Address % 4096 == 0)
    madvise(Bytes, Size, MADV_DONTNEED);
  else
    std::memset(Bytes, Value, Size);
  return CUDA_SUCCESS;
}
CUresult memsetD16(CUdeviceptr Address, unsigned short Value, size_t Number,
                   CUstream) {
  std::fill_n(reinterpret_cast<unsigned short *>(Address), Number, Value);
  return CUDA_SUCCESS;
}
CUresult copyIn(CUdeviceptr To, const void *From, size_t Size, CUstream) {
  std::memcpy(reinterpret_cast<void *>(To), From, Size);
  return CUDA_SUCCESS;
}
CUresult copyOut(void *To, CUdeviceptr From, size_t Size, CUstream) {
  std::memcpy(To, reinterpret_cast<const void *>(From), Size);
  return CUDA_SUCCESS;
}

const auto Program = reinterpret_cast<CUcontext>(1);

class InjectShadow : public testing::Test {
protected:
  InjectShadow() : Before(theDriver()) {
    TheCard = Card();
    Driver &D = theDriver();
    D.cuMemAlloc = memAlloc;
    D.cuMemFree = memFree;
    D.cuMemAllocManaged = [](CUdeviceptr *Address, size_t Size, unsigned) {
      return memAlloc(Address, Size);
    };
    D.cuMemGetInfo = memGetInfo;
    D.cuMemAddressReserve = addressReserve;
    D.cuMemCreate = create;
    D.cuMemMap = map;
    D.cuMemUnmap = unmap;
    D.cuMemRelease = release;
    D.cuMemSetAccess = setAccess;
    D.cuMemsetD8Async = memsetD8;
    D.cuMemsetD16Async = memsetD16;
    D.cuMemcpyHtoDAsync = copyIn;
    D.cuMemcpyDtoHAsync = copyOut;
    D.cuStreamSynchronize = [](CUstream) { return CUDA_SUCCESS; };
    D.cuCtxSynchronize = nullptr; // Shadow waits for nothing.
  }
  ~InjectShadow() override { theDriver() = Before; }

  void make(const char *Text = "", MetadataShadow::Sample Grids = {}) {
    Flags Options;
    ASSERT_EQ(Options.parse(Text), std::nullopt);
    S.emplace(0, nullptr, Options);
    ASSERT_EQ(S->prepare(1000, Grids), "");
    Tables = TheCard.Allocated;
  }
  void add(uint64_t Base, uint64_t Size, CUcontext Owner = Program) {
    MemoryRange Range{Owner, Base, Size};
    S->add({&Range, 1});
    settle();
  }
  /// As when no kernel runs.
  void settle() {
    while (S->isRetiring())
      S->settle();
  }
  void remove(uint64_t Base, uint64_t Size, CUcontext Owner = Program) {
    S->remove({Owner, Base, Size});
  }
  abi::Metadata &metadata() {
    return *reinterpret_cast<abi::Metadata *>(S->address());
  }
  template <typename T> T *table(uint64_t At) {
    return reinterpret_cast<T *>(S->address() + At);
  }
  /// As the device finds it: the flags, and where the word's cell is.
  struct Entry {
    uint64_t Flags = 0;
    abi::Cell *Cell = nullptr;
    bool isExact() const { return Cell && Flags == 0; }
    bool isCached() const { return Cell && Flags == abi::PageCached; }
    bool isHost() const { return Cell && Flags == abi::PageHost; }
    bool isNone() const { return !Cell; }
  };
  Entry look(uint64_t Address) {
    uint64_t Raw = table<uint64_t>(abi::PagesAt)[abi::pageIndex(Address)];
    if (!abi::isPageOf(Raw, Address))
      return {};
    uint64_t Word = Address % abi::PageBytes / 4;
    if (Raw & abi::PageCached)
      Word /= abi::CacheWays;
    return {Raw & (abi::PageHost | abi::PageCached),
            reinterpret_cast<abi::Cell *>(Raw & 0xfffffffff000) + Word};
  }
  /// The number of the allocation that an address is in, as kernels find it.
  uint32_t owner(uint64_t Address) {
    const uint64_t Raw = table<uint64_t>(abi::PagesAt)[abi::pageIndex(Address)];
    const uint32_t Owner = (Raw & abi::PageOwners) >> abi::PageOwnerAt;
    if (Owner < abi::FirstSplitPage)
      return Owner;
    return table<uint16_t>(
        abi::OwnersOfSplitPagesAt)[(Owner - abi::FirstSplitPage) *
                                       abi::PartsOfPage +
                                   Address % abi::PageBytes / 256];
  }
  uint64_t slots() const {
    return (TheCard.Created + TheCard.Allocated - Tables) / Slot;
  }

  std::optional<MetadataShadow> S;
  uint64_t Tables = 0;

private:
  Driver Before;
};

constexpr uint64_t Base = 0x7f12'3400'0000;

} // namespace

TEST_F(InjectShadow, SharedMemoryHasItsShadowBehindTheTables) {
  make();
  EXPECT_EQ(metadata().SharedBytes, 4096u);
  EXPECT_GE(metadata().SharedShadow, S->address() + abi::MetadataBytes);
  EXPECT_LE(metadata().SharedShadow + 4096, S->address() + Tables);
}

TEST_F(InjectShadow, PagesOfTheHostAreMarked) {
  make();
  add(Base, 64, nullptr);
  EXPECT_TRUE(look(Base).isHost());
  add(Base + 64, 64);
  remove(Base, 64, nullptr);
  EXPECT_TRUE(look(Base).isExact());
  add(Base, 64, nullptr);
  EXPECT_TRUE(look(Base).isHost());
}

TEST_F(InjectShadow, AllocationsThatShareAPageHaveNumbersOfTheirOwn) {
  make();
  add(Base, abi::PageBytes + 512);
  const uint32_t First = owner(Base);
  EXPECT_NE(First, 0u);
  EXPECT_EQ(owner(Base + abi::PageBytes + 4096), First); // Nobody else's.
  const uint64_t Small = Base + abi::PageBytes + 512;
  add(Small, 300);
  const uint32_t Second = owner(Small);
  EXPECT_NE(Second, 0u);
  EXPECT_NE(Second, First);
  EXPECT_EQ(owner(Base), First);
  EXPECT_EQ(owner(Small - 1), First);
  EXPECT_EQ(owner(Small + 299), Second);
  EXPECT_EQ(owner(Small + 512), 0u);
  // What reaches into a page of its own, too.
  const uint64_t Last = Base + 2 * abi::PageBytes - 256;
  add(Last, 1024);
  const uint32_t Third = owner(Last);
  EXPECT_EQ(owner(Last + 512), Third);
  EXPECT_EQ((std::set{0u, First, Second, Third}).size(), 4u);
  remove(Small, 300);
  EXPECT_EQ(owner(Small), 0u);
  EXPECT_EQ(owner(Base + abi::PageBytes), First);
  remove(Base, abi::PageBytes + 512);
  EXPECT_EQ(owner(Base + abi::PageBytes), 0u);
  EXPECT_EQ(owner(Last), Third);
  remove(Last, 1024);
  EXPECT_EQ(owner(Last), 0u);
}

TEST_F(InjectShadow, MemoryOfTheHostHasNoNumber) {
  make();
  add(Base, 512);
  add(Base + 512, 512, nullptr);
  EXPECT_NE(owner(Base), 0u);
  EXPECT_EQ(owner(Base + 512), 0u);
  add(Base + 1024, 512);
  EXPECT_NE(owner(Base + 1024), 0u);
}

TEST_F(InjectShadow, AllocationsOfPagesThatCannotBeSplitHaveNoNumbers) {
  make();
  auto At = [](unsigned Page) { return Base + Page * abi::PageBytes; };
  for (unsigned Page = 0; Page < abi::NumSplitPages; ++Page) {
    add(At(Page), 512);
    add(At(Page) + 512, 512);
  }
  const unsigned Next = abi::NumSplitPages;
  add(At(Next), 2 * abi::PageBytes);
  EXPECT_NE(owner(At(Next)), 0u);
  // It shares its second page, so it has a number in neither.
  add(At(Next + 2) - 512, 512);
  EXPECT_EQ(owner(At(Next)), 0u);
  EXPECT_EQ(owner(At(Next + 2) - 512), 0u);
  // A split page whose last allocation is freed makes room for another.
  remove(At(0), 512);
  remove(At(0) + 512, 512);
  add(At(Next + 3), 512);
  add(At(Next + 3) + 512, 512);
  EXPECT_NE(owner(At(Next + 3)), owner(At(Next + 3) + 512));
  EXPECT_NE(owner(At(Next + 3) + 512), 0u);
}

TEST_F(InjectShadow, NoMemoryForTheTablesIsOneLine) {
  TheCard.ProgramUses = TheCard.Total;
  S.emplace(0, nullptr, Flags());
  theDriver().cuGetErrorName = nullptr;
  theDriver().cuGetErrorString = nullptr;
  EXPECT_NE(S->prepare(1000, {}).find("cuMemAlloc failed"), std::string::npos);
}

TEST_F(InjectShadow, EveryPageOfARangeHasShadowAndNoOther) {
  make();
  add(Base + abi::PageBytes - 4, 8);
  EXPECT_TRUE(look(Base).isExact());
  EXPECT_TRUE(look(Base + abi::PageBytes).isExact());
  EXPECT_TRUE(look(Base - 1).isNone());
  EXPECT_TRUE(look(Base + 2 * abi::PageBytes).isNone());
  // 2 TiB away the index is the same.
  EXPECT_TRUE(look(Base + (uint64_t(1) << 41)).isNone());
  EXPECT_EQ(slots(), 2u);
  EXPECT_EQ(S->tracked().Exact, 2 * abi::PageBytes);
}

TEST_F(InjectShadow, APageStaysAsLongAsAnyRangeIsInIt) {
  make();
  add(Base, 64);
  add(Base + 64, 64);
  remove(Base, 64);
  EXPECT_TRUE(look(Base).isExact());
  remove(Base + 64, 64);
  EXPECT_TRUE(look(Base).isNone());
}

TEST_F(InjectShadow, FreedPagesAreReusedAndClean) {
  make();
  add(Base, 4);
  look(Base).Cell->Writer = 1;
  remove(Base, 4);
  add(Base + 64 * MiB, 4);
  EXPECT_EQ(slots(), 1u);
  EXPECT_EQ(look(Base + 64 * MiB).Cell->Writer, 0u);
}

TEST_F(InjectShadow, ANewRangeInAnOldPageBeginsClean) {
  make();
  add(Base, 64);
  look(Base).Cell->Writer = 1;
  look(Base + 64).Cell->Writer = 2;
  look(Base + 128).Cell->Writer = 3;
  add(Base + 64, 64);
  EXPECT_EQ(look(Base).Cell->Writer, 1u);
  EXPECT_EQ(look(Base + 64).Cell->Writer, 0u);
  EXPECT_EQ(look(Base + 128).Cell->Writer, 3u);
}

TEST_F(InjectShadow, OfTwoPagesOfOneIndexTheFirstHasShadow) {
  make();
  const uint64_t Far = Base + (uint64_t(1) << 41);
  add(Base, 4);
  add(Far, 4);
  EXPECT_TRUE(look(Base).isExact());
  EXPECT_TRUE(look(Far).isNone());
  EXPECT_EQ(S->tracked().None, abi::PageBytes);
  add(Far, 4, nullptr);
  remove(Far, 4, nullptr);
  EXPECT_TRUE(look(Base).isExact());
  remove(Far, 4);
  EXPECT_TRUE(look(Base).isExact());
}

TEST_F(InjectShadow, BeyondTheLimitPagesAreCached) {
  make("shadow_limit=24");
  add(Base, 10 * abi::PageBytes);
  // Two slots, and a third that the others share.
  EXPECT_TRUE(look(Base).isExact());
  EXPECT_TRUE(look(Base + abi::PageBytes).isExact());
  for (unsigned I = 2; I < 10; ++I)
    EXPECT_TRUE(look(Base + I * abi::PageBytes).isCached());
  EXPECT_EQ(slots(), 3u);
  EXPECT_EQ(S->tracked().Cached, 8 * abi::PageBytes);
  EXPECT_EQ(S->tracked().None, 0u);
}

TEST_F(InjectShadow, WhatRunningKernelsMayUseIsNotReused) {
  make("shadow_limit=24");
  add(Base, 3 * abi::PageBytes);
  std::array<abi::Cell *, 3> Cells;
  for (unsigned I = 0; I < 3; ++I) {
    Cells[I] = look(Base + I * abi::PageBytes).Cell;
    Cells[I]->Writer = 1;
  }
  MemoryRange More{Program, Base + 3 * abi::PageBytes, abi::PageBytes};
  S->add({&More, 1});
  ASSERT_TRUE(S->isRetiring());
  EXPECT_TRUE(look(Base + 2 * abi::PageBytes).isNone());
  EXPECT_TRUE(look(More.Base).isNone());
  EXPECT_TRUE(look(Base + abi::PageBytes).isExact());
  EXPECT_EQ(Cells[2]->Writer, 1u);
  settle();
  EXPECT_TRUE(look(Base + 2 * abi::PageBytes).isCached());
  EXPECT_TRUE(look(More.Base).isCached());
  EXPECT_EQ(look(More.Base).Cell->Writer, 0u);
  EXPECT_EQ(S->tracked().None, 0u);
}

TEST_F(InjectShadow, CachedPagesDoNotShareCells) {
  make("shadow=cached");
  add(Base, 40 * abi::PageBytes);
  std::set<abi::Cell *> Cells;
  for (unsigned I = 0; I < 40; ++I) {
    EXPECT_TRUE(look(Base + I * abi::PageBytes).isCached());
    Cells.insert(look(Base + I * abi::PageBytes).Cell);
    Cells.insert(look(Base + (I + 1) * abi::PageBytes - 1).Cell);
  }
  EXPECT_EQ(Cells.size(), 80u);
  EXPECT_EQ(slots(), 2u);
}

TEST_F(InjectShadow, BelowTheLeastLimitThereIsNone) {
  make("shadow_limit=4");
  add(Base, 3 * abi::PageBytes);
  EXPECT_TRUE(look(Base).isNone());
  EXPECT_EQ(slots(), 0u);
  EXPECT_EQ(S->tracked().None, 3 * abi::PageBytes);
}

TEST_F(InjectShadow, TheReserveIsLeftToTheProgram) {
  make();
  add(Base, 512 * abi::PageBytes);
  EXPECT_GE(TheCard.free(), 256 * MiB);
  EXPECT_LT(TheCard.free(), 256 * MiB + Slot);
  EXPECT_EQ(S->tracked().None, 0u);
}

TEST_F(InjectShadow, WhatTheProgramNeedsItGets) {
  make();
  add(Base, 100 * abi::PageBytes);
  const uint64_t Before = S->held();
  S->makeRoom(64 * MiB);
  EXPECT_EQ(S->held(), Before);
  EXPECT_FALSE(S->isRetiring());

  const uint64_t Needed = TheCard.free() + 100 * MiB;
  S->makeRoom(Needed);
  EXPECT_TRUE(S->isRetiring());
  EXPECT_EQ(S->held(), Before);
  settle();
  S->release(Needed);
  EXPECT_GE(TheCard.free(), Needed);
  EXPECT_LT(S->held(), Before);
  unsigned Exact = 0;
  for (unsigned I = 0; I < 100; ++I) {
    EXPECT_FALSE(look(Base + I * abi::PageBytes).isNone());
    Exact += look(Base + I * abi::PageBytes).isExact();
  }
  EXPECT_GT(Exact, 0u);
  EXPECT_LT(Exact, 100u);
}

TEST_F(InjectShadow, WithoutMappingItIsAllocated) {
  theDriver().cuMemMap = nullptr;
  make();
  add(Base, 2 * abi::PageBytes);
  EXPECT_TRUE(look(Base).isExact());
  EXPECT_EQ(TheCard.Created, 0u);
  EXPECT_EQ(slots(), 2u);
  TheCard.ProgramUses = TheCard.free();
  S->makeRoom(8 * MiB);
  settle();
  S->release(8 * MiB);
  EXPECT_GE(TheCard.free(), 8 * MiB);
}

TEST_F(InjectShadow, SlotsThatNoEntryCanNameAreGivenBack) {
  theDriver().cuMemMap = nullptr;
  make();
  theDriver().cuMemAlloc = [](CUdeviceptr *Address, size_t Size) {
    const CUresult Result = memAlloc(Address, Size);
    auto Block = TheCard.Blocks.extract(*Address);
    Block.key() = *Address += 16;
    TheCard.Blocks.insert(std::move(Block));
    return Result;
  };
  add(Base, abi::PageBytes);
  EXPECT_TRUE(look(Base).isNone());
  EXPECT_EQ(slots(), 0u);
}

TEST_F(InjectShadow, AnOrderThatTheDeviceCannotReachIsUnregistered) {
  static int Registered;
  Registered = 0;
  Driver &D = theDriver();
  D.cuStreamWriteValue32 = [](CUstream, CUdeviceptr, cuuint32_t, unsigned) {
    return CUDA_SUCCESS;
  };
  D.cuMemHostRegister = [](void *, size_t, unsigned) {
    ++Registered;
    return CUDA_SUCCESS;
  };
  D.cuMemHostUnregister = [](void *) {
    --Registered;
    return CUDA_SUCCESS;
  };
  D.cuMemHostGetDevicePointer = [](CUdeviceptr *, void *, unsigned) {
    return CUDA_ERROR_INVALID_VALUE;
  };
  make();
  EXPECT_EQ(S->shareOrder(), nullptr);
  EXPECT_EQ(Registered, 0);
}

TEST_F(InjectShadow, ManagedShadowIsNotMapped) {
  make("shadow=managed");
  add(Base, abi::PageBytes);
  EXPECT_TRUE(look(Base).isExact());
  EXPECT_EQ(TheCard.Created, 0u);
  EXPECT_EQ(slots(), 1u);
}

TEST_F(InjectShadow, AResetForgetsAllButTheCounts) {
  make();
  add(Base, 4);
  auto *Warps = table<abi::WarpState>(abi::WarpsAt);
  auto *Known = table<uint32_t>(abi::KnownAt);
  auto *Sites = table<uint64_t>(abi::SitesAt);
  look(Base).Cell->Reader = 1;
  Warps[7].Clock = 5;
  Warps[7].Checked = 30;
  Warps[9].Unchecked = 2;
  Known[9] = 1;
  Sites[1] = 11;
  EXPECT_EQ(S->unwanted(), MetadataShadow::Past::None);
  metadata().IsUsedUp = 1;
  table<abi::MaxClock>(abi::MaxClocksAt)[3].Clock = 9;
  metadata().NextSite = 2;
  EXPECT_EQ(S->unwanted(), MetadataShadow::Past::All);
  S->forget(MetadataShadow::Past::All);
  EXPECT_EQ(S->unwanted(), MetadataShadow::Past::None);
  EXPECT_EQ(look(Base).Cell->Reader, 0u);
  EXPECT_EQ(Warps[7].Clock, 0u);
  EXPECT_EQ(Known[9], 0u);
  EXPECT_EQ(Sites[1], 11u);
  EXPECT_EQ(table<abi::MaxClock>(abi::MaxClocksAt)[3].Clock, 0u);
  EXPECT_EQ(metadata().NextSite, 2u);
  EXPECT_EQ(S->before().Checked, 30u);
  EXPECT_EQ(S->before().Unchecked, 2u);
}

// Accessors name sites, which are in the code.
TEST_F(InjectShadow, UnloadedCodeLeavesNoAccessor) {
  make();
  add(Base, 4);
  look(Base).Cell->Writer = 1;
  auto *Victims = table<abi::Victim>(abi::VictimsAt);
  auto *Meetings = table<uint64_t>(abi::MeetingsAt);
  for (unsigned I : {0u, abi::NumVictims - 1})
    std::memset(static_cast<void *>(Victims + I), 0xff, sizeof(*Victims));
  Meetings[0] = Meetings[abi::NumMeetings * abi::NumWarps - 1] = 1;
  S->forgetAccesses();
  EXPECT_EQ(look(Base).Cell->Writer, 0u);
  const abi::Victim None{};
  for (unsigned I : {0u, abi::NumVictims - 1})
    EXPECT_EQ(std::memcmp(Victims + I, &None, sizeof(None)), 0);
  EXPECT_EQ(Meetings[0], 0u);
  EXPECT_EQ(Meetings[abi::NumMeetings * abi::NumWarps - 1], 0u);
}

TEST_F(InjectShadow, AGridThatWasLeftOutIsForgottenAlone) {
  make();
  table<abi::SyncCell>(abi::SyncCellsAt)[3].Known[1] = 7;
  metadata().Limit.Latest = uint64_t(9) << 32;
  EXPECT_EQ(S->unwanted(), MetadataShadow::Past::None);
  metadata().Limit.Latest |= abi::IsLeftOut;
  EXPECT_EQ(S->unwanted(), MetadataShadow::Past::LeftOut);
  S->forget(MetadataShadow::Past::LeftOut);
  EXPECT_EQ(metadata().Limit.Latest, 0u);
  EXPECT_EQ(table<abi::SyncCell>(abi::SyncCellsAt)[3].Known[1], 7u);
}

// Later grids ask for their kernel's time once one has been stopped.
TEST_F(InjectShadow, ALimitForOneGridIsNoneForItsKernel) {
  make("", {.KernelTime = 7, .GridTime = 5});
  EXPECT_EQ(metadata().Limit.KernelTime, 7u);
  EXPECT_EQ(metadata().Limit.GridTime, 5u);
  make("", {.KernelTime = 0, .GridTime = 5});
  EXPECT_EQ(metadata().Limit.KernelTime, ~0u);
  make("", {.KernelTime = 0, .GridTime = 0});
  EXPECT_EQ(metadata().Limit.KernelTime, 0u);
  make("", {.FollowOneIn = 12, .KernelTime = 7, .GridTime = 5});
  EXPECT_EQ(metadata().Limit.KernelTime, 0u);
}

TEST_F(InjectShadow, WhoKnewEverythingIsForgottenWithoutTheAccesses) {
  make();
  add(Base, 4);
  auto *Warps = table<abi::WarpState>(abi::WarpsAt);
  auto *Cells = table<abi::SyncCell>(abi::SyncCellsAt);
  for (bool ByCall : {false, true}) {
    look(Base).Cell->Reader = 1;
    Warps[7].Clock = 5;
    Cells[abi::NumSyncCells - 1].Known[31] = ~0u;
    (ByCall ? metadata().Foreign : metadata().HasLearned) = 1;
    EXPECT_EQ(S->unwanted(), MetadataShadow::Past::Releases);
    S->forget(MetadataShadow::Past::Releases);
    EXPECT_EQ(S->unwanted(), MetadataShadow::Past::None);
    EXPECT_EQ(Cells[abi::NumSyncCells - 1].Known[31], 0u);
    EXPECT_EQ(look(Base).Cell->Reader, 1u);
    EXPECT_EQ(Warps[7].Clock, 5u);
  }
  EXPECT_FALSE(S->wasReset());
}

TEST(InjectAllocations, MemoryIsItsOwnersOrEverybodys) {
  auto *One = reinterpret_cast<CUcontext>(1),
       *Two = reinterpret_cast<CUcontext>(2);
  Allocations A;
  A.add({One, 100, 8});
  A.add({Two, 200, 8});
  A.add({nullptr, 300, 8});
  EXPECT_EQ(A.of(One).size(), 2u);
  A.forget(Two);
  EXPECT_EQ(A.of(Two).size(), 1u);
}

TEST(InjectAllocations, AFreeIsOfTheMemoryThatWasThereWhenItBegan) {
  for (bool IsUnmap : {false, true}) {
    Allocations A;
    auto Begin = [&] {
      return IsUnmap ? A.beginUnmap(100, 100) : A.beginFree(100);
    };
    A.add({nullptr, 100, 8});
    const FreeCall First = Begin();
    EXPECT_EQ(Begin(), FreeCall::None);
    A.add({nullptr, 100, 16});
    const FreeCall Second = Begin();
    EXPECT_EQ(A.of(nullptr).size(), 2u);
    EXPECT_EQ(A.endFree(Second).at(0).Size, 16u);
    EXPECT_EQ(A.endFree(First).at(0).Size, 8u);
    EXPECT_TRUE(A.endFree(First).empty());
    EXPECT_TRUE(A.of(nullptr).empty());
  }
}

TEST(InjectAllocations, AFreeThatFailsFreesNothing) {
  Allocations A;
  A.add({nullptr, 100, 8});
  A.cancelFree(A.beginFree(100));
  EXPECT_TRUE(A.isHosts(100));
  EXPECT_EQ(A.endFree(A.beginFree(100)).size(), 1u);
}

TEST(InjectAllocations, AContextMayEndDuringAFree) {
  auto *One = reinterpret_cast<CUcontext>(1);
  Allocations A;
  A.add({One, 100, 8});
  const FreeCall Call = A.beginFree(100);
  A.forget(One);
  EXPECT_TRUE(A.endFree(Call).empty());
}

TEST(InjectAllocations, APointerMayBeAtAnyOffset) {
  Allocations A;
  const uint64_t Address = 0x7f00'1234'5678;
  A.add({nullptr, Address - 8, 16});
  for (size_t At : {0, 1, 4, 8, 11}) {
    std::vector<uint8_t> Bytes(19, 0x5a);
    EXPECT_FALSE(A.mayPointToHosts(Bytes));
    std::memcpy(&Bytes[At], &Address, sizeof(Address));
    EXPECT_TRUE(A.mayPointToHosts(Bytes)) << At;
    EXPECT_FALSE(A.mayPointToHosts({Bytes.data(), At + 7}));
  }
}

TEST(InjectAllocations, WhatAStreamFreesStaysUntilTheContextIsIdle) {
  auto *One = reinterpret_cast<CUcontext>(1),
       *Two = reinterpret_cast<CUcontext>(2);
  Allocations A;
  A.add({One, 100, 8});
  A.deferFree(A.beginFree(100));
  EXPECT_EQ(A.of(One).size(), 1u);
  EXPECT_TRUE(A.takeFreed(Two).empty());
  EXPECT_EQ(A.takeFreed(One).size(), 1u);
  EXPECT_TRUE(A.of(One).empty());
}

TEST(InjectAllocations, UnmappingTakesAllWithin) {
  Allocations A;
  A.add({nullptr, 100, 100});
  A.add({nullptr, 200, 100});
  A.add({nullptr, 300, 100});
  EXPECT_EQ(A.endFree(A.beginUnmap(100, 200)).size(), 2u);
  EXPECT_EQ(A.of(nullptr).size(), 1u);
}

} // namespace crsan
