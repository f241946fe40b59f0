// SPDX-License-Identifier: Apache-2.0
// `cronlatch run`: signals first, then options, the command, the store; then Run decides and drive
// executes; then the report. A command that cannot be found is refused before any request is sent.
#include "core/run.h"

#include <functional>

#include "cli/programs.h"
#include "cli/report.h"
#include "cli/run_spec.h"
#include "cli/session.h"
#include "proc/drive.h"
#include "proc/posix_supervisor.h"
#include "proc/signal_reader.h"
#include "proc/startup.h"
#include "terminal/stdio.h"

namespace cronlatch {
namespace {

// What is checked before the first request to the store.
struct Prepared {
  Programs programs;
  RunSpec spec;
  std::unique_ptr<Backend> store;
};

Result<Prepared> prepare(const LoadedOptions& loaded, const Invocation& invocation,
                         const Log& log) {
  Result<Programs> programs = find_programs(loaded, invocation.environment);
  if (!programs) return programs.error();
  const Result<RunFacts> facts = read_run_facts(invocation.clock);
  if (!facts) return facts.error();
  Result<RunSpec> spec = make_run_spec(loaded.options, *facts);
  if (!spec) return spec.error();
  Result<std::unique_ptr<Backend>> store = open_store(store_spec(loaded, std::cref(log)));
  if (!store) return store.error();
  const Status reach = check_reach(loaded.options, (*store)->shared());
  if (!reach) return reach.error();
  return Prepared{std::move(programs).value(), std::move(spec).value(), std::move(store).value()};
}

Outcome run_under_lock(Prepared& prepared, const Options& options, const Invocation& invocation,
                       SignalReader& signals, const Log& log) {
  const bool leased = prepared.store->shared();
  if (leased)
    for (const LogLine& line : lease_warnings(options, prepared.spec.timings)) log(line);
  for (const LogLine& line : reach_warnings(leased)) log(line);
  prepared.programs.additions = [&](Fence fence) {
    return grant_variables(options, invocation.environment, fence, leased);
  };
  // Without a lease the lock is held until every descendant has ended: no deadline has to be met.
  PosixSupervisor supervisor(signals, leased ? Containment::cgroup : Containment::none,
                             leased && options.guardian == GuardianMode::automatic
                                 ? Guarding::where_needed
                                 : Guarding::none);
  Run run(prepared.spec);
  return drive(run, *prepared.store, supervisor, invocation.clock, log,
               std::move(prepared.programs));
}

}  // namespace

Result<CommandOutput> run_command(const Invocation& invocation) {
  Result<SignalReader> signals = SignalReader::open();
  if (!signals) return signals.error();
  harden_process();
  const Clock& clock = invocation.clock;
  const WallTime started = clock.wall();
  const Result<LoadedOptions> loaded = load_options(invocation, Operands::command);
  if (!loaded) {
    const Outcome outcome = report_unloadable(loaded.error(), invocation, write_stderr);
    return CommandOutput{"", exit_code(loaded.error()), outcome};
  }
  const Options& options = loaded->options;
  const Log log(options.log_format, options.log_level, clock, write_stderr);
  for (const LogLine& line : loaded->warnings) log(line);
  Result<Prepared> prepared = prepare(*loaded, invocation, log);
  if (!prepared) {
    const Outcome outcome = outcome_of(prepared.error(), options, started);
    log(line_of(outcome));
    return CommandOutput{"", report(outcome, options, nullptr, log, clock), outcome};
  }
  const Outcome outcome = run_under_lock(*prepared, options, invocation, *signals, log);
  return CommandOutput{"", report(outcome, options, prepared->store.get(), log, clock), outcome};
}

}  // namespace cronlatch
