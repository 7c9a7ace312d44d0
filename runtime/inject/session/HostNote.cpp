// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How an instrumented program is recognised.

#include "session/HostNote.h"

#include "host/Notes.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <link.h>

namespace crsan {

static constexpr char NoteOwner[] = "CRSan";

/// The types of the notes in an object, a bit each (HostNote.h).
static uint32_t notesIn(const uint8_t *Bytes, size_t Size) {
  uint32_t Types = 0;
  while (Size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) Header;
    std::memcpy(&Header, Bytes, sizeof(Header));
    auto Aligned = [](size_t N) { return (N + 3) & ~size_t(3); };
    size_t Total =
        sizeof(Header) + Aligned(Header.n_namesz) + Aligned(Header.n_descsz);
    if (Total > Size)
      break;
    if (Header.n_namesz == sizeof(NoteOwner) && Header.n_type < 32 &&
        std::memcmp(Bytes + sizeof(Header), NoteOwner, sizeof(NoteOwner)) == 0)
      Types |= uint32_t(1) << Header.n_type;
    Bytes += Total;
    Size -= Total;
  }
  return Types;
}

static int lookAt(dl_phdr_info *Object, size_t, void *Parts) {
  uint32_t Types = 0;
  for (ElfW(Half) I = 0; I < Object->dlpi_phnum; ++I) {
    const ElfW(Phdr) &Segment = Object->dlpi_phdr[I];
    if (Segment.p_type == PT_NOTE)
      Types |= notesIn(reinterpret_cast<const uint8_t *>(Object->dlpi_addr +
                                                         Segment.p_vaddr),
                       Segment.p_memsz);
  }
  auto &Found = *static_cast<HostParts *>(Parts);
  if (Types >> CRSAN_HOST_PART_NOTE & 1) {
    Found.AllTellRefusals = (!Found.Exist || Found.AllTellRefusals) &&
                            (Types >> CRSAN_WRAPS_NOTE & 1) != 0;
    Found.Exist = true;
  }
  return 0;
}

HostParts findHostParts() {
  HostParts Found;
  dl_iterate_phdr(lookAt, &Found);
  return Found;
}

/// The tool writes 0 where a host part writes its process (runtime/host).
bool isRunByTool() {
  const char *Mark = std::getenv("CRSAN_HOST");
  return Mark && std::strncmp(Mark, "0:", 2) == 0;
}

} // namespace crsan
