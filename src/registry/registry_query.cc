// SPDX-License-Identifier: Apache-2.0
// From an image's name to what it runs on each architecture.
#include <openssl/evp.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>

#include "base/lru.h"
#include "base/text.h"
#include "registry/lookup.h"

namespace cronlatch::registry {
namespace {

std::string sha256_of(const std::string& bytes) {
  unsigned char hash[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(bytes.data(), bytes.size(), hash, &size, EVP_sha256(), nullptr);
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "sha256:";
  for (unsigned int i = 0; i < size; ++i) out += {kDigits[hash[i] >> 4], kDigits[hash[i] & 15]};
  return out;
}

std::string listed(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

class Asking {
 public:
  Asking(const Skopeo& skopeo, LoginsFor logins, std::size_t remembered)
      : skopeo_(skopeo), logins_(std::move(logins)), startups_(remembered) {}

  // Each login that fits, then none. Who was refused with a login wants to know why.
  Result<Looked> ask(const Question& question, TimePoint deadline, const std::stop_token& stop) {
    std::optional<Error> first;
    const std::vector<Login> logins = logins_(question);
    for (std::size_t i = 0; i <= logins.size(); ++i) {
      const Login* const login = i < logins.size() ? &logins[i] : nullptr;
      auto looked = with(question, login, {deadline, image::kMostManifestBytes}, stop);
      if (looked || stop.stop_requested()) return looked;
      if (!first) first = looked.error();
    }
    return *first;
  }

 private:
  Result<Looked> with(const Question& question, const Login* login, Skopeo::Limits limits,
                      const std::stop_token& stop) {
    image::Reference image = question.image;
    const auto bytes = skopeo_.read(Skopeo::What::manifest, image, login, limits, stop);
    if (!bytes) return bytes.error();
    const auto manifest = image::parse_manifest(*bytes);
    if (!manifest) return manifest.error();
    Looked looked;
    if (manifest->kind != image::Manifest::Kind::schema_1) {
      looked.digest = image.digest.empty() ? sha256_of(*bytes) : image.digest;
      image.digest = looked.digest;
    }
    limits.most_bytes = image::kMostConfigBytes;
    if (manifest->kind != image::Manifest::Kind::index) {
      const auto startup = startup_of(image, login, limits, stop);
      if (!startup) return startup.error();
      for (const std::string& arch : question.architectures) looked.on.push_back({arch, *startup});
      return looked;
    }
    for (const image::Variant& variant : manifest->linux_variants) {
      if (!std::binary_search(question.architectures.begin(), question.architectures.end(),
                              variant.arch))
        continue;
      image.digest = variant.digest;
      const auto startup = startup_of(image, login, limits, stop);
      if (!startup) return startup.error();
      looked.on.push_back({variant.arch, *startup});
    }
    if (looked.on.empty())
      return Error{Code::config,
                   "the image has nothing for linux on " + listed(question.architectures)};
    return looked;
  }

  Result<image::Startup> startup_of(const image::Reference& image, const Login* login,
                                    const Skopeo::Limits& limits, const std::stop_token& stop) {
    if (const auto known = remembered(image.digest)) return *known;
    const auto bytes = skopeo_.read(Skopeo::What::config, image, login, limits, stop);
    if (!bytes) return bytes.error();
    auto startup = image::parse_config(*bytes);
    if (startup && !image.digest.empty()) {
      const std::lock_guard lock(mutex_);
      startups_.put(image.digest, *startup);
    }
    return startup;
  }

  // Whoever gets here has just read the manifest of that digest with his own login, or one that
  // lists it.
  std::optional<image::Startup> remembered(const std::string& digest) {
    const std::lock_guard lock(mutex_);
    const image::Startup* const known = digest.empty() ? nullptr : startups_.find(digest);
    return known == nullptr ? std::nullopt : std::optional(*known);
  }

  const Skopeo& skopeo_;
  const LoginsFor logins_;
  std::mutex mutex_;
  image::Lru<image::Startup> startups_;
};

}  // namespace

Ask ask_by(const Skopeo& skopeo, LoginsFor logins, std::size_t remembered) {
  // Shared, because a std::function must be copyable.
  auto asking = std::make_shared<Asking>(skopeo, std::move(logins), remembered);
  return [asking](const Question& question, TimePoint deadline, const std::stop_token& stop) {
    return asking->ask(question, deadline, stop);
  };
}

}  // namespace cronlatch::registry
