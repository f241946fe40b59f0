// SPDX-License-Identifier: Apache-2.0
#include "admission/entrypoint.h"

#include <algorithm>

#include "admission/annotations.h"
#include "admission/wrapper_command.h"
#include "base/text.h"
#include "image/reference.h"

namespace cronlatch::op {
namespace {

std::string without_digest(const std::string& image) { return image.substr(0, image.find('@')); }

// A colon before the last slash is that of the registry's port.
std::string without_tag(const std::string& image) {
  const std::size_t slash = image.rfind('/');
  const std::size_t colon = image.rfind(':');
  const bool has_tag = colon != std::string::npos && (slash == std::string::npos || colon > slash);
  return has_tag ? image.substr(0, colon) : image;
}

}  // namespace

Entrypoint entrypoint_of(const std::map<std::string, image::ImageCommand>& by_arch) {
  Entrypoint out;
  for (const auto& [arch, startup] : by_arch) {
    image::ImageCommand& escaped = out.by_arch[kubelet_escaped(arch)] = startup;
    for (std::vector<std::string>* const words : {&escaped.entrypoint, &escaped.cmd})
      for (std::string& word : *words) word = kubelet_escaped(word);
  }
  const auto first = out.by_arch.begin();
  const bool same = std::all_of(out.by_arch.begin(), out.by_arch.end(),
                                [&](const auto& entry) { return entry.second == first->second; });
  if (!same || out.by_arch.empty()) return out;
  out.entrypoint = std::move(first->second.entrypoint);
  out.cmd = std::move(first->second.cmd);
  out.by_arch.clear();
  return out;
}

EntrypointResult ImageIndex::find(const EntrypointQuery& query) const {
  const std::string tagged = without_digest(query.image);
  for (const std::string& name : {query.image, tagged, without_tag(tagged)}) {
    const auto entry = images_.find(name);
    if (entry != images_.end()) return Entrypoint{entry->second, {}, "the operator's image index"};
  }
  return UnknownEntrypoint{};
}

EntrypointResult PendingEntrypointSource::find(const EntrypointQuery& query) const {
  EntrypointResult result = source_.find(query);
  const auto* const unknown = std::get_if<UnknownEntrypoint>(&result);
  if (unknown == nullptr || !unknown->may_resolve_later) return result;
  warnings_.push_back(
      {query.where, "the Jobs of this CronJob are refused until its image's command is known",
       "to gate them now, write " + example_of("command"),
       "image " + cronlatch::quoted(query.image, image::kMaxShownName) + ": " + unknown->reason});
  return Entrypoint{{"not known yet"}, {}};  // the rewrite of a Job template is discarded
}

}  // namespace cronlatch::op
