// SPDX-License-Identifier: Apache-2.0
#include "image/manifest.h"

#include "base/text.h"
#include "image/reference.h"
#include "kube/json.h"

namespace cronlatch::image {
namespace {

using kube::Json;

constexpr int kDeepest = 32;
constexpr std::size_t kMostVariants = 256;
constexpr std::size_t kMostWords = 1'024;
// A Job holds at most 1.5 MB, and the command stands in it among other things.
constexpr std::size_t kMostCommandBytes = std::size_t{64} << 10;

Error strange(std::string what) {
  return {Code::unreachable, "the registry's answer " + std::move(what)};
}

Result<Json> read(std::string_view json, std::size_t most) {
  Result<Json> parsed = kube::parse_json(json, {.bytes = most, .depth = kDeepest});
  if (!parsed) return strange("cannot be read: " + parsed.error().message);
  if (!parsed->is_object()) return strange("is no JSON object");
  return parsed;
}

Result<std::vector<std::string>> words_at(const Json& config, const char* key) {
  std::vector<std::string> words;
  const Json* const list = kube::find(config, {"config", key});
  if (list == nullptr || list->is_null()) return words;
  if (!list->is_array() || list->size() > kMostWords)
    return strange(std::string("has an odd ") + key);
  std::size_t bytes = 0;
  for (const Json& item : *list) {
    const auto* const word = item.get_ptr<const std::string*>();
    if (word == nullptr || word->find('\0') != std::string::npos)
      return strange(std::string("has an odd ") + key);
    bytes += word->size();
    words.push_back(*word);
  }
  if (bytes > kMostCommandBytes) return strange(std::string("has a very long ") + key);
  return words;
}

}  // namespace

Result<Manifest> parse_manifest(std::string_view json) {
  const Result<Json> root = read(json, kMostManifestBytes);
  if (!root) return root.error();
  const Json* const version = kube::find(*root, {"schemaVersion"});
  if (version != nullptr && version->is_number_integer() && version->get<int>() == 1)
    return Manifest{Manifest::Kind::schema_1};
  const Json* const list = kube::find(*root, {"manifests"});
  if (list == nullptr) return Manifest{};
  if (!list->is_array() || list->size() > kMostVariants)
    return strange("lists platforms in an odd way");
  Manifest manifest{Manifest::Kind::index};
  for (const Json& one : *list) {
    Variant variant{kube::string_at(one, {"digest"}),
                    kube::string_at(one, {"platform", "architecture"})};
    if (kube::string_at(one, {"platform", "os"}) != "linux" || variant.arch.empty()) continue;
    if (!is_digest(variant.digest)) return strange("lists a platform without a digest");
    manifest.linux_variants.push_back(std::move(variant));
  }
  return manifest;
}

Result<Startup> parse_config(std::string_view json) {
  const Result<Json> root = read(json, kMostConfigBytes);
  if (!root) return root.error();
  const std::string os = kube::string_at(*root, {"os"});
  if (!os.empty() && os != "linux")
    return Error{Code::config, "the image is for " + cronlatch::quoted(os) + ", not for linux"};
  auto entrypoint = words_at(*root, "Entrypoint");
  if (!entrypoint) return entrypoint.error();
  auto cmd = words_at(*root, "Cmd");
  if (!cmd) return cmd.error();
  // Runtimes take one empty word for none: it is how a Dockerfile takes its base's away.
  if (entrypoint->size() == 1 && entrypoint->front().empty()) entrypoint->clear();
  return Startup{std::move(*entrypoint), std::move(*cmd)};
}

}  // namespace cronlatch::image
