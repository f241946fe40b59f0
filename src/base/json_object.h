// SPDX-License-Identifier: Apache-2.0
// Builds JSON text. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cronlatch {

// One JSON object, members in the order they were added.
class JsonObject {
 public:
  JsonObject& text(std::string_view key, std::string_view value);
  JsonObject& text_or_null(std::string_view key, std::string_view value);  // null when empty
  JsonObject& number(std::string_view key, std::int64_t value);
  JsonObject& json(std::string_view key, std::string_view value);  // `value` is JSON already
  std::string str() const { return '{' + members_ + '}'; }

 private:
  std::string members_;
};

std::string json_array(const std::vector<std::string>& items);  // of JSON values

}  // namespace cronlatch
