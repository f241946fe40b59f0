// SPDX-License-Identifier: Apache-2.0
// ImageLookup: what images run, for admissions: the platform's index, then what registries told.
// Owns the client of registries, its proxy and its threads; without the setting `lookup` there are
// none, and only the index answers.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "admission/entrypoint.h"
#include "admission/settings.h"
#include "base/log.h"
#include "base/time.h"
#include "kube/api.h"
#include "operator/metrics/metrics.h"

namespace cronlatch::op {

// Thread rule: any method from any thread; start() and stop() once.
class ImageLookup {
 public:
  struct Surroundings {
    std::string scratch = "/tmp";  // where temporary files may be
    std::string system_cas{};      // the variable SSL_CERT_FILE
  };
  // All that is passed by reference outlives it.
  ImageLookup(const Settings& settings, Metrics& metrics, const Clock& clock, const Log& log);
  ~ImageLookup();  // stops
  ImageLookup(const ImageLookup&) = delete;
  ImageLookup& operator=(const ImageLookup&) = delete;

  // `api` reads the Secrets that Jobs name, in the namespaces of the settings; it outlives us.
  // nullptr outside of a cluster.
  Status start(const Surroundings& surroundings, kube::Api* api);
  void stop();  // whoever waits is told that nothing is known yet

  // Waits until then, where somebody must be asked; the look-up goes on without whoever asked.
  EntrypointResult find(const EntrypointQuery& use, TimePoint until) const;
  // For an image that will be needed: waits for nobody, and is not counted. Gives why it is not
  // known, once that is certain for now.
  std::optional<std::string> image_prefetcher(const EntrypointQuery& use) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// One admission's view of it.
class DeadlineEntrypointSource final : public EntrypointSource {
 public:
  DeadlineEntrypointSource(const ImageLookup& lookup, TimePoint until)
      : lookup_(lookup), until_(until) {}
  EntrypointResult find(const EntrypointQuery& use) const override {
    return lookup_.find(use, until_);
  }

 private:
  const ImageLookup& lookup_;
  const TimePoint until_;
};

}  // namespace cronlatch::op
