// SPDX-License-Identifier: Apache-2.0
// Termination messages of pods. Oracles: text is one short line, no time is negative, and every
// result can be written as a sentence of one line.
#include "fuzz/oracle.h"
#include "gated/run_result.h"

namespace {

using namespace cronlatch;

constexpr std::size_t kMaxText = 310;  // 300 bytes and the mark of a cut

void check_text(const std::string& text) {
  fuzz::must(text.size() <= kMaxText, "text is short");
  fuzz::must(fuzz::is_one_line(text), "text is one line");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const RunResult result = read_run_result(fuzz::text_of(bytes, size));
  for (const std::string* text :
       {&result.lock, &result.holder, &result.fence, &result.since, &result.until})
    check_text(*text);
  fuzz::must(result.waited.count() >= 0 && result.held.count() >= 0, "no time is negative");
  if (!result.kind) return 0;
  const std::string sentence = outcome_sentence(facts_of(result, *result.kind, 0));
  fuzz::must(!sentence.empty() && fuzz::is_one_line(sentence), "an outcome is one line");
  return 0;
}
