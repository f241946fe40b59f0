// SPDX-License-Identifier: Apache-2.0
#include "operator/metrics/lock_stats_reader.h"

#include <utility>

#include "base/thread_name.h"

namespace cronlatch::op {
namespace {

constexpr MetricName kStoreUp{"cronlatch_store_up"};
constexpr MetricName kQuarantine{"cronlatch_store_quarantine_seconds"};
constexpr MetricName kSwitches{"cronlatch_store_switches_total"};
constexpr MetricName kStatsRead{"cronlatch_ledger_read_timestamp_seconds"};

// No workload can have this lock name: a namespace begins with a letter or a digit.
constexpr char kProbe[] = "_cluster/probe";

// An upper bound; names that are invented faster than they are forgotten would exceed it.
constexpr std::size_t kMaxLocks = 20'000;

}  // namespace

LockStatsReader::LockStatsReader(Dependencies dependencies)
    : deps_(std::move(dependencies)),
      endpoint_(deps_.endpoint),
      servers_(deps_.metrics, deps_.log) {
  deps_.metrics.set(kStoreUp, {{"endpoint", endpoint_}}, 0);
  deps_.metrics.set(kQuarantine, {}, 0);
  deps_.metrics.count(kSwitches, {}, 0);
}

LockStatsReader::~LockStatsReader() { stop(); }

void LockStatsReader::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) {
    name_thread("lock-stats");
    while (!stop.stop_requested()) {
      deps_.on_progress();
      step();
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, stop, deps_.timing.interval, [] { return false; });
    }
  });
}

void LockStatsReader::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

void LockStatsReader::step() {
  Result<std::vector<LockView>> found = read();
  servers_.report(states_);
  LockStatsUpdate update;
  update.servers = std::exchange(states_, {});
  if (found) {
    update.switched = follow_server();
    report_up();
    read_quarantine();
    update.locks = std::move(found).value();
  } else {
    lock_stats_.reset();  // the next read opens a connection with the then current credentials
    report_down(found.error());
    update.error = found.error().message;
  }
  deps_.listener(std::move(update));
}

Status LockStatsReader::open() {
  Result<Opened> access = deps_.access();
  if (!access) return access.error();
  if (lock_stats_ != nullptr && access->stamp == stamp_) return Done{};
  Result<std::unique_ptr<LockStats>> opened = access->open();
  if (!opened) return opened.error();
  lock_stats_ = std::move(opened).value();
  stamp_ = access->stamp;
  return Done{};
}

Result<std::vector<LockView>> LockStatsReader::read() {
  if (Status opened = open(); !opened) return opened.error();
  const TimePoint started = deps_.clock.now();
  const TimePoint give_up = started + deps_.timing.timeout;
  const Result<LockView> probe = lock_stats_->show(kProbe, give_up);
  update_servers();
  if (!probe) return probe.error();
  const TimePoint shown = deps_.clock.now();
  deps_.metrics.store_command("show", shown - started);
  Result<std::vector<LockView>> locks = lock_stats_->list(give_up, kMaxLocks);
  update_servers();
  if (locks) deps_.metrics.store_command("list", deps_.clock.now() - shown);
  return locks;
}

// After each call: the latency of a server is that of the first one, because the time of list()
// depends on the number of locks. A server is unavailable if one of the calls failed.
void LockStatsReader::update_servers() {
  const auto* const several = dynamic_cast<const ServerStates*>(lock_stats_.get());
  if (several == nullptr) return;
  std::vector<ServerState> now = several->server_states();
  if (states_.size() != now.size()) {
    states_ = std::move(now);
    return;
  }
  for (std::size_t i = 0; i < now.size(); ++i)
    if (states_[i].up()) states_[i].error = std::move(now[i].error);
}

// A user without the rights for it can still read the statistics.
void LockStatsReader::read_quarantine() {
  const auto left = lock_stats_->quarantine(deps_.clock.now() + deps_.timing.timeout);
  if (left) {
    quarantine_error_.clear();
    deps_.metrics.set(kQuarantine, {},
                      static_cast<double>(left->value_or(Micros(0)).count()) / 1e6);
  } else if (quarantine_error_.set(left.error().message)) {
    deps_.log({Level::warn,
               "quarantine_unknown",
               "cannot read whether the store is in quarantine: " + left.error().message,
               {{"endpoint", endpoint_}},
               left.error().hint});
  }
}

// One series at a time: that of a former server would look like an outage.
std::optional<ServerSwitch> LockStatsReader::follow_server() {
  const std::string server = lock_stats_->server();
  if (server.empty() || server == server_) return std::nullopt;
  std::optional<ServerSwitch> switched;
  if (!server_.empty()) {
    switched = ServerSwitch{server_, server, deps_.clock.wall()};
    deps_.metrics.count(kSwitches, {});
    deps_.log({Level::warn,
               "store_switched",
               "the store uses another server: " + server,
               {{"server", server}, {"before", server_}}});
  }
  deps_.metrics.remove(kStoreUp, {{"endpoint", endpoint_}});
  endpoint_ = server_ = server;
  return switched;
}

void LockStatsReader::report_up() {
  deps_.metrics.set(kStoreUp, {{"endpoint", endpoint_}}, 1);
  deps_.metrics.set(kStatsRead, {}, static_cast<double>(deps_.clock.wall().us) / 1e6);
  if (last_error_.clear())
    deps_.log({Level::info,
               "store_read",
               "read the lock statistics of the store",
               {{"endpoint", endpoint_}}});
}

void LockStatsReader::report_down(const Error& error) {
  deps_.metrics.set(kStoreUp, {{"endpoint", endpoint_}}, 0);
  if (last_error_.set(error.message))
    deps_.log({Level::warn,
               "store_down",
               "cannot read the lock statistics of the store: " + error.message,
               {{"endpoint", endpoint_}},
               error.hint});
}

}  // namespace cronlatch::op
