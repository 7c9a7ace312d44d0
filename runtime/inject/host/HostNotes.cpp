// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What host code has accessed while work was pending.

#include "host/HostNotes.h"

#include <algorithm>

namespace crsan {

static void raise(std::atomic<uint32_t> &To, uint32_t Value) {
  uint32_t Was = To;
  while (Was < Value && !To.compare_exchange_weak(Was, Value))
    ;
}

void HostNotes::end() {
  IsOver = true;
  forget();
}

void HostNotes::given(uint32_t Run) { raise(Limit, Run + 1); }

void HostNotes::add(const abi::HostSite &Site, uint64_t Address,
                    uint64_t Bytes) {
  const uint32_t Below = Limit;
  if (Below == 0)
    return;
  ++Wanted;
  if (Site.Number == 0 || Site.Number > abi::MaxHostSites)
    return;
  if (NumTaken.fetch_add(1) < Slots.size())
    for (Slot &S : Slots) {
      State Was = State::Free;
      if (!S.Is.compare_exchange_strong(Was, State::Writing))
        continue;
      // Before the access: whoever launches after it finds this.
      raise(Newest, Below);
      S.Note = {.Address = Address,
                .Id = Site.Id,
                .Bytes =
                    uint32_t(std::min<uint64_t>(Bytes, abi::MostNotedBytes)),
                .Limit = Below,
                .Number = Site.Number,
                .Writes = Site.Access != abi::AccessKind::Load};
      S.Is = State::Full;
      return;
    }
  --NumTaken;
}

template <typename Function> void HostNotes::takeAll(Function Do) {
  for (Slot &S : Slots) {
    State Was = State::Full;
    if (!S.Is.compare_exchange_strong(Was, State::Writing))
      continue;
    Do(S.Note);
    S.Is = State::Free;
    --NumTaken;
  }
}

uint32_t HostNotes::take(std::span<abi::HostNote, abi::NumHostNotes> To) {
  uint32_t Count = 0;
  takeAll([&](const abi::HostNote &N) { To[Count++] = N; });
  return Count;
}

void HostNotes::forget() {
  takeAll([](const abi::HostNote &) {});
}

} // namespace crsan
