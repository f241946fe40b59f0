// SPDX-License-Identifier: Apache-2.0
// `cronlatch store init`: creates what a store needs before its first use.
#include "base/text.h"
#include "cli/session.h"
#include "store/init.h"

namespace cronlatch {
namespace {

// A schema is created in one transaction, which waits for another one that creates it.
constexpr Seconds kInitTimeout{30};

// Without a URL it prints the only definition that there is. Other options have no effect.
Result<CommandOutput> print_definition(const Flags& flags) {
  std::string url = "postgres:";
  for (const Setting& setting : flags.settings)
    if (setting.option->key == "store") url = setting.text;
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
  const Result<Flags> flags = parse_flags(invocation.arguments, Operands::name, kStoreFlags);
  if (!flags) return flags.error();
  if (flags->operands.front() != "init")
    return Error{Code::usage, "store: unknown action " + quoted(flags->operands.front()),
                 "write: cronlatch store init"};
  if (flags->extras.contains(kPrint)) return print_definition(*flags);
  const Result<LoadedOptions> loaded = load_options(invocation, Operands::name, kStoreFlags);
  if (!loaded) return loaded.error();
  show_warnings(*loaded);
  const TimePoint give_up = invocation.clock.now() + loaded->options.connect_timeout + kInitTimeout;
  const Result<std::string> done = init_store(store_spec(*loaded, show_warning), give_up);
  if (!done) return done.error();
  return CommandOutput{*done + '\n'};
}

}  // namespace cronlatch
