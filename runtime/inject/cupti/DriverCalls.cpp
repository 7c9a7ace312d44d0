// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All calls of the driver.

#include "cupti/DriverCalls.h"

#include "common/Driver.h"
#include "common/KernelWait.h"
#include "common/Log.h"
#include "cupti/CodeCalls.h"
#include "cupti/Cupti.h"
#include "cupti/DriverCall.h"
#include "cupti/LaunchCalls.h"
#include "cupti/MemoryCalls.h"
#include "cupti/OperationCalls.h"
#include "cupti/StreamCalls.h"
#include "cupti/TensorCalls.h"
#include "host/HostChecks.h"
#include "session/Session.h"

#include <array>
#include <string_view>

namespace crsan {

namespace {
/// See DriverCalls.def.
enum class Order : uint8_t { None, Cut, Lose, Told, TellLater };

struct Entry {
  Order Orders = Order::None;
  bool IsPerThread = false;
  void (*Tell)(const DriverCall &) = nullptr;
  bool Waits = false;     ///< For kernels, perhaps.
  bool GivesWork = false; ///< To some stream, perhaps, and Tell does not tell.
};

struct Family {
  std::string_view Prefix;
  Order Orders;
};

struct NoParameters {};
} // namespace

static constexpr Family Families[] = {
#define CRSAN_FAMILY(Prefix, Orders) {Prefix, Order::Orders},
#include "cupti/DriverCalls.def"
};

/// The forms of calls with per-thread default streams are named so.
static constexpr bool usesThreadsStream(std::string_view Name) {
  return Name.ends_with("_ptsz") || Name.ends_with("_ptds");
}

/// Whether the driver may read the image when the call is over.
static bool isKept(const cuLibraryLoadData_params &P) {
  for (unsigned I = 0; I < P.numLibraryOptions; ++I)
    if (P.libraryOptions[I] == CU_LIBRARY_BINARY_IS_PRESERVED)
      return true;
  return false;
}

static constexpr size_t NumCalls = 2048; ///< More than any CUPTI has.

/// By number. What the families say is filled in by driverCallsToTell().
static std::array<Entry, NumCalls> Table = [] {
  std::array<Entry, NumCalls> Calls{};
#define CRSAN_CALL(Name, Params, Orders_, Enter, Exit)                         \
  Calls[CUPTI_DRIVER_TRACE_CBID_##Name] = {                                    \
      Order::Orders_, usesThreadsStream(#Name), [](const DriverCall &C) {      \
        [[maybe_unused]] Session &S = C.S;                                     \
        [[maybe_unused]] const auto *P =                                       \
            static_cast<const Params *>(C.Data.functionParams);                \
        if (C.isEnter()) {                                                     \
          Enter;                                                               \
        } else {                                                               \
          [[maybe_unused]] const bool OK = C.result() == CUDA_SUCCESS;         \
          Exit;                                                                \
        }                                                                      \
      }};
#include "cupti/DriverCalls.def"
  return Calls;
}();

/// Whether the call may last until kernels have ended.
static bool waitsForKernels(std::string_view Name) {
  return Name.find("Synchronize") != Name.npos ||
         Name.starts_with("cuMemcpy") || Name.starts_with("cuMemset") ||
         Name.starts_with("cuMemFree");
}

/// Whether a call, of which no more is known, may give a stream something that
/// writes memory.
static bool givesWork(std::string_view Name, Order Orders) {
  return Orders == Order::Lose || Name.find("Async") != Name.npos ||
         Name.find("Batch") != Name.npos;
}

/// Whether a call, of which no more is known, may change attributes of a
/// function. What calls like cuFuncSetCacheConfig set is a preference.
static bool changesFunctions(std::string_view Name) {
  return (Name.starts_with("cuFuncSet") || Name.starts_with("cuKernelSet")) &&
         !Name.ends_with("Config");
}

static void tellChange(const DriverCall &C) {
  if (!C.isEnter())
    C.S.functionChanged();
}

static Order orderOf(std::string_view Name) {
  const Family *Longest = nullptr;
  for (const Family &F : Families)
    if (Name.starts_with(F.Prefix) &&
        (!Longest || F.Prefix.size() > Longest->Prefix.size()))
      Longest = &F;
  return Longest ? Longest->Orders : Order::Lose;
}

CallsToTell driverCallsToTell(const Cupti &Api) {
  // Without names it is not known what orders launches: the device is told
  // nothing of their order.
  if (!Api.GetCallbackName)
    theDriver().cuStreamWriteValue32 = nullptr;
  CallsToTell Wanted;
  for (CUpti_CallbackId Id = 1; Id < NumCalls; ++Id) {
    Entry &E = Table[Id];
    const char *Name = nullptr;
    if (Api.GetCallbackName &&
        Api.GetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, Id, &Name) ==
            CUPTI_SUCCESS &&
        Name && std::string_view(Name).starts_with("cu")) {
      E.Waits = waitsForKernels(Name);
      if (!E.Tell && changesFunctions(Name))
        E.Tell = tellChange;
      if (!E.Tell) {
        E.Orders = orderOf(Name);
        E.GivesWork = givesWork(Name, E.Orders);
      }
    }
    if (E.Orders == Order::TellLater)
      Wanted.Later.push_back(Id);
    else if (E.Tell || E.Orders != Order::None)
      Wanted.Always.push_back(Id);
  }
  return Wanted;
}

static void tellOrder(LaunchOrdering &Ordering, Order Orders, bool IsEnter) {
  switch (Orders) {
  case Order::None:
  case Order::Told:
  case Order::TellLater:
    return;
  case Order::Cut:
    return Ordering.cut();
  case Order::Lose:
    return IsEnter ? Ordering.losing() : Ordering.lost();
  }
}

/// Whatever call it is, it may be the first that meets a kernel's failure, or
/// lack the memory that metadata mode holds.
static void tellFailure(const DriverCall &Call) {
  const CUresult Result = Call.result();
  if (Result == CUDA_SUCCESS || Result == CUDA_ERROR_NOT_READY)
    return;
  theLog().detail(2, "{}: {}", Call.Data.functionName,
                  theDriver().errorName(Result));
  Call.S.synchronised(Call.Data.context, Result);
  if (Result == CUDA_ERROR_OUT_OF_MEMORY)
    Call.S.allocationFailed(Call.Data.context);
}

void tellDriverCall(Session &S, CUpti_CallbackId Id,
                    const CUpti_CallbackData &Data) {
  const Entry E = Id < NumCalls
                      ? Table[Id]
                      : Entry{.Orders = Order::Lose, .GivesWork = true};
  const DriverCall Call{S, Data, E.IsPerThread};
  if (E.Waits && !Call.isEnter())
    KernelWait::end();
  tellOrder(S.ordering(), E.Orders, Call.isEnter());
  if (Call.isEnter())
    hostChecks().pending().beginCall();
  else if (E.GivesWork)
    givenAnywhere(Call);
  if (E.Tell)
    E.Tell(Call);
  if (E.Waits && Call.isEnter())
    KernelWait::begin();
  if (!Call.isEnter())
    tellFailure(Call);
}

} // namespace crsan
