// SPDX-License-Identifier: Apache-2.0
// Setting: the text of one option with its place, before it is parsed. From flags, environment and
// file.
#pragma once

#include <string>
#include <vector>

#include "options/options.h"

namespace cronlatch {

struct Setting {
  const Option* option = nullptr;
  std::string text;
  // For `cronlatch config`: "flag", "environment CRONLATCH_TTL", "/etc/cronlatch.yaml:3".
  std::string origin;
  // For messages: "--ttl", "CRONLATCH_TTL", "/etc/cronlatch.yaml:3: ttl".
  std::string where;
};

// "unknown flag --on-bsuy", "did you mean --on-busy?": the error for a key that no row has.
// `spell` turns a row into the name it has at this place; "" for a row that has none here.
Error unknown_key(const std::string& what, std::string_view key,
                  std::string (*spell)(const Option&));

}  // namespace cronlatch
