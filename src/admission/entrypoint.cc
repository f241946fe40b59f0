// SPDX-License-Identifier: Apache-2.0
#include "admission/entrypoint.h"

namespace cronlatch::op {
namespace {

std::string without_digest(const std::string& image) { return image.substr(0, image.find('@')); }

// A colon before the last slash belongs to the registry's port.
std::string without_tag(const std::string& image) {
  const std::size_t slash = image.rfind('/');
  const std::size_t colon = image.rfind(':');
  const bool has_tag = colon != std::string::npos && (slash == std::string::npos || colon > slash);
  return has_tag ? image.substr(0, colon) : image;
}

}  // namespace

std::optional<Entrypoint> ImageIndex::find(const std::string& image) const {
  const std::string tagged = without_digest(image);
  for (const std::string& name : {image, tagged, without_tag(tagged)}) {
    const auto entry = images_.find(name);
    if (entry != images_.end()) return Entrypoint{entry->second, {}};
  }
  return std::nullopt;
}

}  // namespace cronlatch::op
