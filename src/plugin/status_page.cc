// SPDX-License-Identifier: Apache-2.0
#include "plugin/status_page.h"

#include <algorithm>

#include "base/text.h"
#include "labels/holder.h"
#include "plugin/json_fields.h"

namespace cronlatch::plugin {
namespace {

using kube::find;
using kube::Json;
using kube::string_at;

constexpr std::size_t kMaxBytes = 64U << 20;

JobCounters read_counters(const Json& object) {
  JobCounters counters;
  if (!object.is_object()) return counters;
  for (const auto& [key, value] : object.items())
    if (value.is_number_integer()) counters.values[key] = value.get<std::int64_t>();
  counters.last_success = time_at(object, {"last_success"});
  counters.last_skip = time_at(object, {"last_skip"});
  return counters;
}

// "shop/a" for the holder "shop/a@<own>"; the holder of another cluster unchanged.
std::string without_own(const std::string& holder, const std::string& own) {
  const std::string suffix = cluster_suffix(own);
  return holder.ends_with(suffix) ? holder.substr(0, holder.size() - suffix.size()) : holder;
}

LockStatus read_lock(const Json& object, const std::string& cluster) {
  LockStatus lock;
  lock.name = string_at(object, {"lock"});
  lock.state = printable_at(object, {"state"});
  lock.holder = without_own(printable_at(object, {"holder"}), cluster);
  lock.job = printable_at(object, {"job"});
  lock.fence = printable_at(object, {"fence"});
  lock.since = time_at(object, {"since"});
  lock.expires = time_at(object, {"expires"});
  lock.ttl = Millis(kube::number_at(object, {"ttl_ms"}).value_or(0));
  for (const Json& grant : kube::items_at(object, {"grants"}))
    lock.holders.push_back(without_own(printable_at(grant, {"holder"}), cluster));
  for (const Json& job : kube::items_at(object, {"jobs"}))
    if (const Json* const counters = find(job, {"counters"}))
      lock.jobs[string_at(job, {"job"})] = read_counters(*counters);
  return lock;
}

}  // namespace

std::int64_t JobCounters::get(std::string_view name) const {
  const auto at = values.find(name);
  return at == values.end() ? 0 : at->second;
}

bool LockStatus::is_held_by(std::string_view pod) const {
  if (holders.empty()) return holder == pod;
  return std::find(holders.begin(), holders.end(), pod) != holders.end();
}

std::string LockStatus::holder_text() const {
  if (holders.empty()) return holder;
  const std::size_t others = holders.size() - 1;
  if (others == 0) return holders.front();
  return holders.front() + " and " + std::to_string(others) + (others == 1 ? " other" : " others");
}

const LockStatus* StatusPage::find(std::string_view lock) const {
  const auto at = locks.find(lock);
  return at == locks.end() ? nullptr : &at->second;
}

const JobCounters* StatusPage::counters(std::string_view lock, std::string_view job) const {
  const LockStatus* const live = find(lock);
  if (live == nullptr) return nullptr;
  const auto at = live->jobs.find(job);
  return at == live->jobs.end() ? nullptr : &at->second;
}

Result<StatusPage> read_status_page(std::string_view text) {
  const auto json = kube::parse_json(text, {.bytes = kMaxBytes});
  if (!json) return json.error();
  if (kube::number_at(*json, {"v"}) != 1)
    return Error{Code::config, "the status page does not have version 1",
                 "use a plugin of the operator's version"};
  StatusPage page;
  page.store_up = kube::is_true(*json, {"store", "up"});
  page.read = time_at(*json, {"store", "read"});
  page.endpoint = printable_at(*json, {"store", "endpoint"});
  page.error = printable_at(*json, {"store", "error"});
  for (const Json& server : kube::items_at(*json, {"store", "servers"}))
    page.servers.push_back({printable_at(server, {"endpoint"}), printable_at(server, {"error"}),
                            kube::is_true(server, {"up"})});
  for (const Json& name : kube::items_at(*json, {"other_clusters"}))
    if (name.is_string()) page.other_clusters.push_back(printable(name.get<std::string>()));
  for (const Json& object : kube::items_at(*json, {"locks"})) {
    LockStatus lock = read_lock(object, string_at(*json, {"cluster"}));
    std::string name = lock.name;
    page.locks.insert_or_assign(std::move(name), std::move(lock));
  }
  return page;
}

}  // namespace cronlatch::plugin
