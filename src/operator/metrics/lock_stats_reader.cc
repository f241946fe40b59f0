// SPDX-License-Identifier: Apache-2.0
#include "operator/metrics/lock_stats_reader.h"

#include <utility>

namespace cronlatch::op {
namespace {

constexpr MetricName kStoreUp{"cronlatch_store_up"};
constexpr MetricName kReadAt{"cronlatch_ledger_read_timestamp_seconds"};

// What no workload's lock can be called: a namespace begins with a letter or a digit.
constexpr char kProbe[] = "_cluster/probe";

// More locks than any fleet has; beyond, somebody makes them faster than we forget them.
constexpr std::size_t kMostLocks = 20'000;

}  // namespace

LockStatsReader::LockStatsReader(Parts parts) : parts_(std::move(parts)) {
  parts_.metrics.set(kStoreUp, {{"endpoint", parts_.endpoint}}, 0);
}

LockStatsReader::~LockStatsReader() { stop(); }

void LockStatsReader::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      step();
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, stop, parts_.timing.every, [] { return false; });
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
  LockStatsUpdate news;
  if (found) {
    tell_up();
    news.locks = std::move(found).value();
  } else {
    lock_stats_.reset();  // a fresh connection, with the credentials of then
    tell_down(found.error());
    news.error = found.error().message;
  }
  parts_.listener(std::move(news));
}

Status LockStatsReader::open() {
  Result<Opened> access = parts_.access();
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
  const TimePoint began = parts_.clock.now();
  const TimePoint give_up = began + parts_.timing.patience;
  if (const Result<LockView> probe = lock_stats_->show(kProbe, give_up); !probe)
    return probe.error();
  const TimePoint shown = parts_.clock.now();
  parts_.metrics.store_command("show", shown - began);
  Result<std::vector<LockView>> locks = lock_stats_->list(give_up, kMostLocks);
  if (locks) parts_.metrics.store_command("list", parts_.clock.now() - shown);
  return locks;
}

void LockStatsReader::tell_up() {
  parts_.metrics.set(kStoreUp, {{"endpoint", parts_.endpoint}}, 1);
  parts_.metrics.set(kReadAt, {}, static_cast<double>(parts_.clock.wall().us) / 1e6);
  if (trouble_ != "")
    parts_.log({Level::info,
                "store_read",
                "the store's ledger can be read",
                {{"endpoint", parts_.endpoint}}});
  trouble_ = "";
}

void LockStatsReader::tell_down(const Error& error) {
  parts_.metrics.set(kStoreUp, {{"endpoint", parts_.endpoint}}, 0);
  if (trouble_ != error.message)
    parts_.log({Level::warn,
                "store_down",
                "cannot read the store's ledger: " + error.message,
                {{"endpoint", parts_.endpoint}},
                error.hint});
  trouble_ = error.message;
}

}  // namespace cronlatch::op
