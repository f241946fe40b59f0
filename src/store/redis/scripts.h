// SPDX-License-Identifier: Apache-2.0
// The Lua scripts, one per verb, as the build embeds them: without comments, with the files that
// each needs in front of it (cmake/embed_lua.cmake lists them). The file of a verb lists its
// arguments and replies; script_codec.h encodes and decodes them.
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
extern const Script epoch;
extern const Script index;

}  // namespace cronlatch::scripts
