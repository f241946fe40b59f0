// SPDX-License-Identifier: Apache-2.0
// Text tables, and the values of `-o`. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_object.h"
#include "base/result.h"
#include "base/time.h"

namespace cronlatch {

enum class Format { table, json };
Result<Format> parse_format(std::string_view text);

using Row = std::vector<std::string>;

// Columns padded to their widest cell, two spaces between them, nothing after the last. An empty
// cell is shown as "-". Cells are made printable, because a store can contain control characters.
std::string render_table(const std::vector<Row>& rows);

}  // namespace cronlatch
