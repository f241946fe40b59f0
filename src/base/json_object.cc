// SPDX-License-Identifier: Apache-2.0
#include "base/json_object.h"

#include "base/text.h"

namespace cronlatch {

JsonObject& JsonObject::text(std::string_view key, std::string_view value) {
  return json(key, json_quoted(value));
}

JsonObject& JsonObject::text_or_null(std::string_view key, std::string_view value) {
  return json(key, value.empty() ? "null" : json_quoted(value));
}

JsonObject& JsonObject::number(std::string_view key, std::int64_t value) {
  return json(key, std::to_string(value));
}

JsonObject& JsonObject::json(std::string_view key, std::string_view value) {
  if (!members_.empty()) members_ += ',';
  members_ += json_quoted(key) + ':' + std::string(value);
  return *this;
}

std::string json_array(const std::vector<std::string>& items) {
  std::string out = "[";
  for (const std::string& item : items) out += (out.size() > 1 ? "," : "") + item;
  return out + ']';
}

}  // namespace cronlatch
