// SPDX-License-Identifier: Apache-2.0
#include "admission/named_items.h"

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

void put_named(PatchBuilder& patch, const std::string& array, const char* name_key,
               const Json& wanted) {
  const Json* const items = patch.at(array);
  if (items != nullptr && items->is_array()) {
    for (std::size_t i = 0; i < items->size(); ++i) {
      if (kube::string_at((*items)[i], {name_key}) != kube::string_at(wanted, {name_key})) continue;
      if (!contains((*items)[i], wanted)) patch.set(below(array, i), wanted);
      return;
    }
  }
  patch.append(array, wanted);
}

}  // namespace cronlatch::op
