// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of a cubin.
#ifndef CRSAN_ASSEMBLER_MACHINECODE_H
#define CRSAN_ASSEMBLER_MACHINECODE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace crsan::assembler {

/// The machine code of a function, in the bytes of its object file. An
/// instruction of sm_70 and later has 16 bytes. Of each instruction, the lower
/// half is accessible here, which names the operation and its operands; the
/// upper half has modifiers, and which results the instruction waits for.
class MachineFunction {
public:
  MachineFunction(llvm::StringRef Name, llvm::MutableArrayRef<uint8_t> Bytes)
      : Name(Name), Bytes(Bytes) {}

  static constexpr size_t InstructionBytes = 16;

  llvm::StringRef Name;

  size_t size() const { return Bytes.size() / InstructionBytes; }
  uint64_t operator[](size_t I) const {
    return llvm::support::endian::read64le(&Bytes[I * InstructionBytes]);
  }
  void set(size_t I, uint64_t Half) {
    llvm::support::endian::write64le(&Bytes[I * InstructionBytes], Half);
  }

private:
  llvm::MutableArrayRef<uint8_t> Bytes;
};

/// Has `Change` change the bytes of a file in place. An error if it cannot be
/// written, or that of `Change`.
llvm::Error changeFile(
    const std::string &Path,
    llvm::function_ref<llvm::Error(llvm::MutableArrayRef<uint8_t>)> Change);

/// The functions of an object file that ptxas made; an error if it is none, or
/// incomplete. They are views of `Object`.
llvm::Expected<std::vector<MachineFunction>>
functionsOf(llvm::MutableArrayRef<uint8_t> Object);

/// Changes what the object file says of its kernels' register limits to what
/// `Permitted` returns for each. nvlink refuses a kernel that calls a function
/// with more registers than the kernel's limit. The kernel's code stays as it
/// is. An error if `Object` is no object file that ptxas made.
llvm::Error setRegisterLimits(
    llvm::MutableArrayRef<uint8_t> Object,
    llvm::function_ref<unsigned(llvm::StringRef Kernel)> Permitted);

} // namespace crsan::assembler

#endif // CRSAN_ASSEMBLER_MACHINECODE_H
