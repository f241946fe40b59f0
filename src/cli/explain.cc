// SPDX-License-Identifier: Apache-2.0
// `cronlatch explain`: what `run` would do if it started now. It acquires no lock, writes nothing,
// and starts no command.
#include <optional>

#include "base/duration.h"
#include "base/text.h"
#include "cli/forecast.h"
#include "cli/lock_text.h"
#include "cli/programs.h"
#include "cli/run_spec.h"
#include "cli/session.h"
#include "core/outcome.h"
#include "core/store_schemes.h"

namespace cronlatch {
namespace {

// The facts, before they are rendered.
struct ExplainFacts {
  const LoadedOptions& loaded;
  bool shared;
  Timings timings;
  std::optional<LockView> view;  // absent where the store did not answer
  std::optional<Micros> quarantine;
  Forecast forecast;
  std::string command;  // resolved; "" without one
};

std::vector<Row> lease_rows(const ExplainFacts& e) {
  if (!e.shared)
    return {{"lease", "none: the kernel holds the lock while the command's processes run"}};
  return {
      {"lease",
       show_duration(e.timings.ttl) + ", renewed every " + rounded_duration(e.timings.renew_every) +
           "; one request to the store takes at most " + rounded_duration(e.timings.op_timeout)},
      {"store outage", "a running command survives " +
                           rounded_duration(e.timings.outage_tolerance()) +
                           " without the store; then it gets TERM and, " +
                           rounded_duration(e.timings.grace) + " later, KILL"}};
}

// What the decision does not contain: an option, and what only a run checks.
std::vector<Row> unchecked(const ExplainFacts& e) {
  const Options& options = e.loaded.options;
  std::vector<Row> rows;
  if (!options.once_per.empty())
    rows.push_back({"once-per", options.once_per + ": skipped if it is running or done"});
  if (!options.attempt_group.empty())
    rows.push_back({"attempt-group",
                    options.attempt_group + ": waits for a busy lock if it was granted before"});
  if (options.strict) {
    const std::string replicas =
        store_transport(options.store) == StoreTransport::unknown
            ? "a synchronous standby acknowledges"
        : options.min_replicas == 1
            ? "1 replica acknowledges"
            : std::to_string(options.min_replicas) + " replicas acknowledge";
    rows.push_back({"strict", replicas + " each grant"});
  }
  if (store_layout(options.store) == StoreLayout::quorum)
    rows.push_back({"quorum", "a server that started less than " + show_duration(options.max_ttl) +
                                  " ago (max-ttl) grants no lock that it does not know"});
  for (Row& row : rows) row.back() += "; only run checks this";
  return rows;
}

std::string as_table(const ExplainFacts& e) {
  const Options& options = e.loaded.options;
  std::vector<Row> rows = {
      {"decision", std::string(name_of(e.forecast.decision)) + ": " + e.forecast.sentence},
      {"lock", options.lock + " (" + e.loaded.origin("lock") + ")"},
      {"store", options.store + (e.shared ? "" : ", on this host only") + " (" +
                    e.loaded.origin("store") + ")"}};
  if (e.view)
    for (Row& row : grant_rows(*e.view)) rows.push_back(std::move(row));
  if (e.quarantine) rows.push_back({"strict", quarantine_text(*e.quarantine)});
  for (Row& row : unchecked(e)) rows.push_back(std::move(row));
  for (Row& row : lease_rows(e)) rows.push_back(std::move(row));
  if (!e.command.empty()) rows.push_back({"command", e.command});
  return render_table(rows);
}

std::string as_json(const ExplainFacts& e) {
  const Options& options = e.loaded.options;
  JsonObject json;
  json.text("decision", name_of(e.forecast.decision)).text("because", e.forecast.sentence);
  json.number("exit_code", e.forecast.exit_code);
  json.text("lock", options.lock).text("store", options.store);
  json.json("shared", e.shared ? "true" : "false");
  json.json("state", e.view ? lock_json(*e.view) : "null");
  if (e.quarantine) json.number("quarantine_ms", std::chrono::ceil<Millis>(*e.quarantine).count());
  if (e.shared) {
    json.number("ttl_ms", e.timings.ttl.count());
    json.number("renew_every_ms", e.timings.renew_every.count());
    json.number("op_timeout_ms", e.timings.op_timeout.count());
    json.number("grace_ms", e.timings.grace.count());
    json.number("outage_tolerance_ms", e.timings.outage_tolerance().count());
  }
  std::vector<std::string> names;
  for (const Row& row : unchecked(e)) names.push_back(json_quoted(row.front()));
  json.json("unchecked", json_array(names));
  json.text_or_null("command", e.command);
  return json.str() + '\n';
}

// In the order of `run`: errors before the first request, errors of the store, the lock's state.
Forecast forecast_for(const Result<Programs>& programs, const Status& reach,
                      const Result<LockView>& seen, const Result<std::optional<Micros>>& quarantine,
                      const Options& options) {
  if (!programs) return forecast(programs.error(), options);
  if (!reach) return forecast(reach.error(), options);
  if (!seen) return forecast(seen.error(), options);
  if (!quarantine) return forecast(quarantine.error(), options);
  return in_quarantine(forecast(*seen, options), quarantine->value_or(Micros(0)), options);
}

}  // namespace

Result<CommandOutput> explain_command(const Invocation& invocation) {
  const Result<StoreSession> session =
      open_session(invocation, Operands::optional_command, kOutputFlags);
  if (!session) return session.error();
  const Options& options = session->loaded.options;
  if (options.lock.empty())
    return Error{Code::usage, "neither a lock nor a command is given",
                 "write cronlatch explain --lock NAME, or -- COMMAND"};
  const Result<Timings> timings = plan_timings(timing_options(options));
  if (!timings) return timings.error();
  const Result<Programs> programs = find_programs(session->loaded, invocation.environment);
  const Result<LockView> seen = session->store->show(options.lock, session->give_up);
  const Result<std::optional<Micros>> quarantine =
      seen ? session->store->quarantine(session->give_up) : std::optional<Micros>();
  const ExplainFacts explanation{
      session->loaded,
      session->store->shared(),
      *timings,
      seen ? std::optional(*seen) : std::nullopt,
      quarantine ? *quarantine : std::nullopt,
      forecast_for(programs, check_reach(options, session->store->shared()), seen, quarantine,
                   options),
      programs ? programs->command->path : ""};
  return CommandOutput{session->format == Format::table ? as_table(explanation)
                                                        : as_json(explanation)};
}

}  // namespace cronlatch
