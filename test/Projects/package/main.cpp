// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
int raced();
int main() { return raced(); }
