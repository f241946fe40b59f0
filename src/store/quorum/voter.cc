// SPDX-License-Identifier: Apache-2.0
#include "store/quorum/voter.h"

namespace cronlatch::quorum {

void Voter::send(const Request& request, TimePoint now) {
  reply_.reset();
  requests_.push_back(request);
  if (requests_.size() == 1) start(now);
}

void Voter::start(TimePoint now) {
  if (std::holds_alternative<Acquire>(requests_.front())) may_hold_ = true;
  server_->send(requests_.front(), now);
  step(PollSet{}, now);
}

void Voter::step(const PollSet& set, TimePoint now) {
  std::optional<Reply> reply = server_->step(set, now);
  if (!reply || requests_.empty()) return;
  update_hold(requests_.front(), *reply);
  requests_.pop_front();
  if (!requests_.empty()) return start(now);
  reply_ = std::move(reply);
}

void Voter::update_hold(const Request& request, const Reply& reply) {
  if (const Unavailable* failure = std::get_if<Unavailable>(&reply)) {
    // Without an answer the result is unknown, unless the request was not executed.
    if (failure->unsent && std::holds_alternative<Acquire>(request)) may_hold_ = has_confirmed_;
    return;
  }
  may_hold_ = has_confirmed_ =
      std::holds_alternative<Granted>(reply) || std::holds_alternative<Renewed>(reply);
}

}  // namespace cronlatch::quorum
