// SPDX-License-Identifier: Apache-2.0
#include "operator/program.h"

#include <unistd.h>

#include <string_view>
#include <utility>

#include "base/text.h"
#include "core/outcome.h"
#include "operator/operator.h"

namespace cronlatch::op {
namespace {

void write_to_stderr(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

int fail(const Error& error) {
  const std::string hint = error.hint.empty() ? "" : " (" + printable(error.hint) + ")";
  write_to_stderr("cronlatch-operator: " + printable(error.message) + hint + "\n");
  return exit_code(error);
}

}  // namespace

int run_operator(const std::vector<std::string>& arguments, const EnvironmentVariable& environment,
                 const ServerTimeouts& timeouts) {
  const auto line = parse_command_line(arguments);
  if (!line) return fail(line.error());
  if (!line->print.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, line->print.data(), line->print.size());
    return written == static_cast<ssize_t>(line->print.size()) ? 0 : 1;
  }
  auto settings = read_settings(line->config, environment);
  if (!settings) return fail(settings.error());
  const TerminationSignal signal;
  Operator self(std::move(*settings), timeouts, write_to_stderr);
  if (const Status started = self.start(environment); !started) return fail(started.error());
  self.serve(signal);
  self.shutdown(signal);
  return 0;
}

}  // namespace cronlatch::op
