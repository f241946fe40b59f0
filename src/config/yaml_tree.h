// SPDX-License-Identifier: Apache-2.0
// YAML as a tree: one document, every key once, no aliases (a few of them can fill the memory), and
// a line number in every node. Scalars stay text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cronlatch {

struct YamlEntry;

struct YamlNode {
  enum class Kind { null, text, list, map };
  Kind kind = Kind::null;
  std::string text;
  bool plain = false;  // text without quotes
  std::vector<YamlNode> items;
  std::vector<YamlEntry> entries;  // in the order of the file
  int line = 1;

  const YamlNode* find(std::string_view key) const;
};

struct YamlEntry {
  std::string key;
  int line = 1;
  YamlNode value;
};

struct YamlLimits {
  std::size_t bytes = 1024 * 1024;
  std::size_t depth = 64;
};

// Code::config; every message begins with "path:line". An empty file is a null node.
Result<YamlNode> read_yaml(const std::string& path, const std::string& text,
                           YamlLimits limits = {});

}  // namespace cronlatch
