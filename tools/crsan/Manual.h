// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Texts that are made from the tables of options.
#ifndef CRSAN_TOOLS_CRSAN_MANUAL_H
#define CRSAN_TOOLS_CRSAN_MANUAL_H

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace crsan {

/// The commands that help lists.
std::vector<const CLI::App *> commandsOf(const CLI::App &App);

/// " TEXT", " {sim,gpu}"; "" of a flag.
std::string typeWords(const CLI::Option &Option);

std::string toolPage(const CLI::App &App); ///< crsan.1
std::string clangPage();                   ///< crsan-clang++.1
std::string nvccPage();                    ///< crsan-nvcc.1
std::string ptxasPage();                   ///< crsan-ptxas.1
std::string bashCompletion(const CLI::App &App);
std::string zshCompletion(const CLI::App &App);

} // namespace crsan

#endif // CRSAN_TOOLS_CRSAN_MANUAL_H
