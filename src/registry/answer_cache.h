// SPDX-License-Identifier: Apache-2.0
// AnswerCache: what registries have answered, by digest. The content behind a digest never changes.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/lru.h"
#include "base/time.h"
#include "image/manifest.h"
#include "image/reference.h"
#include "registry/lookup.h"

namespace cronlatch::registry {

// Thread rule: any method from any thread.
class AnswerCache {
 public:
  // A registry that answers HEAD without a digest is read again after this time: with two GETs of a
  // manifest at most, 20 GETs are sufficient for six hours.
  static constexpr Millis kMaxAgeWithoutDigest{6 * 3'600'000 / 10};

  explicit AnswerCache(std::size_t size) : answers_(size), commands_(size) {}

  // By digest, an answer is for each login: the caller has just proved with HEAD, in the same
  // repository, that its login may read this digest. Without a digest it is for one login.
  static std::string key(const image::Reference& image,
                         const std::vector<std::string>& architectures,
                         const std::string& login_key) {
    std::string key = image.text();
    for (const std::string& architecture : architectures) key += "\n" + architecture;
    return image.digest.empty() ? key + "\n@" + login_key : key;
  }

  std::optional<ImageInfo> find(const std::string& key, const image::Reference& image,
                                TimePoint now) {
    const std::lock_guard lock(mutex_);
    const Answer* const answer = answers_.find(key);
    if (answer == nullptr) return std::nullopt;
    if (image.digest.empty() && now - answer->read_at >= kMaxAgeWithoutDigest) return std::nullopt;
    return answer->info;
  }
  void put(const std::string& key, const ImageInfo& info, TimePoint now) {
    const std::lock_guard lock(mutex_);
    answers_.put(key, {info, now});
  }

  // The command of the config of this manifest; "" is never found.
  std::optional<image::ImageCommand> find_command(const std::string& digest) {
    const std::lock_guard lock(mutex_);
    const image::ImageCommand* const command = digest.empty() ? nullptr : commands_.find(digest);
    return command == nullptr ? std::nullopt : std::optional(*command);
  }
  void put_command(const std::string& digest, const image::ImageCommand& command) {
    if (digest.empty()) return;
    const std::lock_guard lock(mutex_);
    commands_.put(digest, command);
  }

 private:
  struct Answer {
    ImageInfo info;
    TimePoint read_at;
  };
  std::mutex mutex_;
  Lru<Answer> answers_;
  Lru<image::ImageCommand> commands_;
};

}  // namespace cronlatch::registry
