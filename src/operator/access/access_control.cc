// SPDX-License-Identifier: Apache-2.0
#include "operator/access/access_control.h"

#include <optional>

#include "base/digest.h"

namespace cronlatch::op {
namespace {

constexpr Seconds kReportInterval{60};
constexpr std::size_t kDigits = 64;

// The memory contains digests instead of tokens.
std::string key_of(const AccessRequest& request) {
  std::string text = request.audience + '\n' + request.path + '\n';
  return short_digest(text + request.token.reveal(), kDigits);
}

class OpenReview {
 public:
  explicit OpenReview(std::atomic<std::size_t>& count) : count_(count) { ++count_; }
  ~OpenReview() { --count_; }
  OpenReview(const OpenReview&) = delete;
  OpenReview& operator=(const OpenReview&) = delete;

 private:
  std::atomic<std::size_t>& count_;
};

}  // namespace

const AccessResult* AccessControl::remembered(const std::string& key, TimePoint now) {
  for (Lru<Remembered>* const memory : {&allowed_, &refused_})
    if (const Remembered* const entry = memory->find(key); entry != nullptr && now < entry->until)
      return &entry->result;
  return nullptr;
}

bool AccessControl::was_allowed(const std::string& key) {
  const Remembered* const entry = allowed_.find(key);
  return entry != nullptr && entry->result.access == Access::allowed;
}

bool AccessControl::may_start(const std::string& client, TimePoint now) {
  return open_ < limits_.at_once && budget_.take(client, now);
}

void AccessControl::remember(const std::string& key, const AccessResult& result, TimePoint now) {
  if (result.access == Access::allowed) {
    allowed_.put(key, {result, now + limits_.allowed_for});
    return;
  }
  // A right that was removed: the token is limited again, and not allowed from memory.
  if (Remembered* const before = allowed_.find(key)) *before = {result, now};
  refused_.put(key, {result, now + limits_.refused_for});
}

// Clients control how often they are refused and must not be able to fill the log.
void AccessControl::report(const AccessRequest& request, const AccessResult& result,
                           TimePoint now) {
  if (result.access == Access::allowed) return;
  if (reported_ && now - *reported_ < kReportInterval) return;
  reported_ = now;
  const bool forbidden = result.access == Access::forbidden;
  log_({Level::warn,
        "access_refused",
        forbidden ? "a client has no right to read " + request.path
                  : "a client sent no valid token for " + request.path,
        {{"path", request.path}, {"user", result.user}},
        forbidden ? "bind a ClusterRole with the verb get on this nonResourceURL to the user"
                  : "docs/operations.md describes the tokens"});
}

Result<AccessResult> AccessControl::check(const AccessRequest& request, const std::string& client) {
  const std::string key = key_of(request);
  std::optional<OpenReview> open;
  {
    const std::lock_guard lock(mutex_);
    const TimePoint now = clock_.now();
    if (const AccessResult* const known = remembered(key, now)) return *known;
    if (request.token.empty()) {
      report(request, {}, now);
      return AccessResult{};
    }
    if (!was_allowed(key)) {
      if (!may_start(client, now))
        return Error{Code::unreachable, "too many tokens were sent; retry later"};
      open.emplace(open_);
    }
  }
  auto reviewed = review_access(api_, request);
  const std::lock_guard lock(mutex_);
  if (!reviewed) {
    if (last_error_.set(reviewed.error().message))
      log_({Level::warn,
            "access_unknown",
            "cannot review a token, so the request is refused: " + reviewed.error().message,
            {{"path", request.path}},
            reviewed.error().hint});
    return Error{Code::unreachable, "the API server did not review the token"};
  }
  last_error_.clear();
  remember(key, *reviewed, clock_.now());
  report(request, *reviewed, clock_.now());
  return reviewed;
}

}  // namespace cronlatch::op
