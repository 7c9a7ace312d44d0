// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of the objects in a module.
#ifndef CRSAN_ABI_NAMES_H
#define CRSAN_ABI_NAMES_H

#include <string_view>

namespace crsan::abi {

/// The Config. It is weak, so that the units of a relocatable program share
/// one.
inline constexpr char ConfigName[] = "__crsan_config";

// The following prefixes are completed by the identity of the translation unit,
// as 16 hexadecimal digits (ModuleHeader::Unit).

/// Site[NumSites].
inline constexpr char SitesPrefix[] = "__crsan_sites_";
/// Sampling[NumWindows].
inline constexpr char WindowsPrefix[] = "__crsan_windows_";
/// AccessSite[].
inline constexpr char AccessesPrefix[] = "__crsan_accesses_";
/// The site table (SiteTable.h).
inline constexpr char TablePrefix[] = "__crsan_table_";
/// uint32_t[NumSharedUses]: for each SharedUse, the address of the variable in
/// shared memory plus 1; 0 if no thread has executed the kernel's checks yet.
inline constexpr char SharedUsesPrefix[] = "__crsan_shared_uses_";

/// Completed by the name of a kernel: which of its exemptions hold in the grid
/// that began last (runtime/device/metadata/entry/Exemption.h).
inline constexpr char ExemptionsPrefix[] = "__crsan_exemptions_";
/// What is the program's although its name begins with `__crsan_`.
inline constexpr const char *ProgramPrefixes[] = {
    SitesPrefix, WindowsPrefix,    AccessesPrefix,
    TablePrefix, SharedUsesPrefix, ExemptionsPrefix};

/// The PTX of relocatable machine code, as a Zstandard frame, for the simulated
/// GPU: clang's device linker would drop PTX in any other place. Defined by
/// crsan-ptxas, and completed by a hash of the text.
inline constexpr char PTXPrefix[] = "__crsan_ptx_";
/// Completed by the name of a kernel, or of a function that a kernel calls: the
/// native twin of that function, which is not instrumented
/// (lib/Transforms/NativeTwin.h). Where nothing is to be checked, the library
/// launches a kernel's twin in its place
/// (runtime/inject/session/NativeTwins.h).
inline constexpr char TwinPrefix[] = "__crsan_twin_";
/// The same, of a kernel that its twin must not stand in for. crsan-ptxas asks
/// the twin for its registers, and removes it from the program.
inline constexpr char SpareTwinPrefix[] = "__crsan_spare_twin_";
/// The name that completes the name of a native twin of either kind; the name
/// itself if it is no twin's.
constexpr std::string_view nameOfTwinned(std::string_view Name) {
  for (const std::string_view Prefix :
       {std::string_view(TwinPrefix), std::string_view(SpareTwinPrefix)})
    if (Name.starts_with(Prefix))
      return Name.substr(Prefix.size());
  return Name;
}
constexpr bool isNativeTwin(std::string_view Name) {
  return nameOfTwinned(Name).size() != Name.size();
}
/// The lines by which the pass tells crsan-ptxas of functions begin with it.
inline constexpr char NotePrefix[] = "// crsan ";
/// A line of a module's PTX, completed by the name of a kernel whose twin
/// crsan-ptxas asks for its registers.
inline constexpr char AskedTwinComment[] = "// crsan twin asked: ";
/// A line of a module's PTX, completed by the name of a function in which no
/// lane waits for another (lib/Transforms/Polls.h).
inline constexpr char WaitlessComment[] = "// crsan waitless: ";
/// The same, completed by the name of a kernel that seems to need few registers
/// without checks, or many (lib/Transforms/RegisterNeed.h).
inline constexpr char FewRegistersComment[] = "// crsan few registers: ";
inline constexpr char ManyRegistersComment[] = "// crsan many registers: ";

/// In host code: the HostGate (Host.h) of an executable or a shared library,
/// and the section that has its HostUnits.
inline constexpr char HostGateName[] = "__crsan_host_gate";
inline constexpr char HostUnitsSection[] = "__crsan_host_units";

} // namespace crsan::abi

#endif // CRSAN_ABI_NAMES_H
