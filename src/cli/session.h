// SPDX-License-Identifier: Apache-2.0
// The first steps of most subcommands: load the options, open the store.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/subcommand.h"
#include "cli/subcommand_flags.h"
#include "config/load.h"
#include "core/lock_stats.h"
#include "store/open.h"
#include "terminal/table.h"

namespace cronlatch {

// --help or -h in the position of an option.
bool requests_help(const std::vector<std::string>& arguments);

Result<LoadedOptions> load_options(const Invocation& invocation, Operands operands,
                                   std::span<const ExtraFlag> extras = {});

// `warn` is called between connections, during the lifetime of the store.
StoreSpec store_spec(const LoadedOptions& loaded, std::function<void(const LogLine&)> warn);

// On standard error.
void show_warning(const LogLine& line);
// The warnings of loading, on standard error.
void show_warnings(const LoadedOptions& loaded);

// The value of -o or --output: a table where neither is given.
Result<Format> output_format(const LoadedOptions& loaded);

// Code::usage where a flag names a lock: `subcommand` reads every lock. A variable or a file may
// name one, for the runs that it was written for.
Status refuse_lock(const LoadedOptions& loaded, std::string_view subcommand);

// For a subcommand that reads the store. The store has not been contacted; warnings were printed.
struct StoreSession {
  LoadedOptions loaded;
  Format format = Format::table;
  std::unique_ptr<Backend> store;
  TimePoint give_up{};
};
Result<StoreSession> open_session(const Invocation& invocation, Operands operands,
                                  std::span<const ExtraFlag> extras = {});

}  // namespace cronlatch
