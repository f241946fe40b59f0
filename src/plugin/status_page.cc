// SPDX-License-Identifier: Apache-2.0
#include "plugin/status_page.h"

#include "core/text.h"

namespace cronlatch::plugin {
namespace {

using kube::find;
using kube::Json;
using kube::string_at;

constexpr std::size_t kLargest = 64U << 20;
constexpr std::size_t kLongestShown = 300;

std::string shown(const Json& object, std::string_view key) {
  return printable(string_at(object, {key}), kLongestShown);
}

const std::vector<Json>& array_of(const Json* value) {
  static const std::vector<Json> kNone;
  return value != nullptr && value->is_array() ? value->get_ref<const std::vector<Json>&>() : kNone;
}

JobCounters read_counters(const Json& object) {
  JobCounters counters;
  if (!object.is_object()) return counters;
  for (const auto& [key, value] : object.items())
    if (value.is_number_integer()) counters.values[key] = value.get<std::int64_t>();
  counters.last_success = parse_time(string_at(object, {"last_success"}));
  counters.last_skip = parse_time(string_at(object, {"last_skip"}));
  return counters;
}

LiveLock read_lock(const Json& object) {
  LiveLock lock;
  lock.name = string_at(object, {"lock"});
  lock.state = shown(object, "state");
  lock.holder = shown(object, "holder");
  lock.job = shown(object, "job");
  lock.fence = shown(object, "fence");
  lock.since = parse_time(string_at(object, {"since"}));
  lock.expires = parse_time(string_at(object, {"expires"}));
  if (const Json* const ttl = find(object, {"ttl_ms"}); ttl != nullptr && ttl->is_number_integer())
    lock.ttl = Millis(ttl->get<std::int64_t>());
  for (const Json& job : array_of(find(object, {"jobs"})))
    if (const Json* const counters = find(job, {"counters"}))
      lock.jobs[string_at(job, {"job"})] = read_counters(*counters);
  return lock;
}

}  // namespace

std::int64_t JobCounters::get(std::string_view name) const {
  const auto at = values.find(name);
  return at == values.end() ? 0 : at->second;
}

const LiveLock* StatusPage::find(std::string_view lock) const {
  const auto at = locks.find(lock);
  return at == locks.end() ? nullptr : &at->second;
}

const JobCounters* StatusPage::counters(std::string_view lock, std::string_view job) const {
  const LiveLock* const live = find(lock);
  if (live == nullptr) return nullptr;
  const auto at = live->jobs.find(job);
  return at == live->jobs.end() ? nullptr : &at->second;
}

Result<StatusPage> read_status_page(std::string_view text) {
  const auto json = kube::parse_json(text, {.bytes = kLargest});
  if (!json) return json.error();
  const Json* const version = kube::find(*json, {"v"});
  if (version == nullptr || !version->is_number_integer() || version->get<std::int64_t>() != 1)
    return Error{Code::config, "the status page has not the version 1",
                 "is it a cronlatch operator of this version?"};
  StatusPage page;
  const Json* const up = kube::find(*json, {"store", "up"});
  page.store_up = up != nullptr && up->is_boolean() && up->get<bool>();
  page.read = parse_time(string_at(*json, {"store", "read"}));
  page.endpoint = printable(string_at(*json, {"store", "endpoint"}), kLongestShown);
  page.error = printable(string_at(*json, {"store", "error"}), kLongestShown);
  for (const Json& object : array_of(kube::find(*json, {"locks"}))) {
    LiveLock lock = read_lock(object);
    std::string name = lock.name;
    page.locks.insert_or_assign(std::move(name), std::move(lock));
  }
  return page;
}

}  // namespace cronlatch::plugin
