// SPDX-License-Identifier: Apache-2.0
#include "registry/registry_query.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>

#include "base/digest.h"
#include "base/lru.h"

namespace cronlatch::registry {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

class ImageReader {
 public:
  ImageReader(const Skopeo& skopeo, LoginSource logins, std::size_t cache_size)
      : skopeo_(skopeo), logins_(std::move(logins)), commands_(cache_size) {}

  // The error is that of the first attempt: with a login, that is the one that the user can fix.
  Result<ImageInfo> read(const LookupRequest& request, TimePoint deadline,
                         const std::stop_token& stop) {
    std::optional<Error> first_error;
    const std::vector<Login> logins = logins_(request);
    for (std::size_t i = 0; i <= logins.size(); ++i) {
      const Login* const login = i < logins.size() ? &logins[i] : nullptr;
      auto info = read_with(login, request, {deadline, image::kMaxManifestBytes}, stop);
      if (info || stop.stop_requested()) return info;
      if (!first_error) first_error = info.error();
    }
    return *first_error;
  }

 private:
  Result<ImageInfo> read_with(const Login* login, const LookupRequest& request,
                              Skopeo::Limits limits, const std::stop_token& stop) {
    image::Reference image = request.image;
    const auto bytes = skopeo_.read(Skopeo::Document::manifest, image, login, limits, stop);
    if (!bytes) return bytes.error();
    const auto manifest = image::parse_manifest(*bytes);
    if (!manifest) return manifest.error();
    ImageInfo info;
    if (manifest->kind != image::Manifest::Kind::schema_1) {
      info.digest = image.digest.empty() ? "sha256:" + short_digest(*bytes, 64) : image.digest;
      image.digest = info.digest;
    }
    limits.max_bytes = image::kMaxConfigBytes;
    if (manifest->kind != image::Manifest::Kind::index) {
      const auto command = command_of(image, login, limits, stop);
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
      const auto command = command_of(image, login, limits, stop);
      if (!command) return command.error();
      info.platforms.push_back({platform.architecture, *command});
    }
    if (info.platforms.empty())
      return Error{Code::config,
                   "the image has no linux platform for " + joined(request.architectures)};
    return info;
  }

  Result<image::ImageCommand> command_of(const image::Reference& image, const Login* login,
                                         const Skopeo::Limits& limits,
                                         const std::stop_token& stop) {
    if (const auto cached = cached_command(image.digest)) return *cached;
    const auto bytes = skopeo_.read(Skopeo::Document::config, image, login, limits, stop);
    if (!bytes) return bytes.error();
    auto command = image::parse_config(*bytes);
    if (command && !image.digest.empty()) {
      const std::lock_guard lock(mutex_);
      commands_.put(image.digest, *command);
    }
    return command;
  }

  // The cache needs no check of the login: the caller has just read, with its own login, the
  // manifest of this digest or an index that lists it.
  std::optional<image::ImageCommand> cached_command(const std::string& digest) {
    const std::lock_guard lock(mutex_);
    const image::ImageCommand* const cached = digest.empty() ? nullptr : commands_.find(digest);
    return cached == nullptr ? std::nullopt : std::optional(*cached);
  }

  const Skopeo& skopeo_;
  const LoginSource logins_;
  std::mutex mutex_;
  Lru<image::ImageCommand> commands_;
};

}  // namespace

RegistryQuery make_registry_query(const Skopeo& skopeo, LoginSource logins,
                                  std::size_t cache_size) {
  // Shared, because a std::function must be copyable.
  auto reader = std::make_shared<ImageReader>(skopeo, std::move(logins), cache_size);
  return [reader](const LookupRequest& request, TimePoint deadline, const std::stop_token& stop) {
    return reader->read(request, deadline, stop);
  };
}

}  // namespace cronlatch::registry
