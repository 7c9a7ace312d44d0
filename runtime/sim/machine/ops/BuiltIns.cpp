//===- BuiltIns.cpp - Functions that the machine provides: printf, assert,
// malloc ===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Decoder.h"
#include "Device.h"

#include <cstdio>
#include <fmt/format.h>

using namespace crsan::sim;

namespace {

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

uint64_t argument(Execution &X, const Instruction &I, size_t N, unsigned Lane) {
  const Slot &S = I.Call->Arguments.at(N);
  uint64_t V = 0;
  if (S.IsRow)
    return X.value(S.Row, Lane);
  std::memcpy(&V, X.local(Lane, X.F->Top->LocalBase + S.Offset),
              std::min(S.Size, 8u));
  return V;
}

void giveResult(Execution &X, const Instruction &I, unsigned Lane, uint64_t V) {
  if (I.Call->Results.empty())
    return;
  const Slot &S = I.Call->Results[0];
  if (S.IsRow)
    X.setValue(S.Row, Lane, V);
  else
    std::memcpy(X.local(Lane, X.F->Top->LocalBase + S.Offset), &V,
                std::min(S.Size, 8u));
}

/// Bytes at a generic address; false: faulted.
bool fetch(Execution &X, const Instruction &I, unsigned Lane, uint64_t Address,
           void *To, uint32_t Size) {
  Referent At = X.resolve(crsan::ptx::StateSpace::Generic, I, Lane, Address,
                          {{ReadsMemory}, Size, 1});
  if (At.Bytes)
    std::memcpy(To, At.Bytes, Size);
  return At.Bytes;
}

std::optional<std::string> fetchString(Execution &X, const Instruction &I,
                                       unsigned Lane, uint64_t Address) {
  std::string Text;
  for (char C; Text.size() < 65536; Text += C) {
    if (!fetch(X, I, Lane, Address + Text.size(), &C, 1))
      return std::nullopt;
    if (!C)
      break;
  }
  return Text;
}

//===----------------------------------------------------------------------===//
// printf
//===----------------------------------------------------------------------===//

/// One conversion of a format: "%-8.3lld" with its stars replaced.
class Formatter {
public:
  Formatter(Execution &X, const Instruction &I, unsigned Lane,
            uint64_t Arguments)
      : X(X), I(I), Lane(Lane), Next(Arguments) {}

  std::optional<std::string> run(const std::string &Format) {
    std::string Out;
    for (size_t At = 0; At < Format.size();) {
      if (Format[At] != '%') {
        Out += Format[At++];
        continue;
      }
      if (At + 1 < Format.size() && Format[At + 1] == '%') {
        Out += '%';
        At += 2;
        continue;
      }
      if (!convert(Format, At, Out))
        return std::nullopt;
    }
    return Out;
  }
  int count() const { return Count; }

private:
  template <class T> bool take(T &V) {
    Next = (Next + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    bool Ok = fetch(X, I, Lane, Next, &V, sizeof(T));
    Next += sizeof(T);
    ++Count;
    return Ok;
  }

  template <class T> static std::string print(const std::string &Spec, T V) {
    char Buffer[512];
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-nonliteral"
    std::snprintf(Buffer, sizeof Buffer, Spec.c_str(), V);
#pragma clang diagnostic pop
    return Buffer;
  }

  bool convert(const std::string &Format, size_t &At, std::string &Out) {
    std::string Spec = "%";
    unsigned Longs = 0, Shorts = 0;
    for (++At; At < Format.size(); ++At) {
      char C = Format[At];
      if (std::string_view("-+ #0123456789.").find(C) !=
          std::string_view::npos) {
        Spec += C;
      } else if (C == '*') {
        int32_t Width;
        if (!take(Width))
          return false;
        Spec += std::to_string(Width);
      } else if (C == 'l' || C == 'j' || C == 'z' || C == 't') {
        ++Longs;
      } else if (C == 'h') {
        ++Shorts;
      } else {
        break;
      }
    }
    if (At == Format.size())
      return true;
    return finish(Format[At++], Spec, Longs, Shorts, Out);
  }

  bool finish(char C, const std::string &Spec, unsigned Longs, unsigned Shorts,
              std::string &Out) {
    if (std::string_view("diuoxX").find(C) != std::string_view::npos) {
      bool IsSigned = C == 'd' || C == 'i';
      int64_t V;
      if (Longs) {
        if (!take(V))
          return false;
      } else {
        int32_t Short;
        if (!take(Short))
          return false;
        V = IsSigned ? int64_t(Short) : int64_t(uint32_t(Short));
        if (Shorts == 1)
          V = IsSigned ? int64_t(int16_t(V)) : int64_t(uint16_t(V));
        if (Shorts > 1)
          V = IsSigned ? int64_t(int8_t(V)) : int64_t(uint8_t(V));
      }
      Out += print(Spec + "ll" + C, static_cast<long long>(V));
      return true;
    }
    if (std::string_view("fFeEgGaA").find(C) != std::string_view::npos) {
      double V;
      if (!take(V))
        return false;
      Out += print(Spec + C, V);
      return true;
    }
    if (C == 'c') {
      int32_t V;
      if (!take(V))
        return false;
      Out += print(Spec + C, V);
      return true;
    }
    uint64_t V;
    if (!take(V))
      return false;
    if (C == 'p') {
      Out += print(Spec + C, reinterpret_cast<void *>(V));
      return true;
    }
    if (C == 's') {
      auto Text = fetchString(X, I, Lane, V);
      if (Text)
        Out += Spec == "%" ? *Text : print(Spec + C, Text->c_str());
      return Text.has_value();
    }
    Out += Spec + C;
    return true;
  }

  Execution &X;
  const Instruction &I;
  unsigned Lane;
  uint64_t Next;
  int Count = 0;
};

void show(Device &D, std::string_view Text) {
  if (D.Opt.Print)
    D.Opt.Print(Text);
  else
    std::fwrite(Text.data(), 1, Text.size(), stdout);
}

Outcome vprintf(Execution &X, const Instruction &I) {
  for (uint32_t M = X.Mask; M; M &= M - 1) {
    unsigned L = std::countr_zero(M);
    auto Format = fetchString(X, I, L, argument(X, I, 0, L));
    if (!Format)
      return Outcome::Faulted;
    Formatter Fmt(X, I, L, argument(X, I, 1, L));
    auto Text = Fmt.run(*Format);
    if (!Text)
      return Outcome::Faulted;
    show(X.D, *Text);
    giveResult(X, I, L, uint32_t(Fmt.count()));
  }
  return Outcome::Next;
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

Outcome assertfail(Execution &X, const Instruction &I) {
  unsigned L = std::countr_zero(X.Mask);
  auto Message = fetchString(X, I, L, argument(X, I, 0, L)),
       File = fetchString(X, I, L, argument(X, I, 1, L)),
       Fn = fetchString(X, I, L, argument(X, I, 3, L));
  if (!Message || !File || !Fn)
    return Outcome::Faulted;
  return X.failAssertion(I, L, fmt::format("assertion `{}` failed", *Message),
                         {*File, uint32_t(argument(X, I, 2, L)), 0, *Fn});
}

Outcome allocateOnHeap(Execution &X, const Instruction &I) {
  for (uint32_t M = X.Mask; M; M &= M - 1) {
    unsigned L = std::countr_zero(M);
    uint64_t Bytes = argument(X, I, 0, L);
    void *P = Bytes ? X.D.allocate(Bytes, 16) : nullptr;
    giveResult(X, I, L, reinterpret_cast<uint64_t>(P));
  }
  return Outcome::Next;
}

Outcome freeOnHeap(Execution &X, const Instruction &I) {
  for (uint32_t M = X.Mask; M; M &= M - 1) {
    unsigned L = std::countr_zero(M);
    uint64_t Address = argument(X, I, 0, L);
    if (Address && !X.D.release(reinterpret_cast<void *>(Address)))
      return X.fault(
          I, L, Fault::Kind::InvalidAddress,
          fmt::format("free of 0x{:x}, which is not allocated", Address),
          Address);
  }
  return Outcome::Next;
}

} // namespace

Handler crsan::sim::findBuiltIn(std::string_view Name) {
  if (Name == "vprintf")
    return vprintf;
  if (Name == "__assertfail")
    return assertfail;
  if (Name == "malloc")
    return allocateOnHeap;
  if (Name == "free")
    return freeOnHeap;
  return nullptr;
}
