// SPDX-License-Identifier: Apache-2.0
// From requests to EVAL or EVALSHA. The top of each script lists the order of its arguments.
#include "store/redis/script_codec.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <variant>

#include "core/lock_name.h"
#include "core/shared_key.h"
#include "store/redis/scripts.h"
#include "store/rules.h"
#include "store/verb_text.h"

namespace cronlatch::redis {

namespace {

std::string text(ServerTime t) {
  return std::to_string(std::clamp<std::int64_t>(t.us, 0, (std::int64_t{1} << 53) - 1));
}
std::string text(bool yes) { return yes ? "1" : "0"; }

std::vector<std::string> eval(const scripts::Script& script, ScriptBy by,
                              std::vector<std::string> keys, std::vector<std::string> arguments) {
  const bool whole = by == ScriptBy::text;
  std::vector<std::string> command{whole ? "EVAL" : "EVALSHA",
                                   std::string(whole ? script.text : script.hash),
                                   std::to_string(keys.size())};
  std::move(keys.begin(), keys.end(), std::back_inserter(command));
  std::move(arguments.begin(), arguments.end(), std::back_inserter(command));
  return command;
}

// The key of another program is the last one.
std::vector<std::string> with_foreign_key(std::vector<std::string> keys, std::string_view lock) {
  if (auto shared = shared_key_of_lock(lock)) keys.push_back(std::move(shared->key));
  return keys;
}

std::vector<std::string> keys_of(std::string_view prefix, std::string_view lock,
                                 const std::string& job) {
  const std::string record = record_key(prefix, lock);
  return with_foreign_key({record, stats_key(prefix, lock), record + ":groups",
                           record + (job.empty() ? ":once" : ":once:" + job), record + ":seen",
                           record + ":queue", record + ":asked", slots_key(prefix, lock)},
                          lock);
}

void add_strict(const StrictRequest& strict, std::string_view prefix,
                std::vector<std::string>& keys, std::vector<std::string>& arguments) {
  keys.push_back(epoch_key(prefix));
  arguments.push_back(std::to_string(strict.quarantine.count()));
  arguments.push_back(strict.most_replicas ? std::to_string(*strict.most_replicas) : "");
}

std::vector<std::string> arguments_of(const Acquire& a, ServerTime not_after) {
  return {text(not_after),
          a.claim.owner,
          std::to_string(a.claim.attempt),
          micros_text(a.ttl),
          a.identity.holder,
          a.identity.job,
          a.identity.group,
          a.identity.once,
          micros_text(a.once_ttl),
          std::string(name_of(a.if_busy)),
          millis_text(a.waited),
          std::to_string(bucket_of(kWaitBucketsMs, a.waited.count())),
          micros_text(a.min_hold),
          std::to_string(a.min_uptime.count()),
          std::to_string(a.slots)};
}

std::vector<std::string> arguments_of(const Renew& r, ServerTime not_after) {
  return {text(not_after),         r.claim.owner,      std::to_string(r.claim.attempt),
          std::to_string(r.fence), micros_text(r.ttl), r.identity.holder,
          r.identity.job,          r.identity.group,   r.identity.once,
          std::to_string(r.slots)};
}

std::vector<std::string> arguments_of(const Release& r, ServerTime not_after) {
  return {text(not_after),
          r.claim.owner,
          std::to_string(r.claim.attempt),
          std::to_string(r.fence),
          std::string(name_of(r.verdict)),
          text(r.overlong),
          millis_text(r.held),
          std::to_string(bucket_of(kHoldBucketsMs, r.held.count())),
          micros_text(r.min_hold),
          micros_text(r.once_ttl),
          r.identity.job,
          r.identity.once,
          text(r.mark_done),
          r.identity.group};
}

const scripts::Script& script_of(const Acquire&) { return scripts::acquire; }
const scripts::Script& script_of(const Renew&) { return scripts::renew; }
const scripts::Script& script_of(const Release&) { return scripts::release; }

}  // namespace

std::string record_key(std::string_view prefix, std::string_view lock) {
  const auto shared = shared_key_of_lock(lock);
  if (!shared) return std::string(prefix) + "{" + std::string(lock) + "}";
  return std::string(prefix) + "{" + shared->key + "}:" + std::string(name_of(shared->format));
}

std::string lock_of_key(std::string_view key, std::string_view prefix) {
  if (!key.starts_with(std::string(prefix) + '{')) return "";
  const std::size_t close = key.find('}', prefix.size());
  if (close == std::string_view::npos) return "";
  const std::string_view tag = key.substr(prefix.size() + 1, close - prefix.size() - 1);
  const std::string_view rest = key.substr(close + 1);
  for (const KeyFormat format : {KeyFormat::cronlock, KeyFormat::redlock}) {
    const std::string suffix = ":" + std::string(name_of(format));
    if ((rest == suffix || rest.starts_with(suffix + ":")) && check_foreign_key(tag).ok())
      return lock_of_shared_key(format, tag);
  }
  return check_lock_name(tag).ok() ? std::string(tag) : "";
}

std::string stats_key(std::string_view prefix, std::string_view lock) {
  return record_key(prefix, lock) + ":stats";
}

std::string slots_key(std::string_view prefix, std::string_view lock) {
  return record_key(prefix, lock) + ":slots";
}

std::string index_key(std::string_view prefix) { return std::string(prefix) + "index"; }

std::string epoch_key(std::string_view prefix) { return std::string(prefix) + "epoch"; }

std::string wake_key(std::string_view prefix, std::string_view lock, std::string_view owner) {
  return record_key(prefix, lock) + ":wake:" + std::string(owner);
}

std::vector<std::string> encode(const Request& request, std::string_view prefix,
                                ServerTime not_after, ScriptBy by,
                                const std::optional<StrictRequest>& strict) {
  return std::visit(
      [&](const auto& verb) {
        std::vector<std::string> keys = keys_of(prefix, verb.lock, verb.identity.job);
        std::vector<std::string> arguments = arguments_of(verb, not_after);
        // A release is the same with strict and without it.
        if (strict && !std::holds_alternative<Release>(request))
          add_strict(*strict, prefix, keys, arguments);
        return eval(script_of(verb), by, std::move(keys), std::move(arguments));
      },
      request);
}

std::vector<std::string> encode_epoch(std::string_view prefix) {
  return eval(scripts::epoch, ScriptBy::text, {epoch_key(prefix)}, {});
}

std::vector<std::string> encode_revoke(const std::string& lock, std::string_view prefix,
                                       ServerTime not_after) {
  return eval(
      scripts::revoke, ScriptBy::text,
      with_foreign_key({record_key(prefix, lock), stats_key(prefix, lock), slots_key(prefix, lock)},
                       lock),
      {text(not_after)});
}

std::vector<std::string> encode_index(const std::string& lock, std::string_view prefix,
                                      ServerTime now) {
  return {"EVAL", std::string(scripts::index.text), "1", index_key(prefix), text(now),
          lock,   text(now - kIndexMemory)};
}

std::vector<std::string> encode_waiters(const std::string& lock, std::string_view prefix,
                                        ServerTime now) {
  return {"ZRANGE",
          record_key(prefix, lock) + ":asked",
          "(" + text(now - rules::kPlaceLife),
          "+inf",
          "BYSCORE",
          "LIMIT",
          "0",
          "1000"};
}

// The list expires if the run has ended. A run that reads it later only sends a request too early.
std::vector<std::vector<std::string>> encode_wake(const std::string& lock, const std::string& owner,
                                                  std::string_view prefix) {
  const std::string key = wake_key(prefix, lock, owner);
  return {{"RPUSH", key, "1"}, {"PEXPIRE", key, "5000"}};
}

std::vector<std::string> encode_listen(const std::string& lock, const std::string& owner,
                                       std::string_view prefix, Micros most) {
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.3f", static_cast<double>(most.count()) / 1'000'000);
  return {"BLPOP", wake_key(prefix, lock, owner), seconds};
}

}  // namespace cronlatch::redis
