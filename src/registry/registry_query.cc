// SPDX-License-Identifier: Apache-2.0
#include "registry/registry_query.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "base/digest.h"
#include "registry/answer_cache.h"

namespace cronlatch::registry {
namespace {

using Document = RegistryClient::Document;

std::string joined(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

// Registries count requests by login. The key contains no part of a login that can be read.
std::string login_key(const std::string& registry, const RegistryLogin* login) {
  if (login == nullptr) return registry;
  return registry + "\n" +
         short_digest(login->auth.reveal() + "\n" + login->identity_token.reveal(), 32);
}

bool has_digest(const std::string& bytes, const std::string& digest) {
  return !digest.starts_with("sha256:") || digest == "sha256:" + short_digest(bytes, 64);
}

class ImageReader {
 public:
  ImageReader(RegistryQueryDependencies dependencies, std::size_t cache_size)
      : deps_(std::move(dependencies)), cache_(cache_size) {}

  // The error is that of the first attempt: with a login, that is the one that the user can fix.
  Result<ImageInfo> read(const LookupRequest& request, TimePoint deadline,
                         const std::stop_token& stop) {
    std::optional<Error> first_error;
    const std::vector<RegistryLogin> logins = deps_.logins(request);
    for (std::size_t i = 0; i <= logins.size(); ++i) {
      const RegistryLogin* const login = i < logins.size() ? &logins[i] : nullptr;
      const Attempt attempt{request, login, login_key(request.image.registry, login), deadline,
                            stop};
      auto info = read_with(attempt);
      if (info || stop.stop_requested()) return info;
      if (!first_error) first_error = info.error();
    }
    return *first_error;
  }

 private:
  struct Attempt {
    const LookupRequest& request;
    const RegistryLogin* login;
    std::string login_key;
    TimePoint deadline;
    const std::stop_token& stop;
  };

  Result<ImageInfo> read_with(const Attempt& attempt) {
    if (auto why = deps_.pace.reason_to_wait(attempt.login_key))
      return Error{Code::unreachable, std::move(*why)};
    const LookupRequest& request = attempt.request;
    const HeadResult head = ask(attempt);
    switch (head.kind) {
      case HeadResult::Kind::refused:
        deps_.pace.answered(attempt.login_key, RegistryPace::Request::head);
        return Error{Code::unreachable, head.error};
      case HeadResult::Kind::busy:
      case HeadResult::Kind::unavailable:
        if (!attempt.stop.stop_requested())
          deps_.pace.failed(attempt.login_key, RegistryPace::Request::head, head.error,
                            head.retry_after);
        return Error{Code::unreachable, head.error};
      case HeadResult::Kind::found:
      case HeadResult::Kind::not_offered:
        deps_.pace.answered(attempt.login_key, RegistryPace::Request::head);
        break;
    }
    image::Reference image = request.image;
    if (head.kind == HeadResult::Kind::found) image.digest = head.digest;
    const std::string key = AnswerCache::key(image, request.architectures, attempt.login_key);
    if (auto known = cache_.find(key, image, deps_.clock.now())) return std::move(*known);
    if (!head.has_pulls_left)
      return Error{Code::unreachable, "the registry permits no more pulls for now"};
    auto info = read_documents(attempt, std::move(image));
    if (info) {
      deps_.pace.answered(attempt.login_key, RegistryPace::Request::get);
      cache_.put(key, *info, deps_.clock.now());
    }
    return info;
  }

  HeadResult ask(const Attempt& attempt) const {
    const HeadResult head =
        deps_.client.head(attempt.request.image, attempt.login, attempt.deadline, attempt.stop);
    std::string_view result = "ok";
    if (head.kind == HeadResult::Kind::refused) result = "refused";
    if (head.kind == HeadResult::Kind::busy) result = "busy";
    if (head.kind == HeadResult::Kind::unavailable) result = "error";
    report(attempt, "head", result);
    return head;
  }

  Result<ImageInfo> read_documents(const Attempt& attempt, image::Reference image) {
    const LookupRequest& request = attempt.request;
    const auto bytes = read_document(attempt, Document::manifest, image);
    if (!bytes) return bytes.error();
    const auto manifest = image::parse_manifest(*bytes);
    if (!manifest) return manifest.error();
    ImageInfo info;
    if (manifest->kind != image::Manifest::Kind::schema_1) {
      info.digest = image.digest.empty() ? "sha256:" + short_digest(*bytes, 64) : image.digest;
      if (!has_digest(*bytes, info.digest))
        return Error{Code::unreachable, "the registry's response does not have the digest of HEAD"};
      image.digest = info.digest;
    }
    if (manifest->kind != image::Manifest::Kind::index) {
      const auto command = command_of(attempt, image);
      if (!command) return command.error();
      for (const std::string& architecture : request.architectures)
        info.platforms.push_back({architecture, *command});
      return info;
    }
    for (const image::PlatformManifest& platform : manifest->linux_platforms) {
      if (!std::binary_search(request.architectures.begin(), request.architectures.end(),
                              platform.architecture))
        continue;
      image.digest = platform.digest;
      const auto command = command_of(attempt, image);
      if (!command) return command.error();
      info.platforms.push_back({platform.architecture, *command});
    }
    if (info.platforms.empty())
      return Error{Code::config,
                   "the image has no linux platform for " + joined(request.architectures)};
    return info;
  }

  // The cache of commands needs no check of the login: the caller has just read, with its own
  // login, the manifest of this digest or an index that lists it.
  Result<image::ImageCommand> command_of(const Attempt& attempt, const image::Reference& image) {
    if (auto cached = cache_.find_command(image.digest)) return std::move(*cached);
    const auto bytes = read_document(attempt, Document::config, image);
    if (!bytes) return bytes.error();
    auto command = image::parse_config(*bytes);
    if (command) cache_.put_command(image.digest, *command);
    return command;
  }

  Result<std::string> read_document(const Attempt& attempt, Document document,
                                    const image::Reference& image) {
    if (!deps_.pace.take_manifest_get(attempt.login_key + "\n" + image.text()))
      return Error{Code::unreachable,
                   "the manifest was read too often within 6 h; it is read again later"};
    const bool is_manifest = document == Document::manifest;
    auto bytes = deps_.client.read(
        document, image, attempt.login,
        {attempt.deadline, is_manifest ? image::kMaxManifestBytes : image::kMaxConfigBytes},
        attempt.stop);
    const bool busy = !bytes && bytes.error().message.find(kLimitedGet) != std::string::npos;
    if (busy)
      deps_.pace.failed(attempt.login_key, RegistryPace::Request::get, bytes.error().message,
                        Millis(0));
    report(attempt, is_manifest ? "manifest" : "config", bytes ? "ok" : busy ? "busy" : "error");
    return bytes;
  }

  void report(const Attempt& attempt, std::string_view kind, std::string_view result) const {
    if (deps_.on_request) deps_.on_request(attempt.request.image.registry, kind, result);
  }

  const RegistryQueryDependencies deps_;
  AnswerCache cache_;
};

}  // namespace

RegistryQuery make_registry_query(RegistryQueryDependencies dependencies, std::size_t cache_size) {
  // Shared, because a std::function must be copyable.
  auto reader = std::make_shared<ImageReader>(std::move(dependencies), cache_size);
  return [reader](const LookupRequest& request, TimePoint deadline, const std::stop_token& stop) {
    return reader->read(request, deadline, stop);
  };
}

}  // namespace cronlatch::registry
