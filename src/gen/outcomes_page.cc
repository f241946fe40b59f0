// SPDX-License-Identifier: Apache-2.0
// docs/reference/exit-codes.md and docs/reference/outcomes.md.
#include "core/outcome.h"

#include "gen/markdown.h"
#include "gen/pages.h"

namespace cronlatch::gen {
namespace {

std::string code_for(Kind kind, Reason reason, Code error) {
  Outcome outcome;
  outcome.kind = kind;
  outcome.reason = reason;
  outcome.error = Error{error, ""};
  return std::to_string(exit_code(outcome, 0));
}

std::string codes_of(Kind kind) {
  switch (kind) {
    case Kind::ran:
      return "the command's own";
    case Kind::skipped:
      return code_for(kind, Reason::held, Code::bug) + ", or `exit-skipped`";
    case Kind::busy:
    case Kind::lost:
    case Kind::store_down:
    case Kind::timed_out:
      return code_for(kind, Reason::none, Code::bug);
    case Kind::usage:
      return code_for(kind, Reason::none, Code::usage);
    case Kind::refused:
      return code_for(kind, Reason::auth, Code::auth) +
             "; reason config: " + code_for(kind, Reason::config, Code::config);
    case Kind::interrupted:
      return "128+n";
    case Kind::cannot_start:
      return code_for(kind, Reason::exec, Code::exec_denied) + ", " +
             code_for(kind, Reason::exec, Code::exec_missing);
  }
  return "";
}

Outcome example_outcome() {
  Outcome outcome;
  outcome.kind = Kind::skipped;
  outcome.reason = Reason::held;
  outcome.lock = "reports/nightly";
  outcome.fence = 1'763'690'000'123'456;
  outcome.holder = "reports/nightly-29-abc";
  outcome.started = WallTime{1'795'226'400'000'000};
  return outcome;
}

}  // namespace

std::string exit_codes_page() {
  std::string out =
      "# Exit codes\n\n" + generated_from("`src/core`") + "\n" + header({"code", "meaning"});
  for (const ExitRow& r : exit_table()) out += row({std::string(r.code), std::string(r.meaning)});
  return out + R"(
A command can exit with the same code. The outcome ([outcomes.md](outcomes.md)) distinguishes both: a command that exits
with 75 has the outcome `ran`. The other subcommands return 0 for success, and the codes 64 to 78 as above.
)";
}

std::string outcomes_page() {
  std::string out = "# Outcomes\n\n" + generated_from("`src/core`") + R"(
The result of a run, as one line of JSON of at most 1,024 bytes. cronlatch writes it to the file in `outcome-file` and,
with `log-format=json`, as the last line of the log.

    )" + to_json(example_outcome(), 0) +
                    R"(

- `lock`, `fence`, `holder`: of this run if it ran; of the current holder if it was skipped or busy.
- `fence` is text, because some JSON readers do not keep the exact value of a number of this size.
- `waited_ms`: from the first request to the result. `held_ms`: from the grant to the end of the command.
- `since`, `until`: the lease of the current holder. Present only if known.
- `"stolen":true`: the lease of the last holder had expired without a release. Otherwise absent.
- `"not_marked":true`: the identity in `once-per` is done, but the store could not record it. Otherwise absent.

If the line is too long, cronlatch shortens the holder and then the lock; a shortened value ends in `...`.

## outcome

)" + header({"outcome", "meaning", "exit code"});
  for (const KindRow& r : kind_table())
    out += row({code(r.name), std::string(r.meaning), codes_of(r.kind)});
  out += "\n## reason\n\nEmpty if there is no further reason.\n\n" + header({"reason", "meaning"});
  for (const ReasonRow& r : reason_table()) out += row({code(r.name), std::string(r.meaning)});
  return out;
}

}  // namespace cronlatch::gen
