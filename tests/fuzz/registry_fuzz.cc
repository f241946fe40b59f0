// SPDX-License-Identifier: Apache-2.0
// Answers of registries, and image names of tenants. Oracles: accepted input is within its bounds
// and is parsed to the same value when it is written again; an error is one line.
#include "fuzz/oracle.h"
#include "image/manifest.h"
#include "image/reference.h"
#include "image/registry_policy.h"

namespace {

using namespace cronlatch;

constexpr std::size_t kMostCommandBytes = std::size_t{64} << 10;

void error_is_one_line(const Error& error) {
  fuzz::must(!error.message.empty(), "an error has a message");
  fuzz::must(fuzz::is_one_line(error.message), "an error is one line");
}

void manifest(std::string_view text) {
  const auto read = image::parse_manifest(text);
  if (!read) return error_is_one_line(read.error());
  fuzz::must(text.size() <= image::kMostManifestBytes, "a manifest is bounded");
  for (const image::Variant& variant : read->linux_variants) {
    fuzz::must(image::is_digest(variant.digest), "a platform has a digest");
    fuzz::must(!variant.arch.empty(), "a platform has an architecture");
  }
  fuzz::must(read->kind == image::Manifest::Kind::index || read->linux_variants.empty(),
             "only an index has platforms");
}

void words(const std::vector<std::string>& all) {
  std::size_t bytes = 0;
  for (const std::string& word : all) {
    bytes += word.size();
    fuzz::must(word.find('\0') == std::string::npos, "a word can be an argument");
  }
  fuzz::must(bytes <= kMostCommandBytes, "a command is bounded");
}

void config(std::string_view text) {
  const auto startup = image::parse_config(text);
  if (!startup) return error_is_one_line(startup.error());
  words(startup->entrypoint);
  words(startup->cmd);
  fuzz::must(startup->entrypoint != std::vector<std::string>{""},
             "an entrypoint of one empty word is empty");
}

void reference(std::string_view text) {
  const auto image = image::parse_reference(text);
  if (!image) {
    error_is_one_line(image.error());
    fuzz::must(text.size() < 8 || !fuzz::contains(image.error().message, text),
               "an error does not repeat text that may contain a login");
    return;
  }
  const std::string whole = image->text();
  const auto again = image::parse_reference(whole);
  fuzz::must(again.ok(), "a completed name is a valid name");
  fuzz::must(*again == *image, "the completed name has the same meaning");
  fuzz::must(image->digest.empty() != image->tag.empty(), "a name has a tag or a digest");
  // It becomes an argument of the client, and a line of its configuration.
  fuzz::must(whole.find_first_of(" \t\n\r\"'\\$?#%") == std::string::npos,
             "a name needs no quoting");
  fuzz::must(image->registry.find_first_of("/@") == std::string::npos, "a registry is a host");
  const image::RegistryPolicy none({});
  fuzz::must(!none.allows(*image).ok(), "an unlisted registry is not allowed");
  const auto listed = image::parse_listed(image->registry);
  fuzz::must(listed.ok(), "a registry can be listed");
  const image::RegistryPolicy one({*listed});
  fuzz::must(one.allows(*image).ok(), "a listed registry is allowed");
}

void listed(std::string_view text) {
  const auto registry = image::parse_listed(text);
  if (!registry) return error_is_one_line(registry.error());
  const image::RegistryPolicy policy({*registry});
  const auto leave =
      policy.allows(registry->peer, registry->plain ? image::RegistryPolicy::Scheme::http
                                                    : image::RegistryPolicy::Scheme::https);
  fuzz::must(leave.ok() && leave->any_address, "a listed registry may be queried");
  fuzz::must(
      registry->plain || !policy.allows(registry->peer, image::RegistryPolicy::Scheme::http).ok(),
      "a registry without TLS is allowed only when its entry contains that");
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
