// SPDX-License-Identifier: Apache-2.0
#include "admission/named_items.h"

#include <algorithm>

namespace cronlatch::op {

using kube::Json;

bool contains(const Json& existing, const Json& wanted) {
  if (wanted.is_object() && existing.is_object()) {
    for (const auto& [key, value] : wanted.items()) {
      const auto at = existing.find(key);
      if (at == existing.end() || !contains(*at, value)) return false;
    }
    return true;
  }
  return existing == wanted;
}

bool has_source(const Json& volume, std::initializer_list<std::string_view> sources) {
  return std::any_of(sources.begin(), sources.end(), [&](std::string_view source) {
    return kube::find(volume, {source}) != nullptr;
  });
}

std::optional<std::size_t> index_of(const PatchBuilder& patch, const std::string& array,
                                    const char* name_key, std::string_view name) {
  const Json* const items = patch.at(array);
  for (std::size_t i = 0; items != nullptr && items->is_array() && i < items->size(); ++i)
    if (kube::string_at((*items)[i], {name_key}) == name) return i;
  return std::nullopt;
}

void put_named(PatchBuilder& patch, const std::string& array, const char* name_key,
               const Json& wanted) {
  const auto index = index_of(patch, array, name_key, kube::string_at(wanted, {name_key}));
  if (!index)
    patch.append(array, wanted);
  else if (const std::string place = below(array, *index); !contains(*patch.at(place), wanted))
    patch.set(place, wanted);
}

}  // namespace cronlatch::op
