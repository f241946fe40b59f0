// SPDX-License-Identifier: Apache-2.0
// YAML as a tree that can be trusted: one document, every key once, no aliases (a few of them make
// a file of a line as large as memory), and every node knows its line. Scalars stay text.
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
  bool plain = false;  // text without quotes: may be meant as a number or a word
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
