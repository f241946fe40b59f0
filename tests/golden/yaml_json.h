// SPDX-License-Identifier: Apache-2.0
// Cases are written in YAML, as their readers write manifests; the API server sends JSON. Plain
// words and numbers get the type that kubectl would give them.
#pragma once

#include <charconv>

#include "config/yaml_tree.h"
#include "kube/json.h"

namespace cronlatch {

inline kube::Json json_of(const YamlNode& node) {
  using Shape = YamlNode::Kind;
  kube::Json out;
  if (node.kind == Shape::list) {
    out = kube::Json::array();
    for (const YamlNode& item : node.items) out.push_back(json_of(item));
  } else if (node.kind == Shape::map) {
    out = kube::Json::object();
    for (const YamlEntry& entry : node.entries) out[entry.key] = json_of(entry.value);
  } else if (node.kind == Shape::text) {
    out = node.text;
    if (!node.plain) return out;
    std::int64_t number = 0;
    const char* const end = node.text.data() + node.text.size();
    if (std::from_chars(node.text.data(), end, number).ptr == end && !node.text.empty())
      out = number;
    if (node.text == "true" || node.text == "false") out = node.text == "true";
  }
  return out;
}

}  // namespace cronlatch
