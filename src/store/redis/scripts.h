// SPDX-License-Identifier: Apache-2.0
// The Lua scripts, one per verb, as the build embeds them (cmake/embed_lua.cmake): common.lua in
// front, no comments. What they take and answer is written at the top of each .lua file;
// script_codec.h speaks it.
#pragma once

#include <string_view>

namespace cronlatch::scripts {

extern const std::string_view acquire;
extern const std::string_view renew;
extern const std::string_view release;
extern const std::string_view revoke;

}  // namespace cronlatch::scripts
