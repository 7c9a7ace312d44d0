// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lines of `.loc` as debug locations.

#include "DebugLines.h"
#include "Types.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace crsan::lift {

DebugLines::DebugLines(const ptx::Module &From, Module &To)
    : Lines(From), To(To), Builder(To) {
  if (From.Files.empty())
    return;
  To.addModuleFlag(Module::Warning, "Debug Info Version",
                   DEBUG_METADATA_VERSION);
  To.addModuleFlag(Module::Max, "Dwarf Version", 2);
  DIFile *First = file(str(From.Files.front().Name));
  To.setSourceFileName(First->getFilename());
  Unit = Builder.createCompileUnit(
      DISourceLanguageName(dwarf::DW_LANG_C_plus_plus), First, "CRSan",
      /*isOptimized=*/true, "", 0, "", DICompileUnit::DebugDirectivesOnly);
}

DIFile *DebugLines::file(StringRef Path) {
  return Builder.createFile(Path, "");
}

/// A function that has been inlined is known by its name alone.
DISubprogram *DebugLines::subprogram(StringRef Name, StringRef Path,
                                     unsigned Line) {
  DISubprogram *&S = Subprograms[Name];
  if (!S) {
    DIFile *File = file(Path);
    S = Builder.createFunction(
        File, Name, Name, File, Line,
        Builder.createSubroutineType(Builder.getOrCreateTypeArray({})), Line,
        DINode::FlagZero,
        DISubprogram::SPFlagDefinition | DISubprogram::SPFlagOptimized);
  }
  return S;
}

/// The first instruction with a line, in the order of the text.
static int32_t firstLine(const ptx::Block &B) {
  for (const ptx::Statement &S : B.Statements) {
    int32_t Where = -1;
    if (const auto *I = std::get_if<ptx::Instruction>(&S))
      Where = I->Where;
    else if (const auto *Inner = std::get_if<std::unique_ptr<ptx::Block>>(&S))
      Where = firstLine(**Inner);
    if (Where >= 0)
      return Where;
  }
  return -1;
}

void DebugLines::enter(Function &F, const ptx::Function &From) {
  Known.clear();
  Current = nullptr;
  const int32_t First = Unit ? firstLine(*From.Body) : -1;
  if (First < 0)
    return;
  const ptx::SourceFrame Frame = Lines.at(First).back();
  Current = subprogram(F.getName(), str(Frame.File), Frame.Line);
  F.setSubprogram(Current);
}

DebugLoc DebugLines::at(const ptx::Instruction &I) {
  if (!Current)
    return DebugLoc();
  LLVMContext &C = To.getContext();
  if (I.Where < 0)
    return DILocation::get(C, 0, 0, Current);
  DILocation *&At = Known[I.Where];
  if (At)
    return At;
  const std::vector<ptx::SourceFrame> Frames = Lines.at(I.Where);
  DILocation *Outer = nullptr;
  for (const ptx::SourceFrame &Frame : reverse(Frames)) {
    DIScope *Scope =
        Outer ? subprogram(Frame.Function.empty() ? "(inlined)"
                                                  : str(Frame.Function),
                           str(Frame.File), 0)
              : Current;
    if (!Frame.File.empty() &&
        cast<DISubprogram>(Scope)->getFilename() != str(Frame.File))
      Scope = Builder.createLexicalBlockFile(cast<DISubprogram>(Scope),
                                             file(str(Frame.File)));
    Outer = DILocation::get(C, Frame.Line, Frame.Column, Scope, Outer);
  }
  At = Outer ? Outer : DILocation::get(C, 0, 0, Current);
  return At;
}

} // namespace crsan::lift
