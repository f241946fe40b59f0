// SPDX-License-Identifier: Apache-2.0
// The command of a container without `command`: only its image has it. The interface between the
// rewrite and the sources that read images.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "admission/findings.h"
#include "admission/settings.h"
#include "image/manifest.h"

namespace cronlatch::op {

// `pod_spec` is for the placement and the pull secrets.
struct EntrypointQuery {
  std::string image;
  std::string namespace_name;
  const kube::Json& pod_spec;
  std::string where{};  // the missing field `command`, for messages
};

struct Entrypoint {
  std::vector<std::string> entrypoint;
  // Follows it when the container has no `args`: with `command` set, Kubernetes ignores the
  // image's.
  std::vector<std::string> cmd;
  // The source, for annotation cronlatch.dev/command-from; "": no annotation.
  std::string from{};
  std::string pinned{};  // the image to run instead, by digest; "": the pod's own
  // By architecture, where the image's platforms differ: then the first two are empty.
  std::map<std::string, image::ImageCommand> by_arch{};
};

// From the image's commands by architecture, escaped for the kubelet: it replaces $(NAME) in a
// Job's command and args, but not in an image's.
Entrypoint entrypoint_of(const std::map<std::string, image::ImageCommand>& by_arch);

struct UnknownEntrypoint {
  std::string reason;             // "": no registry was queried
  std::string hint{};             // what the platform can do
  bool may_resolve_later{false};  // a later query can have another result
};

using EntrypointResult = std::variant<Entrypoint, UnknownEntrypoint>;

class EntrypointSource {
 public:
  virtual ~EntrypointSource() = default;
  // Must not throw. Blocks for no longer than the source was configured to.
  virtual EntrypointResult find(const EntrypointQuery& query) const = 0;
};

// The setting image-index. An entry without tag or digest is for all tags and digests.
class ImageIndex final : public EntrypointSource {
 public:
  explicit ImageIndex(const Settings& settings) : images_(settings.image_index) {}
  EntrypointResult find(const EntrypointQuery& query) const override;

 private:
  const std::map<std::string, std::vector<std::string>>& images_;
};

// For a CronJob: as `source`, but a command that may be known later is a warning, not a reason to
// deny the CronJob. `warnings` outlives it.
class PendingEntrypointSource final : public EntrypointSource {
 public:
  PendingEntrypointSource(const EntrypointSource& source, std::vector<Finding>& warnings)
      : source_(source), warnings_(warnings) {}
  EntrypointResult find(const EntrypointQuery& query) const override;

 private:
  const EntrypointSource& source_;
  std::vector<Finding>& warnings_;
};

}  // namespace cronlatch::op
