// SPDX-License-Identifier: Apache-2.0
#include "operator/lookup/image_lookup.h"

#include <atomic>
#include <map>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "image/platform.h"
#include "image/registry_policy.h"
#include "operator/lookup/pull_logins.h"
#include "registry/confine.h"
#include "registry/lookup.h"

namespace cronlatch::op {
namespace {

image::RegistryPolicy policy_of(const Settings& settings) {
  std::vector<image::ListedRegistry> listed;
  for (const std::string& line :
       settings.lookup_registries)  // validated when the settings were read
    if (auto one = image::parse_listed(line)) listed.push_back(std::move(*one));
  return image::RegistryPolicy(std::move(listed));
}

// skopeo connects to a registry on a loopback address directly, without the proxy.
std::vector<std::uint16_t> ports_of(const image::RegistryPolicy& policy, std::uint16_t proxy) {
  std::vector<std::uint16_t> ports = {proxy};
  for (const image::ListedRegistry& one : policy.listed())
    if (one.peer.host == "localhost" || one.peer.host == "::1" || one.peer.host.starts_with("127."))
      ports.push_back(one.peer.port);
  return ports;
}

std::string pinned(const std::string& image, const std::string& digest) {
  return digest.empty() || image.find('@') != std::string::npos ? "" : image + "@" + digest;
}

}  // namespace

class ImageLookup::Impl {
 public:
  Impl(const Settings& settings, LookupReports reports, const Clock& clock, const Log& log)
      : settings_(settings), reports_(std::move(reports)), clock_(clock), log_(log) {}

  Status start(const Context& context, kube::Api* api) {
    if (!settings_.lookup) return Done{};
    logins_.emplace(settings_, api, log_);
    if (Status started = proxy_.start(); !started) return started;
    skopeo_.emplace(registry::SkopeoConfig{.program = settings_.lookup_program,
                                           .ca_file = settings_.lookup_ca_file,
                                           .system_cas = context.system_cas,
                                           .scratch = context.scratch},
                    policy_, proxy_, clock_, [this] { confine(); });
    registry::LookupTiming timing;
    timing.timeout = settings_.lookup_timeout;
    timing.remembered = settings_.lookup_cache_size;
    const auto logins = [this](const registry::Question& question) {
      return logins_->find(question);
    };
    const auto on_asked = [this](const registry::Question& question,
                                 const Result<registry::Looked>& looked,
                                 Micros took) { on_looked_up(question, looked, took); };
    lookup_.emplace(registry::Lookup::Parts{ask_by(*skopeo_, logins, settings_.lookup_cache_size),
                                            on_asked, clock_},
                    timing);
    lookup_->start();
    return Done{};
  }

  void stop() {
    if (lookup_) lookup_->stop();
    proxy_.stop();
  }

  EntrypointAnswer find(const ImageUse& use, TimePoint until) {
    const Answer answer = look_up(use, until);
    reports_.answered(answer.result);
    return answer.entrypoint;
  }

  std::optional<std::string> prefetch(const ImageUse& use) {
    const Answer answer = look_up(use, clock_.now());
    const auto* const unknown = std::get_if<NotKnown>(&answer.entrypoint);
    if (unknown == nullptr || answer.pending || unknown->why.empty()) return std::nullopt;
    return unknown->why;
  }

 private:
  struct Answer {
    EntrypointAnswer entrypoint;
    std::string_view result = "error";
    bool pending = false;
  };

  Answer look_up(const ImageUse& use, TimePoint until) {
    EntrypointAnswer listed = ImageIndex(settings_).find(use);
    if (std::holds_alternative<Entrypoint>(listed)) return {std::move(listed), "index"};
    if (!lookup_) return {std::move(listed)};
    const auto image = image::parse_reference(use.image);
    if (!image) return {NotKnown{image.error().message, image.error().hint}};
    if (const Status allowed = policy_.allows(*image); !allowed)
      return {NotKnown{allowed.error().message, allowed.error().hint}};
    const auto where = image::architectures(use.pod_spec, settings_.lookup_architectures);
    if (where.empty())
      return {NotKnown{"the pod's node selector and affinity leave no architecture"}};
    registry::Question question{*image, where};
    if (logins_->may_read_secrets_of(use.namespace_name)) {
      question.namespace_name = use.namespace_name;
      question.pull_secrets = pull_secrets(use.pod_spec);
    }
    const registry::Told told = lookup_->find(question, until);
    const std::string name = "registry " + cronlatch::quoted(image->registry);
    switch (told.kind) {
      case registry::Told::Kind::known:
        return known(use, *image, told);
      case registry::Told::Kind::failed:
        return {NotKnown{name + ": " + told.why, "", true}};
      case registry::Told::Kind::not_yet:
        return {NotKnown{name + " has not answered yet; the lookup continues", "", true}, "error",
                true};
    }
    return {NotKnown{}};
  }

  Answer known(const ImageUse& use, const image::Reference& image,
               const registry::Told& told) const {
    const registry::Looked& looked = told.looked;
    std::map<std::string, image::Startup> by_arch;
    for (const auto& on : looked.on) by_arch.emplace(on.architecture, on.startup);
    Entrypoint found = entrypoint_of(by_arch);
    found.from = image.name() + (looked.digest.empty() ? "" : "@" + looked.digest);
    if (settings_.lookup_pin) found.pinned = pinned(use.image, looked.digest);
    return {std::move(found), told.remembered ? "cache" : "registry"};
  }

  void on_looked_up(const registry::Question& question, const Result<registry::Looked>& looked,
                    Micros took) {
    reports_.looked_up(took);
    if (!looked)
      log_({Level::warn,
            "image_not_looked_up",
            "cannot look up the entry point of an image: " + looked.error().message,
            {{"image", question.image.text()}}});
  }

  void confine() {
    if (registry::confine_thread_to_ports(ports_of(policy_, proxy_.port())) ||
        confine_warned_.exchange(true))
      return;
    log_({Level::warn,
          "lookup_not_confined",
          "this kernel cannot deny skopeo the access to the loopback address of this pod",
          {},
          "use Linux 6.7 or newer with Landlock"});
  }

  const Settings& settings_;
  const LookupReports reports_;
  const Clock& clock_;
  const Log& log_;
  std::optional<PullLogins> logins_;
  const image::RegistryPolicy policy_ = policy_of(settings_);
  registry::Proxy proxy_{policy_, {}, clock_, log_};
  std::optional<registry::Skopeo> skopeo_;
  std::atomic<bool> confine_warned_{false};
  std::optional<registry::Lookup> lookup_;  // last: its threads use all members above
};

ImageLookup::ImageLookup(const Settings& settings, LookupReports reports, const Clock& clock,
                         const Log& log)
    : impl_(std::make_unique<Impl>(settings, std::move(reports), clock, log)) {}
ImageLookup::~ImageLookup() { stop(); }
Status ImageLookup::start(const Context& context, kube::Api* api) {
  return impl_->start(context, api);
}
void ImageLookup::stop() { impl_->stop(); }
EntrypointAnswer ImageLookup::find(const ImageUse& use, TimePoint until) const {
  return impl_->find(use, until);
}

std::optional<std::string> ImageLookup::prefetch(const ImageUse& use) const {
  return impl_->prefetch(use);
}

}  // namespace cronlatch::op
