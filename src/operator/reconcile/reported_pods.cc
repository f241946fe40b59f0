// SPDX-License-Identifier: Apache-2.0
// The checkpoint: {"at":{"":["812345",1763690100]},"open":["0a1b2c3d4e5f6071"],
// "recent":["8293a4b5c6d7e8f9"],"gone":["shop/old"],
// "in_force":{"gating":1763600000,"rules":"d41d8cd98f00b204e980","select":1763600000}}
#include "operator/reconcile/reported_pods.h"

#include <algorithm>
#include <charconv>

#include "base/digest.h"
#include "kube/json.h"

namespace cronlatch::op {
namespace {

using kube::Json;

constexpr std::int64_t kMicros = 1'000'000;
constexpr std::size_t kKeyDigits = 16;
constexpr std::size_t kMaxBytes = std::size_t{256} * 1024;
// The largest difference between the clocks of the API servers of one cluster.
constexpr std::int64_t kClockDifference = 60;
constexpr std::size_t kVersion1UidLength = 18;

std::uint64_t key_from(std::string_view digits) {
  std::uint64_t key = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), key, 16);
  return key;
}

std::string digits_of(std::uint64_t key) {
  char digits[kKeyDigits];
  const auto [end, error] = std::to_chars(std::begin(digits), std::end(digits), key, 16);
  return {std::begin(digits), end};
}

std::set<std::uint64_t> keys_at(const Json& root, std::string_view name) {
  std::set<std::uint64_t> keys;
  for (const std::string& digits : kube::strings_at(root, {name})) keys.insert(key_from(digits));
  return keys;
}

}  // namespace

ReportedPods::ReportedPods(std::string_view checkpoint) {
  const auto parsed = kube::parse_json(checkpoint, {.bytes = kMaxBytes, .depth = 4});
  if (!parsed) return;
  deleted_ = kube::strings_at(*parsed, {"gone"});
  enforcement_ = {{kube::number_at(*parsed, {"in_force", "gating"}).value_or(0) * kMicros},
                  {kube::number_at(*parsed, {"in_force", "select"}).value_or(0) * kMicros},
                  kube::string_at(*parsed, {"in_force", "rules"})};
  const Json* const at = kube::find(*parsed, {"at"});
  if (at == nullptr || !at->is_object()) {
    read_version_1(*parsed);
    return;
  }
  for (const auto& [watched, position] : at->items())
    if (position.is_array() && position.size() == 2 && position[0].is_string() &&
        position[1].is_number_integer())
      previous_[watched] = {version_number(position[0].get_ref<const std::string&>()),
                            position[1].get<std::int64_t>()};
  previous_open_ = keys_at(*parsed, "open");
  previous_recent_ = keys_at(*parsed, "recent");
  positions_ = previous_;
}

void ReportedPods::read_version_1(const Json& checkpoint) {
  before_ = kube::number_at(checkpoint, {"before"}).value_or(0);
  const Json* const pods = kube::find(checkpoint, {"pods"});
  if (pods == nullptr || !pods->is_object()) return;
  for (const auto& entry : pods->items()) shortened_.insert(entry.key());
}

ReportedPods::Key ReportedPods::key_of(const std::string& uid) {
  return key_from(short_digest(uid, kKeyDigits));
}

const ReportedPods::Position* ReportedPods::position_of(const Positions& positions,
                                                        const std::string& space) {
  auto at = positions.find(space);
  if (at == positions.end()) at = positions.find("");
  return at == positions.end() ? nullptr : &at->second;
}

// In an earlier term.
bool ReportedPods::was_reported(Key key, const PodVersion& pod) const {
  if (previous_recent_.contains(key)) return true;
  if (previous_open_.contains(key)) return false;
  if (const Position* const at = position_of(previous_, pod.namespace_name)) {
    if (pod.version != 0 && pod.version <= at->version) return true;
    if (pod.written.us != 0 && pod.written.us / kMicros + kClockDifference < at->written)
      return true;
  }
  return pod.finished.us / kMicros < before_ ||
         shortened_.contains(pod.uid.substr(0, kVersion1UidLength));
}

void ReportedPods::remember(Key key, const PodVersion& pod) {
  reported_.insert(key);
  // Without a number, the position cannot contain it.
  recent_[key] = {pod.namespace_name, pod.version, pod.has_finalizers || pod.version == 0};
  changed_ = true;
}

bool ReportedPods::has(const PodVersion& pod) {
  const Key key = key_of(pod.uid);
  std::int64_t& written = written_[pod.namespace_name];
  written = std::max(written, pod.written.us / kMicros);
  if (open_.contains(key)) return false;
  if (!reported_.contains(key) && !was_reported(key, pod)) return false;
  remember(key, pod);
  return true;
}

void ReportedPods::begin(const PodVersion& pod) {
  open_.insert(key_of(pod.uid));
  changed_ = true;
}

void ReportedPods::add(const PodVersion& pod) {
  const Key key = key_of(pod.uid);
  if (open_.erase(key) != 0) remember(key, pod);
}

void ReportedPods::forget(const std::string& uid) {
  const Key key = key_of(uid);
  reported_.erase(key);
  open_.erase(key);
  recent_.erase(key);
}

void ReportedPods::listing(const std::string& watched, std::uint64_t version) {
  const auto at = previous_.find(watched.empty() || previous_.contains(watched) ? watched : "");
  if (at != previous_.end() && version < at->second.version) at->second.version = 0;
}

void ReportedPods::reached(const std::string& watched, std::uint64_t version) {
  Position& at = positions_[watched];
  if (at.version != version) changed_ = true;
  at.version = version;
  for (auto newest = written_.begin(); newest != written_.end();) {
    if (!watched.empty() && newest->first != watched) {
      ++newest;
      continue;
    }
    at.written = std::max(at.written, newest->second);
    newest = written_.erase(newest);
  }
  // The position of all namespaces replaces those of single ones.
  if (watched.empty() && positions_.size() > 1) positions_ = {{watched, at}};
}

bool ReportedPods::is_ahead(const Recent& recent) const {
  const Position* const at = position_of(positions_, recent.namespace_name);
  return at == nullptr || recent.version > at->version;
}

void ReportedPods::drop_settled() {
  std::erase_if(recent_, [this](const auto& entry) {
    return !entry.second.changes_again && !is_ahead(entry.second);
  });
}

// A pod that is dropped here is counted twice if it changes between the last checkpoint of this
// leader and the first list of the next one, and its status was written within a minute before.
void ReportedPods::drop_oldest(std::size_t ahead) {
  if (recent_.size() <= kMaxRecent) return;
  std::vector<std::pair<std::uint64_t, Key>> others;
  for (const auto& [key, recent] : recent_)
    if (!is_ahead(recent)) others.emplace_back(recent.version, key);
  std::sort(others.begin(), others.end(), std::greater<>());
  for (std::size_t i = kMaxRecent - ahead; i < others.size(); ++i) recent_.erase(others[i].second);
}

bool ReportedPods::cronjob_deleted(const std::string& job) {
  if (std::find(deleted_.begin(), deleted_.end(), job) != deleted_.end()) return false;
  deleted_.push_back(job);
  if (deleted_.size() > kMaxDeleted) deleted_.erase(deleted_.begin());
  return true;
}

bool ReportedPods::cronjob_exists(const std::string& job) { return std::erase(deleted_, job) != 0; }

std::optional<std::string> ReportedPods::checkpoint() {
  drop_settled();
  const auto ahead = static_cast<std::size_t>(std::count_if(
      recent_.begin(), recent_.end(), [this](const auto& e) { return is_ahead(e.second); }));
  if (ahead > kMaxRecent) return std::nullopt;
  drop_oldest(ahead);
  Json at = Json::object();
  for (const auto& [watched, position] : positions_)
    at[watched] = Json::array({std::to_string(position.version), position.written});
  Json open = Json::array();
  for (const Key key : open_) open.push_back(digits_of(key));
  Json recent = Json::array();
  for (const auto& entry : recent_) recent.push_back(digits_of(entry.first));
  const Json enforcement{{"gating", enforcement_.gating.us / kMicros},
                         {"select", enforcement_.select.us / kMicros},
                         {"rules", enforcement_.rules}};
  changed_ = false;
  return kube::to_text(Json{{"at", std::move(at)},
                            {"open", std::move(open)},
                            {"recent", std::move(recent)},
                            {"gone", deleted_},
                            {"in_force", enforcement}});
}

}  // namespace cronlatch::op
