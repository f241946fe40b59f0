// SPDX-License-Identifier: Apache-2.0
// CountingRegistry: registries in memory. Every image has one manifest and one config; the test
// moves tags, limits and stops registries, and counts the requests.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/digest.h"
#include "registry/registry_client.h"

namespace cronlatch::testing {

class CountingRegistry final : public registry::RegistryClient {
 public:
  struct Counts {
    int heads = 0, manifests = 0, configs = 0;
    int gets() const { return manifests + configs; }  // of manifests: a config needs one, too
  };

  // Changes the content of the image.
  void push(const std::string& image) {
    const std::lock_guard lock(mutex_);
    ++versions_[image];
  }
  // The answer to each HEAD from now on, instead of the digest.
  void answer_heads_with(std::optional<registry::HeadResult> answer) {
    const std::lock_guard lock(mutex_);
    head_answer_ = std::move(answer);
  }
  // The error of each GET; "": none.
  void fail_gets(const std::string& error) {
    const std::lock_guard lock(mutex_);
    get_error_ = error;
  }
  Counts counts() const {
    const std::lock_guard lock(mutex_);
    return total_;
  }
  Counts counts(const std::string& repository) const {
    const std::lock_guard lock(mutex_);
    const auto at = counts_.find(repository);
    return at == counts_.end() ? Counts{} : at->second;
  }

  registry::HeadResult head(const image::Reference& image, const registry::RegistryLogin*,
                            TimePoint, const std::stop_token&) const override {
    const std::lock_guard lock(mutex_);
    count(image, &Counts::heads);
    if (head_answer_) return *head_answer_;
    registry::HeadResult found;
    found.kind = registry::HeadResult::Kind::found;
    found.digest = image.digest.empty() ? digest_of(manifest(image)) : image.digest;
    return found;
  }
  Result<std::string> read(Document document, const image::Reference& image,
                           const registry::RegistryLogin*, const Limits&,
                           const std::stop_token&) const override {
    const std::lock_guard lock(mutex_);
    count(image, document == Document::manifest ? &Counts::manifests : &Counts::configs);
    if (!get_error_.empty()) return Error{Code::unreachable, get_error_};
    if (document == Document::manifest) return manifest(image);
    return R"({"os":"linux","architecture":"amd64","config":{"Entrypoint":["/v)" +
           std::to_string(version(image)) + R"("]}})";
  }

 private:
  static std::string digest_of(const std::string& bytes) {
    return "sha256:" + short_digest(bytes, 64);
  }
  int version(const image::Reference& image) const {
    const auto at = versions_.find(image.name());
    return at == versions_.end() ? 1 : 1 + at->second;
  }
  std::string manifest(const image::Reference& image) const {
    return R"({"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json",)"
           R"("layers":[],"config":{"digest":")" +
           digest_of(image.name() + std::to_string(version(image))) + R"("}})";
  }
  void count(const image::Reference& image, int Counts::*what) const {
    ++(total_.*what);
    ++(counts_[image.name()].*what);
  }

  mutable std::mutex mutex_;
  mutable Counts total_;
  mutable std::map<std::string, Counts> counts_;  // by repository
  std::map<std::string, int> versions_;           // pushes of a repository after its first version
  std::optional<registry::HeadResult> head_answer_;
  std::string get_error_;
};

inline registry::HeadResult head_answer(registry::HeadResult::Kind kind, const std::string& error,
                                        Millis retry_after = Millis(0)) {
  registry::HeadResult result;
  result.kind = kind;
  result.error = error;
  result.retry_after = retry_after;
  return result;
}

}  // namespace cronlatch::testing
