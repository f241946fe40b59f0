// SPDX-License-Identifier: Apache-2.0
// Manifests and configs of registries, and image names of tenants. Oracles: an accepted input is
// within the limits and parses to the same value when it is written again; an error is one line.
#include "fuzz/oracle.h"
#include "image/manifest.h"
#include "image/reference.h"
#include "image/registry_policy.h"

namespace {

using namespace cronlatch;

constexpr std::size_t kMaxCommandBytes = std::size_t{64} << 10;

void error_is_one_line(const Error& error) {
  fuzz::must(!error.message.empty(), "an error has a message");
  fuzz::must(fuzz::is_one_line(error.message), "an error is one line");
}

void manifest(std::string_view text) {
  const auto read = image::parse_manifest(text);
  if (!read) return error_is_one_line(read.error());
  fuzz::must(text.size() <= image::kMaxManifestBytes, "a manifest is bounded");
  for (const image::PlatformManifest& platform : read->linux_platforms) {
    fuzz::must(image::is_digest(platform.digest), "a platform has a digest");
    fuzz::must(!platform.architecture.empty(), "a platform has an architecture");
  }
  fuzz::must(read->kind == image::Manifest::Kind::index || read->linux_platforms.empty(),
             "only an index has platforms");
}

void words(const std::vector<std::string>& all) {
  std::size_t bytes = 0;
  for (const std::string& word : all) {
    bytes += word.size();
    fuzz::must(word.find('\0') == std::string::npos, "a word can be an argument");
  }
  fuzz::must(bytes <= kMaxCommandBytes, "a command is bounded");
}

void config(std::string_view text) {
  const auto command = image::parse_config(text);
  if (!command) return error_is_one_line(command.error());
  words(command->entrypoint);
  words(command->cmd);
  fuzz::must(command->entrypoint != std::vector<std::string>{""}, "one empty word is none");
}

bool is_constant(std::string_view message) {
  for (const char* constant :
       {"it contains a user name", "its digest is invalid", "its tag is invalid",
        "its repository is invalid", "its registry is not a host with an optional port",
        "its registry is one word in upper case"})
    if (message == constant) return true;
  return false;
}

void reference(std::string_view text) {
  const auto image = image::parse_reference(text);
  if (!image) {
    error_is_one_line(image.error());
    fuzz::must(is_constant(image.error().message),
               "an error does not repeat what may carry a login");
    return;
  }
  const std::string whole = image->text();
  const auto again = image::parse_reference(whole);
  fuzz::must(again.ok(), "a full name is valid");
  fuzz::must(*again == *image, "a full name parses to the same reference");
  fuzz::must(image->digest.empty() != image->tag.empty(), "it has a tag or a digest");
  // It is an argument of skopeo, and a line of its configuration.
  fuzz::must(whole.find_first_of(" \t\n\r\"'\\$?#%") == std::string::npos, "it needs no quoting");
  fuzz::must(image->registry.find_first_of("/@") == std::string::npos, "a registry is a host");
  const image::RegistryPolicy none({});
  fuzz::must(!none.allows(*image).ok(), "a registry that is not listed is not allowed");
  const auto listed = image::parse_listed_registry(image->registry);
  fuzz::must(listed.ok(), "a registry can be listed");
  const image::RegistryPolicy one({*listed});
  fuzz::must(one.allows(*image).ok(), "a listed registry is allowed");
}

void listed(std::string_view text) {
  const auto registry = image::parse_listed_registry(text);
  if (!registry) return error_is_one_line(registry.error());
  const image::RegistryPolicy policy({*registry});
  const auto permission =
      policy.allows(registry->peer, registry->plain ? image::RegistryPolicy::Scheme::http
                                                    : image::RegistryPolicy::Scheme::https);
  fuzz::must(permission.ok() && permission->any_address, "a listed registry may be queried");
  fuzz::must(
      registry->plain || !policy.allows(registry->peer, image::RegistryPolicy::Scheme::http).ok(),
      "without TLS only if its line has http://");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text = fuzz::text_of(bytes, size);
  manifest(text);
  config(text);
  reference(text);
  listed(text);
  return 0;
}
