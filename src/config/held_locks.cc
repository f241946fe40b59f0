// SPDX-License-Identifier: Apache-2.0
#include "config/held_locks.h"

#include <algorithm>
#include <optional>

#include "base/digest.h"
#include "base/text.h"
#include "config/environment.h"

namespace cronlatch {
namespace {

constexpr std::size_t kDigits = 16;
constexpr std::size_t kMaxDepth = 64;

constexpr std::size_t kMaxProcess = 64;

bool is_digest(std::string_view text) {
  return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

std::string_view lock_in(std::string_view word) { return word.substr(0, word.find('@')); }

std::string_view process_in(std::string_view word) {
  const std::size_t at = word.find('@');
  return at == word.npos ? "" : word.substr(at + 1);
}

bool is_held(std::string_view word) {
  return is_digest(lock_in(word)) && word.size() <= kDigits + 1 + kMaxProcess &&
         process_in(word).find_first_not_of("0123456789.") == word.npos;
}

// Those of runs that have not ended. Other text is ignored: another program may have changed the
// variable.
std::vector<std::string> held_around(std::span<const std::string> environment,
                                     const HasEnded& has_ended) {
  const std::optional<std::string> text = variable(environment, kHeldVariable);
  std::vector<std::string> held;
  for (std::string_view rest = text ? *text : std::string_view(); !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(','));
    if (is_held(word) && held.size() <= kMaxDepth && !has_ended(process_in(word)))
      held.emplace_back(word);
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
  }
  return held;
}

}  // namespace

std::string held_lock(const std::string& store, const std::string& lock) {
  return short_digest(store + '\0' + lock, kDigits);
}

Status refuse_nested(std::span<const std::string> environment, const std::string& lock,
                     const std::string& name, const HasEnded& has_ended) {
  const std::vector<std::string> held = held_around(environment, has_ended);
  if (std::any_of(held.begin(), held.end(),
                  [&](const std::string& word) { return lock_in(word) == lock; }))
    return Error{Code::config,
                 "lock " + quoted(name) + " is held by an outer run of this one (" +
                     std::string(kHeldVariable) + "), so this run would wait for its own end",
                 "give the inner run another lock, or remove it; a lock in a configuration file "
                 "applies to both runs"};
  if (held.size() >= kMaxDepth)
    return Error{Code::config,
                 "runs are nested more than " + std::to_string(kMaxDepth) + " deep (" +
                     std::string(kHeldVariable) + ")",
                 "check whether the command starts itself through cronlatch"};
  return Done{};
}

std::vector<std::string> held_variable(std::span<const std::string> environment,
                                       const std::string& lock, const std::string& process,
                                       const HasEnded& has_ended) {
  std::vector<std::string> held = held_around(environment, has_ended);
  if (!lock.empty()) held.push_back(process.empty() ? lock : lock + '@' + process);
  if (held.empty()) return {};
  std::string entry = std::string(kHeldVariable) + "=";
  for (std::size_t i = 0; i < held.size(); ++i) entry += (i == 0 ? "" : ",") + held[i];
  return {entry};
}

std::vector<std::string> without_held(std::span<const std::string> environment) {
  std::vector<std::string> kept;
  kept.reserve(environment.size());
  for (const std::string& entry : environment)
    if (variable_name(entry) != kHeldVariable) kept.push_back(entry);
  return kept;
}

}  // namespace cronlatch
