// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How an instrumented program is recognised.

#include "session/HostNote.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <link.h>

namespace crsan {

/// As Host.c writes it.
static constexpr char NoteOwner[] = "CRSan";

static bool holdsNote(const uint8_t *Bytes, size_t Size) {
  while (Size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) Header;
    std::memcpy(&Header, Bytes, sizeof(Header));
    auto Aligned = [](size_t N) { return (N + 3) & ~size_t(3); };
    size_t Total =
        sizeof(Header) + Aligned(Header.n_namesz) + Aligned(Header.n_descsz);
    if (Total > Size)
      return false;
    if (Header.n_namesz == sizeof(NoteOwner) &&
        std::memcmp(Bytes + sizeof(Header), NoteOwner, sizeof(NoteOwner)) == 0)
      return true;
    Bytes += Total;
    Size -= Total;
  }
  return false;
}

static int lookAt(dl_phdr_info *Object, size_t, void *Found) {
  for (ElfW(Half) I = 0; I < Object->dlpi_phnum; ++I) {
    const ElfW(Phdr) &Segment = Object->dlpi_phdr[I];
    if (Segment.p_type == PT_NOTE &&
        holdsNote(reinterpret_cast<const uint8_t *>(Object->dlpi_addr +
                                                    Segment.p_vaddr),
                  Segment.p_memsz))
      *static_cast<bool *>(Found) = true;
  }
  return *static_cast<bool *>(Found);
}

bool hasHostPart() {
  bool Found = false;
  dl_iterate_phdr(lookAt, &Found);
  return Found;
}

/// The tool writes 0 where a host part writes its process (runtime/host).
bool isRunByTool() {
  const char *Mark = std::getenv("CRSAN_HOST");
  return Mark && std::strncmp(Mark, "0:", 2) == 0;
}

} // namespace crsan
