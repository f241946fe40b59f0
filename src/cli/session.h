// SPDX-License-Identifier: Apache-2.0
// What most subcommands begin with: options from this process's surroundings, and the store that
// they name.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/subcommand.h"
#include "config/load.h"
#include "core/lock_stats.h"
#include "store/open.h"
#include "terminal/table.h"

namespace cronlatch {

inline constexpr std::array kOutputFlag = {ExtraFlag{"-o", true}};

// --help or -h where an option could stand.
bool wants_help(const std::vector<std::string>& arguments);

Result<Loaded> load_options(const Invocation& invocation, Rest rest,
                            std::span<const ExtraFlag> extras = {});

// `warn` is called between connections, as long as the store lives.
StoreSpec store_spec(const Loaded& loaded, std::function<void(const LogLine&)> warn);

// On standard error.
void show_warning(const LogLine& line);
// The warnings of loading, on standard error.
void show_warnings(const Loaded& loaded);

// The value of -o: a table where it is not given.
Result<Format> output_format(const Loaded& loaded);

// A subcommand that asks the ledger. Nothing has been contacted yet; warnings have been shown.
struct Session {
  Loaded loaded;
  Format format = Format::table;
  std::unique_ptr<Backend> store;
  TimePoint give_up{};
};
Result<Session> open_session(const Invocation& invocation, Rest rest,
                             std::span<const ExtraFlag> extras = {});

}  // namespace cronlatch
