// SPDX-License-Identifier: Apache-2.0
// The Lua scripts, one per verb, as the build embeds them (cmake/embed_lua.cmake): common.lua in
// front but for the index's, no comments. What they take and answer is written at the top of each
// .lua file; script_codec.h speaks it.
#pragma once

#include <string_view>

namespace cronlatch::scripts {

struct Script {
  std::string_view text;
  std::string_view hash;  // SHA-1 of the text, in hex: what EVALSHA takes
};

extern const Script acquire;
extern const Script renew;
extern const Script release;
extern const Script revoke;
extern const Script index;

}  // namespace cronlatch::scripts
