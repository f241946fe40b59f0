// SPDX-License-Identifier: Apache-2.0
#include "operator/lookup/image_lookup.h"

#include <map>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "image/platform.h"
#include "kube/watch_timing.h"
#include "operator/lookup/confined_access.h"
#include "operator/lookup/needed_images.h"
#include "operator/lookup/pull_logins.h"
#include "registry/lookup.h"
#include "registry/registry_query.h"

namespace cronlatch::op {
namespace {

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
    in_cluster_ = api != nullptr;
    logins_.emplace(settings_, api, log_);
    auto upstream = registry::UpstreamProxy::parse(context.https_proxy, context.no_proxy);
    if (!upstream) return upstream.error();
    if (Status started = access_.start(context.scratch, context.system_cas, std::move(*upstream));
        !started)
      return started;
    const registry::RegistryClient& client =
        context.client == nullptr ? access_.client() : *context.client;
    registry::LookupTiming timing;
    timing.timeout = settings_.lookup_timeout;
    timing.cache_size = settings_.lookup_cache_size;
    const auto logins = [this](const registry::LookupRequest& request) {
      return logins_->find(request);
    };
    // It ends within the deadline that the lookup threads give it.
    const auto query = [this, ask = registry::make_registry_query(
                                  {client, logins, pace_, reports_.requested, clock_},
                                  settings_.lookup_cache_size)](
                           const registry::LookupRequest& request, TimePoint deadline,
                           const std::stop_token& stop) {
      reports_.began();
      Result<registry::ImageInfo> looked = ask(request, deadline, stop);
      reports_.ended();
      return looked;
    };
    const auto on_asked = [this](const registry::LookupRequest& request,
                                 const Result<registry::ImageInfo>& looked,
                                 Micros took) { on_looked_up(request, looked, took); };
    lookup_.emplace(
        registry::Lookup::Dependencies{query, on_asked, clock_, kube::real_random_fraction()},
        timing);
    lookup_->start();
    return Done{};
  }

  void set_needed(const kube::ObjectKey& cronjob, const std::optional<NeededImage>& needed) {
    if (needed)
      needed_.set(cronjob, needed->image, pull_secrets(needed->placement));
    else
      needed_.remove(cronjob);
  }

  bool is_idle() const { return !lookup_ || lookup_->is_idle(); }

  void stop() {
    if (lookup_) lookup_->stop();
    access_.stop();
  }

  EntrypointResult find(const EntrypointQuery& query, TimePoint until) {
    const Answer answer = look_up(query, until, registry::Freshness::recent);
    reports_.answered(answer.result);
    return answer.entrypoint;
  }

  std::optional<std::string> prefetch(const EntrypointQuery& query, registry::Freshness freshness) {
    const Answer answer = look_up(query, clock_.now(), freshness);
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

  Answer look_up(const EntrypointQuery& query, TimePoint until, registry::Freshness freshness) {
    EntrypointResult listed = ImageIndex(settings_).find(query);
    if (std::holds_alternative<Entrypoint>(listed)) return {std::move(listed), "index"};
    if (!lookup_) return {UnknownEntrypoint{"", "set entrypointLookup.enabled"}};
    const auto image = image::parse_reference(query.image);
    if (!image)
      return {UnknownEntrypoint{image.error().message +
                                (image.error().hint.empty() ? "" : "; " + image.error().hint)}};
    if (const Status allowed = access_.policy().allows(*image); !allowed)
      return {UnknownEntrypoint{allowed.error().message, allowed.error().hint}};
    const auto where = image::architectures(query.pod_spec, settings_.lookup_architectures);
    if (where.empty())
      return {UnknownEntrypoint{"the pod's node selector and affinity leave no architecture"}};
    registry::LookupRequest request{*image, where, query.namespace_name};
    const std::vector<std::string> secrets = pull_secrets(query.pod_spec);
    const auto needed_by = needed_.find(query.namespace_name, query.image, secrets);
    const bool may_use_secrets =
        !secrets.empty() && logins_->may_read_secrets_of(query.namespace_name);
    if (in_cluster_ && !needed_by) request.origin = registry::LookupRequest::Origin::reviewed;
    if (needed_by && may_use_secrets) {
      request.needed_by = needed_by->name;
      request.pull_secrets = secrets;
    }
    const registry::LookupResult result = lookup_->find(request, until, freshness);
    const std::string unused = may_use_secrets && !needed_by
                                   ? "; its pull secrets are read only for the image of a "
                                     "CronJob that exists"
                                   : "";
    const std::string name = "registry " + cronlatch::quoted(image->registry);
    switch (result.kind) {
      case registry::LookupResult::Kind::known:
        return known(query, *image, result);
      case registry::LookupResult::Kind::failed:
        return {UnknownEntrypoint{name + ": " + result.error + unused, "", true}};
      case registry::LookupResult::Kind::pending:
        return {UnknownEntrypoint{name + " has not answered yet; the lookup continues", "", true},
                "error", true};
    }
    return {UnknownEntrypoint{}};
  }

  Answer known(const EntrypointQuery& query, const image::Reference& image,
               const registry::LookupResult& result) const {
    const registry::ImageInfo& info = result.info;
    std::map<std::string, image::ImageCommand> by_arch;
    for (const auto& platform : info.platforms)
      by_arch.emplace(platform.architecture, platform.command);
    Entrypoint found = entrypoint_of(by_arch);
    found.from = image.name() + (info.digest.empty() ? "" : "@" + info.digest);
    if (settings_.lookup_pin) found.pinned = pinned(query.image, info.digest);
    return {std::move(found), result.from_cache ? "cache" : "registry"};
  }

  void on_looked_up(const registry::LookupRequest& request,
                    const Result<registry::ImageInfo>& looked, Micros took) {
    reports_.looked_up(took);
    if (!looked)
      log_({Level::warn,
            "image_not_looked_up",
            "cannot look up the entry point of an image: " + looked.error().message,
            {{"image", request.image.text()}}});
  }

  const Settings& settings_;
  const LookupReports reports_;
  const Clock& clock_;
  const Log& log_;
  NeededImages needed_;
  bool in_cluster_ = false;
  std::optional<PullLogins> logins_;
  ConfinedAccess access_{settings_, clock_, log_};
  registry::RegistryPace pace_{
      clock_, kube::real_random_fraction(), {.remembered = settings_.lookup_cache_size}};
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
EntrypointResult ImageLookup::find(const EntrypointQuery& query, TimePoint until) const {
  return impl_->find(query, until);
}

std::optional<std::string> ImageLookup::prefetch(const EntrypointQuery& query,
                                                 registry::Freshness freshness) const {
  return impl_->prefetch(query, freshness);
}

void ImageLookup::set_needed(const kube::ObjectKey& cronjob,
                             const std::optional<NeededImage>& needed) const {
  impl_->set_needed(cronjob, needed);
}

bool ImageLookup::is_idle() const { return impl_->is_idle(); }

}  // namespace cronlatch::op
