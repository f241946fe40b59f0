// SPDX-License-Identifier: Apache-2.0
// Logins out of a docker config file, as the kubelet reads one: every entry that fits an image, the
// most specific first. Programs that such a file may name (credential helpers) are never run. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/secret.h"
#include "image/reference.h"

namespace cronlatch::registry {

struct Login {
  Secret auth;            // base64 of user:password, as it stands in the file
  Secret identity_token;  // or this
};

// The error tells nothing of the file's content.
Result<std::vector<Login>> logins_for(std::string_view docker_config,
                                      const image::Reference& image);

// The file for one look-up: one login for this image's registry, or none. Nothing else is looked
// for where such a file is named.
std::string auth_file(const image::Reference& image, const Login* login);

}  // namespace cronlatch::registry
