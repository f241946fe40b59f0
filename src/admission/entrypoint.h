// SPDX-License-Identifier: Apache-2.0
// What a container without `command` runs: Kubernetes does not know, only the image does. The seam
// between the rewrite and whoever can tell.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "admission/settings.h"
#include "image/manifest.h"

namespace cronlatch::op {

// Who asks: the image, and what of its pod says where it runs.
struct EntrypointQuery {
  std::string image;
  std::string namespace_name;
  const kube::Json& pod_spec;
};

struct Entrypoint {
  std::vector<std::string> entrypoint;
  // Runs behind it when the container has no `args`: once we set `command`, Kubernetes no longer
  // takes it from the image.
  std::vector<std::string> cmd;
  // Where it comes from, for people; empty: nothing worth telling.
  std::string from{};
  std::string pinned{};  // the image to run instead, by digest; empty: as the pod says
  // By architecture, where the image's platforms differ: then the first two are empty.
  std::map<std::string, image::ImageCommand> by_arch{};
};

// Of what the image says, on each of the architectures that matter. The kubelet would replace
// $(NAME) in what we write, but not in that.
Entrypoint entrypoint_of(const std::map<std::string, image::ImageCommand>& by_arch);

struct UnknownEntrypoint {
  std::string why;    // completes "what image X runs is not known"; empty: nobody was asked
  std::string fix{};  // what else would help
  bool may_resolve_later{false};  // asked again, the answer may be another
};

using EntrypointResult = std::variant<Entrypoint, UnknownEntrypoint>;

class EntrypointSource {
 public:
  virtual ~EntrypointSource() = default;
  // Must not throw. May take as long as its maker allowed it to.
  virtual EntrypointResult find(const EntrypointQuery& use) const = 0;
};

// The platform's list. An entry without tag or digest stands for all of them.
class ImageIndex final : public EntrypointSource {
 public:
  explicit ImageIndex(const Settings& settings) : images_(settings.image_index) {}
  EntrypointResult find(const EntrypointQuery& use) const override;

 private:
  const std::map<std::string, std::vector<std::string>>& images_;
};

// What `kubectl apply` asks: as `source`, but an image that may be known soon is no reason to
// refuse a CronJob. `warnings` outlives it.
class Lookahead final : public EntrypointSource {
 public:
  Lookahead(const EntrypointSource& source, std::vector<std::string>& warnings)
      : source_(source), warnings_(warnings) {}
  EntrypointResult find(const EntrypointQuery& use) const override;

 private:
  const EntrypointSource& source_;
  std::vector<std::string>& warnings_;
};

}  // namespace cronlatch::op
