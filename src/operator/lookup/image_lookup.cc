// SPDX-License-Identifier: Apache-2.0
#include "operator/lookup/image_lookup.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "image/platform.h"
#include "image/registry_policy.h"
#include "kube/access.h"
#include "kube/secrets.h"
#include "registry/lookup.h"
#include "registry/port_confinement.h"
#include "registry/registry_query.h"

namespace cronlatch::op {
namespace {

image::RegistryPolicy policy_of(const Settings& settings) {
  std::vector<image::ListedRegistry> listed;
  for (const std::string& line : settings.lookup_registries)  // checked when they were read
    if (auto one = image::parse_listed_registry(line)) listed.push_back(std::move(*one));
  return image::RegistryPolicy(std::move(listed));
}

// A registry on this host is listed by its address: the client goes there without the proxy.
std::vector<std::uint16_t> ports_of(const image::RegistryPolicy& policy, std::uint16_t proxy) {
  std::vector<std::uint16_t> ports = {proxy};
  for (const image::ListedRegistry& one : policy.listed())
    if (one.peer.host == "localhost" || one.peer.host == "::1" || one.peer.host.starts_with("127."))
      ports.push_back(one.peer.port);
  return ports;
}

// A name is a part of a path that we ask the API server for, so it must be one.
bool is_secret_name(const std::string& name) {
  return !name.empty() && name.size() <= 253 && name.front() != '.' &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == std::string::npos;
}

std::vector<std::string> pull_secrets(const kube::Json& pod_spec) {
  constexpr std::size_t kMost = 16;
  std::vector<std::string> names;
  for (const kube::Json& one : kube::items_at(pod_spec, {"imagePullSecrets"}))
    if (std::string name = kube::string_at(one, {"name"});
        is_secret_name(name) && names.size() < kMost)
      names.push_back(std::move(name));
  return names;
}

std::string pinned(const std::string& image, const std::string& digest) {
  return digest.empty() || image.find('@') != std::string::npos ? "" : image + "@" + digest;
}

}  // namespace

class ImageLookup::Impl {
 public:
  Impl(const Settings& settings, Metrics& metrics, const Clock& clock, const Log& log)
      : settings_(settings), metrics_(metrics), clock_(clock), log_(log) {}

  Status start(const Surroundings& surroundings, kube::Api* api) {
    if (!settings_.lookup) return Done{};
    api_ = api;
    if (Status started = proxy_.start(); !started) return started;
    skopeo_.emplace(registry::SkopeoConfig{.program = settings_.lookup_program,
                                           .ca_file = settings_.lookup_ca_file,
                                           .system_cas = surroundings.system_cas,
                                           .temp_dir = surroundings.scratch},
                    policy_, proxy_, clock_, [this] { confine(); });
    registry::LookupTiming timing;
    timing.timeout = settings_.lookup_timeout;
    timing.cache_size = settings_.lookup_cache_size;
    const auto logins = [this](const registry::LookupRequest& request) {
      return logins_for(request);
    };
    const auto on_asked = [this](const registry::LookupRequest& request,
                                 const Result<registry::ImageInfo>& looked,
                                 Micros took) { asked(request, looked, took); };
    lookup_.emplace(
        registry::Lookup::Dependencies{
            make_registry_query(*skopeo_, logins, settings_.lookup_cache_size), on_asked, clock_},
        timing);
    lookup_->start();
    return Done{};
  }

  void stop() {
    if (lookup_) lookup_->stop();
    proxy_.stop();
  }

  EntrypointResult find(const EntrypointQuery& use, TimePoint until) {
    const Answer answer = ask(use, until);
    metrics_.count(kEntrypointLookups, {{"result", std::string(answer.result)}});
    return answer.entrypoint;
  }

  std::optional<std::string> image_prefetcher(const EntrypointQuery& use) {
    const Answer answer = ask(use, clock_.now());
    const auto* const unknown = std::get_if<UnknownEntrypoint>(&answer.entrypoint);
    if (unknown == nullptr || answer.pending || unknown->reason.empty()) return std::nullopt;
    return unknown->reason;
  }

 private:
  struct Answer {
    EntrypointResult entrypoint;
    std::string_view result = "error";
    bool pending = false;
  };

  Answer ask(const EntrypointQuery& use, TimePoint until) {
    EntrypointResult listed = ImageIndex(settings_).find(use);
    if (std::holds_alternative<Entrypoint>(listed)) return {std::move(listed), "index"};
    if (!lookup_) return {std::move(listed)};
    const auto image = image::parse_reference(use.image);
    if (!image) return {UnknownEntrypoint{image.error().message, image.error().hint}};
    if (const Status allowed = policy_.allows(*image); !allowed)
      return {UnknownEntrypoint{allowed.error().message, allowed.error().hint}};
    const auto where = image::architectures(use.pod_spec, settings_.lookup_architectures);
    if (where.empty())
      return {UnknownEntrypoint{"the pod's node selector and affinity leave no architecture"}};
    registry::LookupRequest request{*image, where};
    if (may_read_secrets_of(use.namespace_name)) {
      request.namespace_name = use.namespace_name;
      request.pull_secrets = pull_secrets(use.pod_spec);
    }
    const registry::LookupResult told = lookup_->find(request, until);
    const std::string name = "registry " + cronlatch::quoted(image->registry);
    switch (told.kind) {
      case registry::LookupResult::Kind::known:
        return known(use, *image, told);
      case registry::LookupResult::Kind::failed:
        return {UnknownEntrypoint{name + ": " + told.error, "", true}};
      case registry::LookupResult::Kind::pending:
        return {
            UnknownEntrypoint{name + " has not answered yet and is still being asked", "", true},
            "error", true};
    }
    return {UnknownEntrypoint{}};
  }

  Answer known(const EntrypointQuery& use, const image::Reference& image,
               const registry::LookupResult& told) const {
    const registry::ImageInfo& looked = told.info;
    std::map<std::string, image::ImageCommand> by_arch;
    for (const auto& platform : looked.platforms)
      by_arch.emplace(platform.architecture, platform.command);
    Entrypoint found = entrypoint_of(by_arch);
    found.from = image.name() + (looked.digest.empty() ? "" : "@" + looked.digest);
    if (settings_.lookup_pin) found.pinned = pinned(use.image, looked.digest);
    return {std::move(found), told.from_cache ? "cache" : "registry"};
  }

  void asked(const registry::LookupRequest& request, const Result<registry::ImageInfo>& looked,
             Micros took) {
    metrics_.entrypoint_lookup_took(took);
    if (!looked)
      log_({Level::warn,
            "image_not_looked_up",
            "cannot tell what an image runs: " + looked.error().message,
            {{"image", request.image.text()}}});
  }

  bool may_read_secrets_of(const std::string& namespace_name) const {
    const auto& all = settings_.lookup_pull_secret_namespaces;
    return api_ != nullptr && std::find(all.begin(), all.end(), namespace_name) != all.end();
  }

  // At each look-up, because Secrets change: the Job's own, then the platform's.
  std::vector<registry::Login> logins_for(const registry::LookupRequest& request) const {
    std::vector<registry::Login> all;
    const auto add = [&](const std::string& where, const Result<std::string>& text) {
      auto logins = text ? registry::logins_for(*text, request.image)
                         : Result<std::vector<registry::Login>>(text.error());
      if (logins)
        all.insert(all.end(), logins->begin(), logins->end());
      else
        log_({Level::warn, "logins_unreadable", logins.error().message, {{"from", where}}});
    };
    for (const std::string& name : request.pull_secrets)
      add(request.namespace_name + "/" + name, read_secret(request.namespace_name, name));
    if (!settings_.lookup_docker_config.empty())
      add(settings_.lookup_docker_config, kube::read_small_file(settings_.lookup_docker_config));
    return all;
  }

  Result<std::string> read_secret(const std::string& namespace_name,
                                  const std::string& name) const {
    const auto answer = api_->call({.path = kube::secret_path(namespace_name, name)});
    if (!answer) return answer.error();
    if (!answer->ok()) return Error{Code::config, answer->message()};
    for (const char* key : {".dockerconfigjson", ".dockercfg"})
      if (std::string text = kube::secret_value(answer->body, key); !text.empty()) return text;
    return Error{Code::config, "the Secret holds no docker config"};
  }

  void confine() {
    if (registry::confine_thread_to_ports(ports_of(policy_, proxy_.port())) || said_.exchange(true))
      return;
    log_({Level::warn,
          "lookup_not_confined",
          "this kernel cannot keep the client of registries from this pod's own loopback address",
          {},
          "Linux 6.7 or newer with Landlock can"});
  }

  const Settings& settings_;
  Metrics& metrics_;
  const Clock& clock_;
  const Log& log_;
  kube::Api* api_ = nullptr;
  const image::RegistryPolicy policy_ = policy_of(settings_);
  registry::Proxy proxy_{policy_, {}, clock_, log_};
  std::optional<registry::Skopeo> skopeo_;
  std::atomic<bool> said_{false};
  std::optional<registry::Lookup> lookup_;  // last: its threads use all of the above
};

ImageLookup::ImageLookup(const Settings& settings, Metrics& metrics, const Clock& clock,
                         const Log& log)
    : impl_(std::make_unique<Impl>(settings, metrics, clock, log)) {}
ImageLookup::~ImageLookup() { stop(); }
Status ImageLookup::start(const Surroundings& surroundings, kube::Api* api) {
  return impl_->start(surroundings, api);
}
void ImageLookup::stop() { impl_->stop(); }
EntrypointResult ImageLookup::find(const EntrypointQuery& use, TimePoint until) const {
  return impl_->find(use, until);
}

std::optional<std::string> ImageLookup::image_prefetcher(const EntrypointQuery& use) const {
  return impl_->image_prefetcher(use);
}

}  // namespace cronlatch::op
