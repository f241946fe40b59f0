// SPDX-License-Identifier: Apache-2.0
// GET, then POST or PUT with the resourceVersion that was read: of two concurrent writers, one
// receives 409.
#include "kube/election.h"

#include <algorithm>

#include "kube/micro_time.h"

namespace cronlatch::kube {
namespace {

constexpr Millis kMaxAttempt{5'000};
constexpr Millis kMinAttempt{500};
constexpr int kNotFound = 404;

std::string holder_of(const Json& lease) { return string_at(lease, {"spec", "holderIdentity"}); }

std::int64_t transitions_of(const Json& lease) {
  const Json* count = find(lease, {"spec", "leaseTransitions"});
  return count != nullptr && count->is_number_integer() ? count->get<std::int64_t>() : 0;
}

// The object at `key`, created if it is missing or not an object.
Json& object_at(Json& parent, const char* key) {
  Json& child = parent[key];
  if (!child.is_object()) child = Json::object();
  return child;
}

}  // namespace

Election::Election(Api& api, WatchTiming timing, LeaseRef lease_ref, std::string identity,
                   ElectionRules rules)
    : api_(api),
      timing_(std::move(timing)),
      lease_ref_(std::move(lease_ref)),
      identity_(std::move(identity)),
      rules_(rules) {}

bool Election::leading() const {
  const std::lock_guard lock(mutex_);
  return leader_until_ && timing_.clock.now() < *leader_until_;
}

unsigned Election::term() const {
  const std::lock_guard lock(mutex_);
  return term_;
}

std::string Election::holder() const {
  const std::lock_guard lock(mutex_);
  return holder_;
}

std::string Election::saved_checkpoint() const {
  const std::lock_guard lock(mutex_);
  return saved_checkpoint_;
}

void Election::set_checkpoint(std::string checkpoint) {
  const std::lock_guard lock(mutex_);
  new_checkpoint_ = std::move(checkpoint);
}

void Election::withdraw_checkpoint() {
  const std::lock_guard lock(mutex_);
  new_checkpoint_.reset();
}

Result<Response> Election::read(Millis deadline) {
  return api_.call({.path = "/apis/coordination.k8s.io/v1/namespaces/" + lease_ref_.namespace_name +
                            "/leases/" + lease_ref_.name,
                    .deadline = deadline});
}

Result<Response> Election::write(Method method, Json lease, Millis deadline) {
  std::string path =
      "/apis/coordination.k8s.io/v1/namespaces/" + lease_ref_.namespace_name + "/leases";
  if (method == Method::replace) path += "/" + lease_ref_.name;
  return api_.call(
      {.method = method, .path = path, .body = std::move(lease), .deadline = deadline});
}

// `lease` with this replica as the holder.
Json Election::claimed_lease(const Json& lease, bool is_own) const {
  Json next = lease.is_object() ? lease : Json::object();
  next["apiVersion"] = "coordination.k8s.io/v1";
  next["kind"] = "Lease";
  Json& metadata = object_at(next, "metadata");
  metadata["name"] = lease_ref_.name;
  metadata["namespace"] = lease_ref_.namespace_name;
  metadata.erase("managedFields");
  Json& spec = object_at(next, "spec");
  const std::string now = micro_time(timing_.clock.wall());
  if (!is_own) {
    spec["acquireTime"] = now;
    spec["leaseTransitions"] = transitions_of(lease) + (lease.is_object() ? 1 : 0);
  }
  spec["holderIdentity"] = identity_;
  spec["leaseDurationSeconds"] = std::chrono::duration_cast<Seconds>(rules_.lease).count();
  spec["renewTime"] = now;
  const std::lock_guard lock(mutex_);
  if (is_own && new_checkpoint_)
    object_at(metadata, "annotations")[lease_ref_.checkpoint_annotation] = *new_checkpoint_;
  return next;
}

void Election::observe(const Json& lease) {
  const Json* now = find(lease, {"spec"});
  const Json* before = observed_ ? find(observed_->lease, {"spec"}) : nullptr;
  const bool same = now != nullptr && before != nullptr && *now == *before;
  const TimePoint since = same ? observed_->since : timing_.clock.now();
  observed_ = ObservedLease{lease, since};
  const std::lock_guard lock(mutex_);
  holder_ = holder_of(lease);
  saved_checkpoint_ =
      string_at(lease, {"metadata", "annotations", lease_ref_.checkpoint_annotation});
}

void Election::become_leader(const Json& lease, TimePoint sent_at) {
  observe(lease);
  const std::lock_guard lock(mutex_);
  if (!leader_until_) ++term_;
  leader_until_ = sent_at + rules_.renew;
  if (new_checkpoint_ == saved_checkpoint_) new_checkpoint_.reset();
}

void Election::stop_leading() {
  const std::lock_guard lock(mutex_);
  leader_until_.reset();
  new_checkpoint_.reset();
}

bool Election::has_expired(const ObservedLease& observed) const {
  return holder_of(observed.lease).empty() || timing_.clock.now() >= observed.since + rules_.lease;
}

Millis Election::time_to_expiry() const {
  const auto left = observed_->since + rules_.lease - timing_.clock.now();
  return std::max(Millis(0), std::chrono::ceil<Millis>(left));
}

// An attempt of the leader ends with its term at the latest.
Millis Election::attempt_timeout() const {
  const std::lock_guard lock(mutex_);
  if (!leader_until_) return kMaxAttempt;
  const auto left = std::chrono::duration_cast<Millis>(*leader_until_ - timing_.clock.now());
  return std::clamp(left, kMinAttempt, kMaxAttempt);
}

Millis Election::retry_delay() const {
  const double wait =
      static_cast<double>(rules_.retry.count()) * (1 + 0.2 * timing_.random_fraction());
  return Millis(static_cast<Millis::rep>(wait));
}

Millis Election::step() {
  if (!leading()) stop_leading();  // the last renewal was too late: the term and its checkpoint end
  const TimePoint sent_at = timing_.clock.now();
  const auto current = read(attempt_timeout());
  if (!current) return retry_delay();
  const bool missing = current->status == kNotFound;
  if (!missing && !current->ok()) return retry_delay();
  if (!missing) observe(current->body);
  const bool is_own = !missing && holder_of(current->body) == identity_ && leading();
  const bool is_free = missing || holder_of(current->body) == identity_ || has_expired(*observed_);
  if (!is_free) {
    stop_leading();
    return std::min(retry_delay(), time_to_expiry());
  }
  const auto written =
      write(missing ? Method::create : Method::replace,
            claimed_lease(missing ? Json() : current->body, is_own), attempt_timeout());
  if (written && written->ok()) become_leader(written->body, sent_at);
  return retry_delay();
}

void Election::release() {
  if (!leading()) return stop_leading();
  if (auto current = read(attempt_timeout());
      current && current->ok() && holder_of(current->body) == identity_) {
    Json lease = claimed_lease(current->body, true);
    lease["spec"]["holderIdentity"] = "";
    lease["spec"]["leaseDurationSeconds"] = 1;
    static_cast<void>(write(Method::replace, std::move(lease), attempt_timeout()));
  }
  stop_leading();
}

}  // namespace cronlatch::kube
