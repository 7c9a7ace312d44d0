// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the program calls for copies and fills.

#include "operations/OperationSites.h"

#include "common/CallSites.h"

#include <algorithm>
#include <limits>

namespace crsan {

std::optional<uint32_t> OperationSites::find(const char *Operation,
                                             uint32_t CallSite) {
  // Some room is left for operations whose place is not told apart.
  constexpr size_t MostPlaces = abi::MaxOperationSites / 2, Reserve = 64;
  if (Places.size() >= MostPlaces - Reserve &&
      !Indices.contains({Operation, CallSite}))
    CallSite = 0;
  const auto [It, IsNew] =
      Indices.try_emplace({Operation, CallSite}, uint32_t(2 * Places.size()));
  if (!IsNew)
    return It->second;
  if (Places.size() == MostPlaces) {
    Indices.erase(It);
    return std::nullopt;
  }
  Places.push_back({Operation, CallSite});
  Sizes.resize(2 * Places.size());
  return It->second;
}

void OperationSites::noteBytes(uint32_t Index, uint64_t Bytes) {
  Size &S = Sizes[Index];
  S.IsOne &= S.Bytes == 0 || S.Bytes == Bytes;
  S.Bytes = Bytes;
}

std::optional<SiteInfo> OperationSites::find(uint64_t Id) const {
  const uint64_t Index = Id - FirstId;
  if (Index >= Sizes.size())
    return std::nullopt;
  const Place &P = Places[Index / 2];
  const bool Writes = Index % 2;
  SiteInfo Site;
  Site.Id = Id;
  Site.Access = Writes ? abi::AccessKind::Store : abi::AccessKind::Load;
  Site.Space = abi::Space::Global;
  Site.Flags = Writes ? abi::WritesMemory : abi::ReadsMemory;
  Site.Operation = P.Operation;
  if (const Size &S = Sizes[Index]; S.IsOne)
    Site.Size = uint32_t(
        std::min<uint64_t>(S.Bytes, std::numeric_limits<uint32_t>::max()));
  if (std::optional<SourceFrame> Line = callSites().frame(P.CallSite))
    Site.Frames = {std::move(*Line)};
  return Site;
}

} // namespace crsan
