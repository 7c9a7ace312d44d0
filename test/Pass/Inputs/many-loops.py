# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a kernel of 200 loops, each with one load."""

print('target triple = "nvptx64-nvidia-cuda"')
print("define ptx_kernel void @many(ptr addrspace(1) %p, i32 %n) {\n  br label %h0")
for i in range(200):
    print(f"""h{i}:
  br label %l{i}
l{i}:
  %i{i} = phi i32 [0, %h{i}], [%j{i}, %l{i}]
  %v{i} = load i32, ptr addrspace(1) %p
  %j{i} = add i32 %i{i}, 1
  %c{i} = icmp slt i32 %j{i}, %n
  br i1 %c{i}, label %l{i}, label %h{i + 1}""")
print("h200:\n  ret void\n}")
