// SPDX-License-Identifier: Apache-2.0
// The locks of all masters: one scan of the keys, then the records of the locks from the masters of
// their hash slots.
#include "store/redis/cluster_store.h"

#include <algorithm>
#include <iterator>

#include "base/kernel_clock.h"
#include "store/limit_views.h"
#include "store/redis/cluster_route.h"

namespace cronlatch::redis {
namespace {

constexpr std::size_t kBatch = 200;         // locks per round trip
constexpr const char* kScanCount = "1000";  // keys that one SCAN visits

std::string escaped(const std::string& prefix) {
  std::string pattern;
  for (const char c : prefix) {
    if (c == '*' || c == '?' || c == '[' || c == ']' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return pattern;
}

Error unreadable(const std::string& where) {
  return {Code::unreachable, "redis at " + where + ": a reply of an unexpected type",
          "check that a node of a Redis Cluster listens on this port"};
}

std::string list_of(const std::vector<StoreHost>& nodes) {
  std::string list;
  for (const StoreHost& node : nodes) list += (list.empty() ? "" : ",") + node.where();
  return list;
}

RedisConfig for_cluster(RedisConfig config, const std::vector<StoreHost>& nodes) {
  config.login.role = ServerRole::node;
  config.login.where = list_of(nodes);
  config.has_index = false;
  return config;
}

}  // namespace

ClusterStore::ClusterStore(RedisConfig config, std::vector<StoreHost> nodes)
    : config_(for_cluster(std::move(config), nodes)),
      locks_(config_, std::make_unique<ClusterRoute>(nodes)) {}

ClusterStore::~ClusterStore() = default;

RedisStore& ClusterStore::master_at(const StoreHost& host) {
  std::unique_ptr<RedisStore>& store = masters_[host.where()];
  if (store == nullptr)
    store = std::make_unique<RedisStore>(
        config_, std::make_unique<ClusterRoute>(std::vector<StoreHost>{host}));
  return *store;
}

Result<std::vector<HashSlotRange>> ClusterStore::read_hash_slots(TimePoint give_up) {
  const auto answers = locks_.ask({{"CLUSTER", "SLOTS"}}, give_up);
  if (!answers) return answers.error();
  auto ranges = parse_hash_slots(answers->front());
  if (!ranges) return unreadable(config_.login.where);
  for (HashSlotRange& range : *ranges)
    if (range.master.host.empty()) range.master.host = locks_.node_host();
  if (const std::size_t missing = uncovered_hash_slots(*ranges); missing > 0)
    return Error{Code::unreachable,
                 "the Redis Cluster has " + std::to_string(missing) +
                     " hash slots without a master, so that some locks cannot be read",
                 "see CLUSTER INFO and CLUSTER SLOTS on a node"};
  return std::move(*ranges);
}

Result<std::vector<LockView>> ClusterStore::list(TimePoint give_up, std::size_t max_locks) {
  const auto ranges = read_hash_slots(give_up);
  if (!ranges) return ranges.error();
  if (!next_scan_ || boot_now() >= *next_scan_)
    if (Status scanned = scan(*ranges, give_up); !scanned) return scanned.error();
  std::vector<const StoreHost*> owners(kHashSlots, nullptr);
  std::map<std::string, std::pair<StoreHost, std::vector<std::string>>> by_master;
  for (const HashSlotRange& range : *ranges)
    for (std::size_t number = range.first; number <= range.last; ++number)
      owners[number] = &range.master;
  for (const std::string& name : names_) {
    const StoreHost& owner = *owners[hash_slot_of(record_key(config_.key_prefix, name))];
    auto& part = by_master[owner.where()];
    part.first = owner;
    part.second.push_back(name);
  }
  std::vector<LockView> all;
  for (const auto& [where, part] : by_master)
    if (Status added = add_views(all, part.first, part.second, give_up); !added)
      return added.error();
  // A lock without keys is forgotten.
  names_.clear();
  for (const LockView& view : all) names_.insert(view.lock);
  limit_views(all, max_locks);
  return all;
}

Status ClusterStore::add_views(std::vector<LockView>& all, const StoreHost& host,
                               const std::vector<std::string>& names, TimePoint give_up) {
  std::vector<std::string> moved;
  for (std::size_t from = 0; from < names.size(); from += kBatch) {
    const std::vector<std::string> batch(
        names.begin() + static_cast<std::ptrdiff_t>(from),
        names.begin() + static_cast<std::ptrdiff_t>(std::min(from + kBatch, names.size())));
    auto views = master_at(host).read_views(batch, give_up, moved);
    if (!views) return views.error();
    std::move(views->begin(), views->end(), std::back_inserter(all));
  }
  // Their hash slots are being moved: each is read through the redirections.
  for (const std::string& lock : moved) {
    auto view = locks_.show(lock, give_up);
    if (!view && view.error().code != Code::config) return view.error();
    all.push_back(view ? std::move(view).value() : LockView::of_damaged(lock, {}));
  }
  return Done{};
}

// Names of earlier scans are kept: a key that moves between two nodes can be missing in one scan.
// A lock whose keys have expired has no view, and is then omitted.
Status ClusterStore::scan(const std::vector<HashSlotRange>& ranges, TimePoint give_up) {
  const TimePoint begin = boot_now();
  std::map<std::string, StoreHost> masters;
  for (const HashSlotRange& range : ranges) masters.emplace(range.master.where(), range.master);
  for (auto at = masters_.begin(); at != masters_.end();)
    at = masters.contains(at->first) ? std::next(at) : masters_.erase(at);
  for (const auto& [where, host] : masters)
    if (Status scanned = scan_master(master_at(host), give_up); !scanned) return scanned;
  const TimePoint end = boot_now();
  next_scan_ = end + std::min<Micros>(kScanPauseFactor * (end - begin), kLongestScanPause);
  return Done{};
}

Status ClusterStore::scan_master(RedisStore& master, TimePoint give_up) {
  std::string cursor = "0";
  do {
    auto answers = master.ask(
        {{"SCAN", cursor, "MATCH", escaped(config_.key_prefix) + "{*", "COUNT", kScanCount}},
        give_up);
    if (!answers) return answers.error();
    const Resp& page = answers->front();
    if (page.elements.size() != 2) return unreadable(config_.login.where);
    for (const Resp& key : page.elements[1].elements)
      if (const std::string lock = lock_of_key(key.text, config_.key_prefix); !lock.empty())
        names_.insert(lock);
    cursor = page.elements[0].text;
  } while (cursor != "0");
  return Done{};
}

}  // namespace cronlatch::redis
