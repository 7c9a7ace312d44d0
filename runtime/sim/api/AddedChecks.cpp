// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks for code of the program that was built without them.

#include "AddedChecks.h"

#include "common/Flags.h"
#include "common/Log.h"
#include "crsan/abi/Names.h"
#include "rewrite/Rewriter.h"
#include "session/Session.h"

namespace crsan::api {

void addChecks(CUlib_st &Image, const Flags &Options, Session *TheSession) {
  if (!TheSession || !Options.addsChecks())
    return;
  std::vector<std::string> Given = Image.PTX;
  for (std::string &Text : Image.PTX) {
    if (Text.find(abi::ConfigName) != Text.npos)
      continue;
    RewrittenCode Code = rewrite(std::move(Text), Options.detector);
    Text = std::move(Code.PTX);
    for (std::string &Line : uncheckedLines(Code, Image.Name))
      TheSession->note(std::move(Line));
    if (!Code.WhyNotCached.empty())
      TheSession->note("code with checks is not kept for the next run: " +
                       Code.WhyNotCached);
    if (!Code.Problem.empty())
      continue;
    Image.Given = Given;
    theLog().detail(1, "code of {} got checks ({}), {}", Image.Name,
                    Options.detector,
                    Code.WasCached ? "kept from an earlier run" : "made now");
  }
}

bool takeChecksOut(CUlib_st &Image, const std::string &Why,
                   Session *TheSession) {
  if (Image.Given.empty())
    return false;
  Image.PTX = std::move(Image.Given);
  Image.Given.clear();
  TheSession->note("code of " + Image.Name +
                   " is not checked: with checks it cannot be loaded: " + Why);
  return true;
}

} // namespace crsan::api
