// SPDX-License-Identifier: Apache-2.0
// GET, judge, then POST or PUT with the resourceVersion that was judged: of two that try, one is
// answered 409.
#include "kube/election.h"

#include <algorithm>

#include "kube/micro_time.h"

namespace cronlatch::kube {
namespace {

constexpr Millis kOneAttempt{5'000};
constexpr Millis kLeastPatience{500};
constexpr int kNotFound = 404;

std::string holder_of(const Json& lease) { return string_at(lease, {"spec", "holderIdentity"}); }

std::int64_t transitions_of(const Json& lease) {
  const Json* count = find(lease, {"spec", "leaseTransitions"});
  return count != nullptr && count->is_number_integer() ? count->get<std::int64_t>() : 0;
}

// An object at `key`, made where there is none: what others wrote may be anything.
Json& object_at(Json& parent, const char* key) {
  Json& child = parent[key];
  if (!child.is_object()) child = Json::object();
  return child;
}

}  // namespace

Election::Election(Api& api, WatchTiming timing, Place place, std::string identity,
                   ElectionRules rules)
    : api_(api),
      timing_(std::move(timing)),
      place_(std::move(place)),
      identity_(std::move(identity)),
      rules_(rules) {}

bool Election::leading() const {
  const std::lock_guard lock(mutex_);
  return leads_until_ && timing_.clock.now() < *leads_until_;
}

unsigned Election::term() const {
  const std::lock_guard lock(mutex_);
  return term_;
}

std::string Election::holder() const {
  const std::lock_guard lock(mutex_);
  return holder_;
}

std::string Election::saved_note() const {
  const std::lock_guard lock(mutex_);
  return saved_note_;
}

void Election::write_note(std::string note) {
  const std::lock_guard lock(mutex_);
  new_note_ = std::move(note);
}

Result<Response> Election::read(Millis deadline) {
  return api_.call({.path = "/apis/coordination.k8s.io/v1/namespaces/" + place_.namespace_name +
                            "/leases/" + place_.name,
                    .deadline = deadline});
}

Result<Response> Election::write(Method method, Json lease, Millis deadline) {
  std::string path = "/apis/coordination.k8s.io/v1/namespaces/" + place_.namespace_name + "/leases";
  if (method == Method::replace) path += "/" + place_.name;
  return api_.call(
      {.method = method, .path = path, .body = std::move(lease), .deadline = deadline});
}

// `lease` as it is after we took it or kept it.
Json Election::claimed(const Json& lease, bool ours) const {
  Json next = lease.is_object() ? lease : Json::object();
  next["apiVersion"] = "coordination.k8s.io/v1";
  next["kind"] = "Lease";
  Json& metadata = object_at(next, "metadata");
  metadata["name"] = place_.name;
  metadata["namespace"] = place_.namespace_name;
  metadata.erase("managedFields");
  Json& spec = object_at(next, "spec");
  const std::string now = micro_time(timing_.clock.wall());
  if (!ours) {
    spec["acquireTime"] = now;
    spec["leaseTransitions"] = transitions_of(lease) + (lease.is_object() ? 1 : 0);
  }
  spec["holderIdentity"] = identity_;
  spec["leaseDurationSeconds"] = std::chrono::duration_cast<Seconds>(rules_.lease).count();
  spec["renewTime"] = now;
  const std::lock_guard lock(mutex_);
  if (ours && new_note_) object_at(metadata, "annotations")[place_.note_annotation] = *new_note_;
  return next;
}

void Election::observe(const Json& lease) {
  const Json* now = find(lease, {"spec"});
  const Json* before = seen_ ? find(seen_->lease, {"spec"}) : nullptr;
  const bool same = now != nullptr && before != nullptr && *now == *before;
  const TimePoint since = same ? seen_->since : timing_.clock.now();
  seen_ = Seen{lease, since};
  const std::lock_guard lock(mutex_);
  holder_ = holder_of(lease);
  saved_note_ = string_at(lease, {"metadata", "annotations", place_.note_annotation});
}

void Election::lead(const Json& lease, TimePoint asked) {
  observe(lease);
  const std::lock_guard lock(mutex_);
  if (!leads_until_) ++term_;
  leads_until_ = asked + rules_.renew;
  if (new_note_ == saved_note_) new_note_.reset();
}

void Election::follow() {
  const std::lock_guard lock(mutex_);
  leads_until_.reset();
  new_note_.reset();
}

bool Election::passed(const Seen& seen) const {
  return holder_of(seen.lease).empty() || timing_.clock.now() >= seen.since + rules_.lease;
}

// A leader's attempt may not outlive its leadership.
Millis Election::patience() const {
  const std::lock_guard lock(mutex_);
  if (!leads_until_) return kOneAttempt;
  const auto left = std::chrono::duration_cast<Millis>(*leads_until_ - timing_.clock.now());
  return std::clamp(left, kLeastPatience, kOneAttempt);
}

Millis Election::soon() const {
  const double wait = static_cast<double>(rules_.retry.count()) * (1 + 0.2 * timing_.chance());
  return Millis(static_cast<Millis::rep>(wait));
}

Millis Election::step() {
  if (!leading()) follow();  // a renewal came too late: this term is over, its note with it
  const TimePoint asked = timing_.clock.now();
  const auto there = read(patience());
  if (!there) return soon();
  const bool missing = there->status == kNotFound;
  if (!missing && !there->ok()) return soon();
  if (!missing) observe(there->body);
  const bool ours = !missing && holder_of(there->body) == identity_ && leading();
  const bool free = missing || holder_of(there->body) == identity_ || passed(*seen_);
  if (!free) {
    follow();
    return soon();
  }
  const auto written = write(missing ? Method::create : Method::replace,
                             claimed(missing ? Json() : there->body, ours), patience());
  if (written && written->ok()) lead(written->body, asked);
  return soon();
}

void Election::release() {
  if (!leading()) return follow();
  if (auto there = read(patience()); there && there->ok() && holder_of(there->body) == identity_) {
    Json lease = claimed(there->body, true);
    lease["spec"]["holderIdentity"] = "";
    lease["spec"]["leaseDurationSeconds"] = 1;
    static_cast<void>(write(Method::replace, std::move(lease), patience()));
  }
  follow();
}

}  // namespace cronlatch::kube
