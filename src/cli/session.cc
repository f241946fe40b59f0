// SPDX-License-Identifier: Apache-2.0
#include "cli/session.h"

#include <sys/utsname.h>
#include <unistd.h>

#include "cli/run_spec.h"
#include "terminal/stdio.h"

namespace cronlatch {
namespace {

Host this_host() {
  Host host;
  host.uid = geteuid();
  host.pid = getpid();
  utsname names;
  if (uname(&names) == 0) host.name = names.nodename;
  return host;
}

// The value of `--lock` is the next argument, in any form; `--lock=x` and switches have none.
bool takes_next(const std::string& argument) {
  if (!argument.starts_with("--")) return false;
  const Option* option = find_option(std::string_view(argument).substr(2));
  return option != nullptr && !std::holds_alternative<bool Options::*>(option->field);
}

// Validated options always have timings.
Millis op_timeout(const Options& options) {
  return plan_timings(timing_options(options)).value().op_timeout;
}

}  // namespace

bool requests_help(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    if (arguments[i] == "--help" || arguments[i] == "-h") return true;
    if (takes_next(arguments[i])) ++i;
  }
  return false;
}

Result<LoadedOptions> load_options(const Invocation& invocation, Operands operands,
                                   std::span<const ExtraFlag> extras) {
  const LoadInput input{.args = invocation.arguments,
                        .environment = invocation.environment,
                        .operands = operands,
                        .extras = extras,
                        .password = invocation.password,
                        .ignored = invocation.ignored};
  return load(input, HostFiles(kPipeWait), this_host());
}

Result<Format> output_format(const LoadedOptions& loaded) {
  const auto given = loaded.extras.find(kOutputFlag.name);
  const auto long_form = loaded.extras.find(kLongOutputFlag.name);
  if (given != loaded.extras.end() && long_form != loaded.extras.end())
    return Error{Code::usage, "-o and --output are the same flag", "remove one of the two"};
  const auto& value = given == loaded.extras.end() ? long_form : given;
  return value == loaded.extras.end() ? Format::table : parse_format(value->second);
}

Status refuse_lock(const LoadedOptions& loaded, std::string_view subcommand) {
  if (loaded.origin("lock") != "flag") return Done{};
  return Error{Code::usage,
               std::string(subcommand) + " reads every lock: a flag that names one has no effect",
               "remove it, or read one lock: cronlatch show " + loaded.options.lock};
}

StoreSpec store_spec(const LoadedOptions& loaded, std::function<void(const LogLine&)> warn) {
  const Options& options = loaded.options;
  StoreSpec spec;
  spec.url = options.store;
  spec.username = options.redis_username;
  spec.password = loaded.password;
  spec.sentinel_username = options.sentinel_username;
  spec.sentinel_password = loaded.sentinel_password;
  spec.tls_ca = options.tls_ca;
  spec.tls_cert = options.tls_cert;
  spec.tls_key = options.tls_key;
  spec.tls_server_name = options.tls_server_name;
  spec.tls_skip_verify = options.tls_skip_verify;
  spec.key_prefix = options.key_prefix;
  spec.max_ttl = options.max_ttl;
  spec.strict = strict_settings(options);
  spec.credentials_now = [reader = loaded.credentials] { return reader->read(HostFiles()); };
  spec.warn = std::move(warn);
  return spec;
}

void show_warning(const LogLine& line) {
  write_stderr(render(line, LogFormat::text, WallTime{}) + '\n');
}

void show_warnings(const LoadedOptions& loaded) {
  for (const LogLine& line : loaded.warnings) show_warning(line);
}

Result<StoreSession> open_session(const Invocation& invocation, Operands operands,
                                  std::span<const ExtraFlag> extras) {
  Result<LoadedOptions> loaded = load_options(invocation, operands, extras);
  if (!loaded) return loaded.error();
  show_warnings(*loaded);
  const Result<Format> format = output_format(*loaded);
  if (!format) return format.error();
  Result<std::unique_ptr<Backend>> store = open_store(store_spec(*loaded, show_warning));
  if (!store) return store.error();
  const TimePoint give_up =
      invocation.clock.now() + loaded->options.connect_timeout + op_timeout(loaded->options);
  return StoreSession{std::move(loaded).value(), *format, std::move(store).value(), give_up};
}

}  // namespace cronlatch
