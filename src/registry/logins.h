// SPDX-License-Identifier: Apache-2.0
// Reads the logins for an image from a docker config file, as the kubelet does: every entry that
// matches, the most specific first. Credential helpers that the file names are never run. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/secret.h"
#include "image/reference.h"

namespace cronlatch::registry {

struct RegistryLogin {
  Secret auth;            // base64 of user:password, as in the file
  Secret identity_token;  // instead of `auth`
};

// The error contains nothing of the file.
Result<std::vector<RegistryLogin>> logins_for(std::string_view docker_config,
                                              const image::Reference& image);

// The auth file of one lookup, with one login for the image's registry, or none. skopeo reads no
// other file for logins when it is given this one.
std::string auth_file(const image::Reference& image, const RegistryLogin* login);

}  // namespace cronlatch::registry
