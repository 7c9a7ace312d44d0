// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of inlined functions that only DWARF has.

#include "PTX/InlinedNames.h"
#include "PTX/Lexer.h"

#include <unordered_map>

namespace crsan::ptx {

namespace {

/// The bytes of a section. A label or the name of a section is zeros: nothing
/// here is looked up by address.
std::string bytesOf(std::string_view Section) {
  std::string Bytes;
  unsigned Width = 1;
  auto Append = [&](uint64_t Value) {
    for (unsigned I = 0; I < Width; ++I)
      Bytes += static_cast<char>(Value >> 8 * I);
  };
  Lexer Lex(Section, /*IsInline=*/false);
  Lex.next(); // `.section` and its name.
  Lex.next();
  for (Token T = Lex.next(); !T.is(Token::Kind::End); T = Lex.next()) {
    if (T.isDotted(".b8") || T.isDotted(".b16") || T.isDotted(".b32") ||
        T.isDotted(".b64"))
      Width = unsigned(*integerValue(T.Text.substr(2)) / 8);
    else if (T.is(Token::Kind::Integer))
      Append(integerValue(T.Text).value_or(0));
    else if (T.is(Token::Kind::Name) || T.is(Token::Kind::Dotted))
      Append(0);
    else if (T.is('+') || T.is('-'))
      Lex.next(); // From a label.
  }
  return Bytes;
}

/// Numbers and strings of a section; at its end, zeros.
class Reader {
public:
  explicit Reader(std::string_view Bytes) : Bytes(Bytes) {}

  bool isAtEnd() const { return At >= Bytes.size(); }
  size_t position() const { return At; }
  void skip(uint64_t Count) {
    At = Count < Bytes.size() - At ? At + Count : Bytes.size();
  }

  uint64_t fixed(unsigned Width) {
    uint64_t Value = 0;
    for (unsigned I = 0; I < Width && !isAtEnd(); ++I)
      Value |= uint64_t(uint8_t(Bytes[At++])) << 8 * I;
    return Value;
  }
  uint64_t variable() {
    uint64_t Value = 0;
    for (unsigned Shift = 0; !isAtEnd(); Shift += 7) {
      const uint8_t Byte = uint8_t(Bytes[At++]);
      Value |= Shift < 64 ? uint64_t(Byte & 0x7f) << Shift : 0;
      if (!(Byte & 0x80))
        break;
    }
    return Value;
  }
  std::string_view string() {
    const size_t End = std::min(Bytes.find('\0', At), Bytes.size());
    std::string_view S = Bytes.substr(At, End - At);
    At = std::min(End + 1, Bytes.size());
    return S;
  }

private:
  std::string_view Bytes;
  size_t At = 0;
};

/// DW_TAG_, DW_AT_ and DW_FORM_ of the DWARF standard, versions 2 to 4.
enum : uint64_t { InlinedSubroutine = 0x1d };
enum : uint64_t {
  Name = 0x03,
  AbstractOrigin = 0x31,
  CallColumn = 0x57,
  CallFile = 0x58,
  CallLine = 0x59,
  LinkageName = 0x6e,
  MipsLinkageName = 0x2007,
};

struct Abbreviation {
  uint64_t Tag = 0;
  std::vector<std::pair<uint64_t, uint64_t>> Attributes; ///< And their forms.
};

std::unordered_map<uint64_t, Abbreviation>
abbreviationsOf(std::string_view Bytes) {
  std::unordered_map<uint64_t, Abbreviation> All;
  Reader R(Bytes);
  while (const uint64_t Code = R.variable()) {
    Abbreviation &A = All[Code];
    A.Tag = R.variable();
    R.skip(1); // Whether it has children.
    for (;;) {
      const uint64_t Attribute = R.variable(), Form = R.variable();
      if (!Attribute && !Form)
        break;
      A.Attributes.emplace_back(Attribute, Form);
    }
  }
  return All;
}

/// A string, if the form is one that is written in place, or a number.
struct AttributeValue {
  std::string_view Text;
  uint64_t Number = 0;
};

std::optional<AttributeValue> read(Reader &R, uint64_t Form) {
  switch (Form) {
  case 0x01: // addr
  case 0x07: // data8
    return AttributeValue{{}, R.fixed(8)};
  case 0x05: // data2
    return AttributeValue{{}, R.fixed(2)};
  case 0x06: // data4
  case 0x0e: // strp
  case 0x13: // ref4
  case 0x17: // sec_offset
    return AttributeValue{{}, R.fixed(4)};
  case 0x0b: // data1
  case 0x0c: // flag
    return AttributeValue{{}, R.fixed(1)};
  case 0x0d: // sdata
  case 0x0f: // udata
    return AttributeValue{{}, R.variable()};
  case 0x08: // string
    return AttributeValue{R.string(), 0};
  case 0x19: // flag_present
    return AttributeValue{};
  case 0x0a: // block1
    R.skip(R.fixed(1));
    return AttributeValue{};
  case 0x09: // block
  case 0x18: // exprloc
    R.skip(R.variable());
    return AttributeValue{};
  default:
    return std::nullopt;
  }
}

struct Call {
  uint64_t Origin = 0, File = 0, Line = 0, Column = 0;
};

/// The entries of a compilation unit that matter here.
struct Unit {
  std::unordered_map<uint64_t, std::string_view> Names; ///< By their offsets.
  std::vector<Call> Calls;
};

/// Reads the first unit: PTX has no more. At a form that is not known, what
/// has been read so far stands.
Unit unitOf(std::string_view Info,
            const std::unordered_map<uint64_t, Abbreviation> &Known) {
  Unit U;
  Reader R(Info);
  R.skip(4 + 2 + 4 + 1); // Length, version, abbreviations, size of addresses.
  while (!R.isAtEnd()) {
    const size_t Offset = R.position();
    const auto It = Known.find(R.variable());
    if (It == Known.end()) // 0 ends a list of children.
      continue;
    Call C;
    std::string_view Plain, Linkage;
    for (const auto &[Attribute, Form] : It->second.Attributes) {
      const std::optional<AttributeValue> V = read(R, Form);
      if (!V)
        return U;
      switch (Attribute) {
      case Name:
        Plain = V->Text;
        break;
      case LinkageName:
      case MipsLinkageName:
        Linkage = V->Text;
        break;
      case AbstractOrigin:
        C.Origin = V->Number;
        break;
      case CallFile:
        C.File = V->Number;
        break;
      case CallLine:
        C.Line = V->Number;
        break;
      case CallColumn:
        C.Column = V->Number;
        break;
      }
    }
    U.Names[Offset] = Linkage.empty() ? Plain : Linkage;
    if (It->second.Tag == InlinedSubroutine)
      U.Calls.push_back(C);
  }
  return U;
}

} // namespace

InlinedNames::InlinedNames(const Module &M) {
  std::string Abbreviations, Info;
  for (std::string_view Section : M.Sections) {
    Lexer Lex(Section, /*IsInline=*/false);
    Lex.next();
    const Token Which = Lex.next();
    if (Which.isDotted(".debug_abbrev"))
      Abbreviations = bytesOf(Section);
    else if (Which.isDotted(".debug_info"))
      Info = bytesOf(Section);
  }
  const Unit U = unitOf(Info, abbreviationsOf(Abbreviations));
  for (const Call &C : U.Calls) {
    const auto Callee = U.Names.find(C.Origin);
    if (Callee == U.Names.end())
      continue;
    const auto [It, IsNew] = ByCall.try_emplace({C.File, C.Line, C.Column},
                                                std::string(Callee->second));
    if (!IsNew && It->second != Callee->second)
      It->second.clear();
  }
}

std::string_view InlinedNames::find(uint32_t File, uint32_t Line,
                                    uint32_t Column) const {
  const auto It = ByCall.find({File, Line, Column});
  return It == ByCall.end() ? std::string_view() : It->second;
}

} // namespace crsan::ptx
