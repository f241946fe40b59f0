// SPDX-License-Identifier: Apache-2.0
// RedisStore with the option strict. WAIT follows EVALSHA in the same write: a grant or a renewal
// that too few replicas acknowledge is an unknown result.
#include <algorithm>
#include <utility>

#include "base/kernel_clock.h"
#include "store/redis/redis_store.h"
#include "store/redis/script_codec.h"

namespace cronlatch::redis {
namespace {

// Replicas acknowledge within milliseconds. A request is repeated after it.
constexpr Millis kLongestWait{1'000};

std::string field_of(std::string_view info, std::string_view name) {
  const std::size_t at = info.find(std::string(name) + ':');
  if (at == std::string_view::npos) return "";
  const std::string_view rest = info.substr(at + name.size() + 1);
  return std::string(rest.substr(0, rest.find_first_of("\r\n")));
}

std::string replicas_text(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " replica" : " replicas");
}

}  // namespace

// A run that holds the lock renews it whatever the settings of the server are.
bool RedisStore::is_strict_start() const {
  return config_.strict && pending_ && std::holds_alternative<Acquire>(pending_->request);
}

std::optional<StrictRequest> RedisStore::strict_request() const {
  if (!config_.strict) return std::nullopt;
  StrictRequest strict{config_.strict->quarantine(), std::nullopt};
  if (route_ != nullptr) strict.most_replicas = config_.strict->min_replicas;
  return strict;
}

// So short that the answer arrives before the deadline, also when the script was unknown and is
// sent again: the first WAIT then takes its time, too.
void RedisStore::send_wait(TimePoint now) {
  pending_->has_wait = config_.strict && config_.strict->min_replicas > 0 &&
                       !std::holds_alternative<Release>(pending_->request);
  if (!pending_->has_wait) return;
  const auto left = std::chrono::duration_cast<Millis>((pending_->give_up - now) * 2 / 5);
  const Millis most = std::clamp(left, Millis(1), kLongestWait);
  session_->send(
      {"WAIT", std::to_string(config_.strict->min_replicas), std::to_string(most.count())},
      RedisSession::OnAnswer::keep);
}

bool RedisStore::needs_acknowledgement(const Reply& reply) const {
  return pending_->has_wait &&
         (std::holds_alternative<Granted>(reply) || std::holds_alternative<Renewed>(reply));
}

Reply RedisStore::handle_acknowledgement(const Resp& answer) {
  const std::size_t needed = config_.strict->min_replicas;
  if (answer.type == Resp::Type::integer && answer.integer >= 0 &&
      static_cast<std::size_t>(answer.integer) >= needed) {
    Reply reply = std::move(*pending_->unacknowledged);
    pending_.reset();
    return reply;
  }
  Error error{Code::unreachable,
              "redis at " + config_.login.where + ": " +
                  std::to_string(std::max<std::int64_t>(answer.integer, 0)) + " of " +
                  replicas_text(needed) + " acknowledged the request",
              "check the replicas of this server; strict grants nothing while one is missing"};
  bool is_transient = true;
  if (answer.type != Resp::Type::integer) {
    const RedisErrorRow& row = classify_redis_error(answer.text);
    error = redis_error(row, config_.login.where,
                        with_refused_command(session_->redact(answer.text), "WAIT", ""));
    is_transient = row.transient;
  }
  // The next connection is to the server that is the master then.
  session_.reset();
  return unavailable(std::move(error), is_transient);
}

std::optional<Failure> RedisStore::check_replicas(const NextServer& next) const {
  if (!config_.strict || !pending_ || next.replicas <= config_.strict->min_replicas)
    return std::nullopt;
  return Failure{{Code::config,
                  "strict needs the acknowledgement of all replicas: the Sentinel reports " +
                      replicas_text(next.replicas) + " of " + next.host.where() +
                      ", min-replicas is " + std::to_string(config_.strict->min_replicas),
                  "set min-replicas to " + std::to_string(next.replicas) +
                      " for every run; SENTINEL RESET makes a Sentinel forget a replica that was "
                      "removed"},
                 false};
}

void RedisStore::warn_of_hidden_policy() {
  if (!session_->hides_eviction_policy() || std::exchange(policy_warned_, true) || !config_.warn)
    return;
  config_.warn({Level::warn,
                "eviction_unknown",
                "redis at " + config_.login.where +
                    ": INFO does not show maxmemory-policy; a server that evicts keys can grant a "
                    "lock twice",
                {},
                "check that the policy is noeviction"});
}

// The same arithmetic as scripts/common_epoch.lua.
Result<std::optional<Micros>> RedisStore::quarantine(TimePoint give_up) {
  if (!config_.strict) return std::optional<Micros>();
  const auto answers = ask({{"TIME"},
                            {"INFO", "replication"},
                            {"HMGET", epoch_key(config_.key_prefix), "replid", "since"}},
                           give_up);
  if (!answers) return answers.error();
  const auto now = parse_time((*answers)[0]);
  const std::string id = field_of((*answers)[1].text, "master_replid");
  const std::vector<Resp>& known = (*answers)[2].elements;
  if (!now || id.empty() || known.size() != 2)
    return Error{Code::unreachable,
                 "redis at " + config_.login.where + ": the replication history cannot be read",
                 "check that INFO shows master_replid"};
  const Micros whole = config_.strict->quarantine();
  const std::int64_t since = std::atoll(known[1].text.c_str());
  if (known[0].text != id || known[1].text.empty() || since < 0 || since > now->us)
    return std::optional<Micros>(whole);
  return std::optional<Micros>(std::max(Micros(0), Micros(since - now->us) + whole));
}

Result<EpochState> RedisStore::create_epoch(TimePoint give_up) {
  const auto answers = ask({encode_epoch(config_.key_prefix)}, give_up);
  if (!answers) return answers.error();
  const std::vector<Resp>& reply = answers->front().elements;
  const std::string verdict = reply.empty() ? "" : reply.front().text;
  if (verdict == "created") return EpochState::created;
  if (verdict == "present" && reply.size() == 4)
    return reply[3].text == "1" ? EpochState::present : EpochState::other_history;
  return Error{Code::unreachable,
               "redis at " + config_.login.where + ": a reply that no script of cronlatch returns",
               "check that the store is Redis 6.2 or newer and that no proxy changes its replies"};
}

}  // namespace cronlatch::redis
