// SPDX-License-Identifier: Apache-2.0
// Looks up in registries which command an image runs, on a few threads, and caches the results. A
// caller waits until the time that it gives; the lookup continues after that, and a later call
// finds its result in the cache.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "image/manifest.h"
#include "image/reference.h"
#include "kube/backoff.h"

namespace cronlatch::registry {

struct LookupRequest {
  image::Reference image;
  std::vector<std::string> architectures;  // sorted, at least one
  std::string namespace_name{};
  // The Secrets with logins for this image. They are part of the cache key, with the namespace: a
  // result that one namespace's login read is not returned to another namespace.
  std::vector<std::string> pull_secrets{};
  enum class Origin {
    needed,    // a CronJob in the API server needs the image
    reviewed,  // only an admission review has named it: limits apply to the lookup
  };
  Origin origin = Origin::needed;
  std::string needed_by{};  // with pull_secrets: the name of that CronJob
};

struct ImageInfo {
  std::string digest;  // of the manifest or index; "" (schema 1): the image cannot be pinned
  struct Platform {
    std::string architecture;
    image::ImageCommand command;
    bool operator==(const Platform&) const = default;
  };
  std::vector<Platform> platforms;  // those of the request that the image has
  bool operator==(const ImageInfo&) const = default;
};

struct LookupResult {
  enum class Kind { known, failed, pending };
  Kind kind = Kind::pending;
  ImageInfo info{};        // Kind::known
  bool from_cache{false};  // Kind::known: the call did not wait for a lookup
  std::string error{};     // Kind::failed
};

struct LookupTiming {
  Millis timeout{15'000};       // of one lookup
  Millis tag_max_age{300'000};  // then a tag is revalidated
  // An older answer for a tag is confirmed first, for at most this long; then it is returned.
  Millis confirm_timeout{1'000};
  Millis first_retry{10'000};  // after a failure, which is cached until then; it doubles
  Millis max_retry{300'000};
  std::size_t threads = 4;
  std::size_t max_waiting = 6;  // callers that wait; every further one gets Kind::pending at once
  std::size_t max_queued = 1'000;
  std::size_t cache_size = 10'000;       // and a tenth of it for images of Origin::reviewed
  std::size_t reviewed_per_minute = 60;  // lookups of images of Origin::reviewed
};

// Reads one image from its registry. Blocks, at most until the deadline.
using RegistryQuery = std::function<Result<ImageInfo>(const LookupRequest&, TimePoint deadline,
                                                      const std::stop_token& stop)>;

// Which answers a caller needs.
enum class Freshness {
  recent,  // an answer for a tag that is older than tag_max_age is revalidated
  any,
};

// Thread rule: any method from any thread; start() and stop() once.
class Lookup {
 public:
  struct Dependencies {
    RegistryQuery query;
    // Called after each query, on the thread that made it.
    std::function<void(const LookupRequest&, const Result<ImageInfo>&, Micros duration)> on_done;
    const Clock& clock;
    // Called with the lock held; nullptr: retries are not spread.
    kube::RandomFraction random_fraction{};
  };
  Lookup(Dependencies dependencies, const LookupTiming& timing);
  ~Lookup();  // stops
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

  void start();
  void stop();  // cancels running lookups; waiting callers get Kind::pending
  LookupResult find(const LookupRequest& request, TimePoint until,
                    Freshness freshness = Freshness::recent);
  // No lookup is queued or running. For tests.
  bool is_idle() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cronlatch::registry
