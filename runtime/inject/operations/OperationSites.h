// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the program calls for copies and fills.
#ifndef CRSAN_INJECT_OPERATIONS_OPERATIONSITES_H
#define CRSAN_INJECT_OPERATIONS_OPERATIONSITES_H

#include "Report/SiteTable.h"
#include "crsan/abi/Operation.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace crsan {

/// The places of operations: the sites of their reads and of their writes, in
/// all contexts. A place has two sites, which are neighbours: the reads first.
class OperationSites {
public:
  /// The index of the site of the place's reads. `CallSite`: of CallSites.
  /// None: there are too many.
  std::optional<uint32_t> find(const char *Operation, uint32_t CallSite);
  /// The operations at this site access so many bytes, as far as is known.
  void noteBytes(uint32_t Index, uint64_t Bytes);

  /// SiteEntry::Id of the site of an index.
  static uint64_t idOf(uint32_t Index) { return FirstId + Index; }
  /// The site of an id, as reports name it; none: it is no operation's.
  std::optional<SiteInfo> find(uint64_t Id) const;

private:
  /// No other site has such an id, which is a hash.
  static constexpr uint64_t FirstId = 0x6f706572'00000000;
  struct Place {
    std::string Operation;
    uint32_t CallSite = 0;
  };
  /// Of the operations of a site so far.
  struct Size {
    uint64_t Bytes = 0;
    bool IsOne = true; ///< They all had so many bytes.
  };

  std::map<std::pair<std::string, uint32_t>, uint32_t> Indices;
  std::vector<Place> Places;
  std::vector<Size> Sizes; ///< By index.
};

} // namespace crsan

#endif // CRSAN_INJECT_OPERATIONS_OPERATIONSITES_H
