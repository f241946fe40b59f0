// SPDX-License-Identifier: Apache-2.0
// RegistryPace: when the next request may be sent. A registry that requests a pause, or does not
// answer, receives no request until the pause is over. The manifest of an unchanged image is read a
// limited number of times.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "base/lru.h"
#include "base/time.h"
#include "kube/backoff.h"

namespace cronlatch::registry {

struct PaceLimits {
  Millis first_pause{10'000};  // after an error; it doubles with each further error
  Millis max_pause{300'000};   // a longer Retry-After is honored
  // GETs of one manifest with one login.
  std::size_t manifest_gets = 20;
  Millis manifest_window{6 * 3'600'000};
  std::size_t remembered = 10'000;  // of the most recent registries and manifests, each
};

// The same limits apply to one login on one registry: registries count by login, and the login of
// one namespace must not cause a pause for another. Thread rule: any method from any thread.
class RegistryPace {
 public:
  // `random_fraction` is called by one thread at a time. `clock` outlives the object.
  RegistryPace(const Clock& clock, kube::RandomFraction random_fraction, PaceLimits limits = {});

  // The error that is the reason to send no request now; nothing: one may be sent. Its text does
  // not change with the time, because it becomes the identity of an Event.
  std::optional<std::string> reason_to_wait(const std::string& login_key);
  // A registry may limit GET and still answer HEAD: after a failed GET only a GET ends the pause
  // and its doubling.
  enum class Request { head, get };
  // The next error begins with the first pause.
  void answered(const std::string& login_key, Request request);
  // `retry_after` 0: the registry named no time.
  void failed(const std::string& login_key, Request request, const std::string& error,
              Millis retry_after);

  // Counts one GET; false, and not counted: the limit is reached.
  bool take_manifest_get(const std::string& manifest_key);

 private:
  struct Pause {
    TimePoint until{};
    Millis next{0};  // after the next error; 0: no error yet
    bool is_of_get = false;
    std::string error;
  };
  const Clock& clock_;
  const kube::RandomFraction random_fraction_;
  const PaceLimits limits_;
  std::mutex mutex_;
  Lru<Pause> pauses_;
  Lru<std::deque<TimePoint>> gets_;
};

}  // namespace cronlatch::registry
