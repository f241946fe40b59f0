// SPDX-License-Identifier: Apache-2.0
// `cronlatch store init`: creates what a store needs before its first use.
#include "base/text.h"
#include "cli/session.h"
#include "store/init.h"

namespace cronlatch {
namespace {

// A schema is created in one transaction, which waits for another one that creates it.
constexpr Seconds kInitTimeout{30};

Result<CommandOutput> print_definition(std::string_view url) {
  const std::string_view definition = store_definition(url);
  if (definition.empty())
    return Error{Code::usage, "this store has no definition to print",
                 "only a postgres:// store has a schema"};
  return CommandOutput{std::string(definition)};
}

}  // namespace

Result<CommandOutput> store_command(const Invocation& invocation) {
  if (parse_flags(invocation.arguments, Operands::nothing, kStoreFlags))
    return Error{Code::usage, "store: no action is given", "write: cronlatch store init"};
  const Result<LoadedOptions> loaded = load_options(invocation, Operands::name, kStoreFlags);
  if (!loaded) return loaded.error();
  if (loaded->operands.front() != "init")
    return Error{Code::usage, "store: unknown action " + quoted(loaded->operands.front()),
                 "write: cronlatch store init"};
  if (loaded->extras.contains(kPrint)) {
    // Without a URL it prints the only definition that there is.
    const bool is_given = loaded->origin("store") != "default";
    return print_definition(is_given ? loaded->options.store : "postgres:");
  }
  show_warnings(*loaded);
  const TimePoint give_up = invocation.clock.now() + loaded->options.connect_timeout + kInitTimeout;
  const Result<std::string> done = init_store(store_spec(*loaded, show_warning), give_up);
  if (!done) return done.error();
  return CommandOutput{*done + '\n'};
}

}  // namespace cronlatch
