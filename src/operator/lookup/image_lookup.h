// SPDX-License-Identifier: Apache-2.0
// ImageLookup: the entry points of images, for admissions: from the image index of the settings,
// else from registries. It owns the lookup threads and the proxy for skopeo. Without the setting
// `lookup` neither exists, and only the index is used.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "admission/entrypoint.h"
#include "admission/image_needed.h"
#include "admission/settings.h"
#include "base/log.h"
#include "base/time.h"
#include "kube/api.h"
#include "kube/object_ref.h"
#include "operator/lookup/lookup_reports.h"
#include "registry/lookup.h"
#include "registry/registry_client.h"

namespace cronlatch::op {

// Thread rule: any method from any thread; start() and stop() once.
class ImageLookup {
 public:
  struct Context {
    std::string scratch = "/tmp";                      // directory for temporary files
    std::string system_cas{};                          // the variable SSL_CERT_FILE
    std::string https_proxy{};                         // the variable HTTPS_PROXY
    std::string no_proxy{};                            // the variable NO_PROXY
    const registry::RegistryClient* client = nullptr;  // for tests; nullptr: HTTP and skopeo
  };
  // All references must outlive the object.
  ImageLookup(const Settings& settings, LookupReports reports, const Clock& clock, const Log& log);
  ~ImageLookup();  // stops
  ImageLookup(const ImageLookup&) = delete;
  ImageLookup& operator=(const ImageLookup&) = delete;

  // `api` reads the pull secrets of Jobs, in the namespaces of the settings. It must outlive the
  // object; nullptr outside of a cluster.
  Status start(const Context& context, kube::Api* api);
  void stop();  // waiting calls return "not known yet"

  // Waits for a registry until `until` at most; the lookup continues after that.
  EntrypointResult find(const EntrypointQuery& use, TimePoint until) const;
  // Starts a lookup that a later admission will need. Does not wait and is not counted. Returns the
  // error of the last lookup, if it failed.
  std::optional<std::string> prefetch(const EntrypointQuery& use,
                                      registry::Freshness freshness) const;
  // The image that a CronJob in the API server needs; std::nullopt: none. In a cluster, limits
  // apply to the lookup of every other image, and no pull secret is read for it.
  void set_needed(const kube::ObjectKey& cronjob, const std::optional<NeededImage>& needed) const;
  // No lookup is queued or running. For tests.
  bool is_idle() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cronlatch::op
