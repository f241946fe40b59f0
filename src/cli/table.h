// SPDX-License-Identifier: Apache-2.0
// Tables and JSON for people and for programs: the two values of `-o`. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/time.h"

namespace cronlatch {

enum class Format { table, json };
Result<Format> parse_format(std::string_view text);

using Row = std::vector<std::string>;

// Columns padded to their widest cell, two spaces between them, nothing after the last. An empty
// cell is shown as "-". Cells are made printable: what a store holds never reaches a terminal raw.
std::string render_table(const std::vector<Row>& rows);

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

// For people: seconds with at most one decimal, "96.1s"; show_duration where that is whole.
std::string rough_duration(Millis d);

}  // namespace cronlatch
