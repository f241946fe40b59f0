// SPDX-License-Identifier: Apache-2.0
#include "image/manifest.h"

#include "base/text.h"
#include "image/reference.h"
#include "kube/json.h"

namespace cronlatch::image {
namespace {

using kube::Json;

constexpr int kMaxDepth = 32;
constexpr std::size_t kMaxPlatforms = 256;
constexpr std::size_t kMaxWords = 1'024;
// A Job has at most 1.5 MB (etcd's limit), and the command is one part of it.
constexpr std::size_t kMaxCommandBytes = std::size_t{64} << 10;

Error invalid(std::string what) {
  return {Code::unreachable, "the registry's response " + std::move(what)};
}

Result<Json> parse_object(std::string_view json, std::size_t max_bytes) {
  Result<Json> parsed = kube::parse_json(json, {.bytes = max_bytes, .depth = kMaxDepth});
  if (!parsed) return invalid("is not valid JSON: " + parsed.error().message);
  if (!parsed->is_object()) return invalid("is not a JSON object");
  return parsed;
}

Result<std::vector<std::string>> words_at(const Json& config, const char* key) {
  std::vector<std::string> words;
  const Json* const list = kube::find(config, {"config", key});
  if (list == nullptr || list->is_null()) return words;
  if (!list->is_array() || list->size() > kMaxWords)
    return invalid(std::string("has an invalid ") + key);
  std::size_t bytes = 0;
  for (const Json& item : *list) {
    const auto* const word = item.get_ptr<const std::string*>();
    if (word == nullptr || word->find('\0') != std::string::npos)
      return invalid(std::string("has an invalid ") + key);
    bytes += word->size();
    words.push_back(*word);
  }
  if (bytes > kMaxCommandBytes)
    return invalid("has a " + std::string(key) + " of " + std::to_string(bytes) +
                   " bytes; the limit is " + std::to_string(kMaxCommandBytes));
  return words;
}

}  // namespace

Result<Manifest> parse_manifest(std::string_view json) {
  const Result<Json> root = parse_object(json, kMaxManifestBytes);
  if (!root) return root.error();
  const Json* const version = kube::find(*root, {"schemaVersion"});
  if (version != nullptr && version->is_number_integer() && version->get<int>() == 1)
    return Manifest{Manifest::Kind::schema_1};
  const Json* const list = kube::find(*root, {"manifests"});
  if (list == nullptr) return Manifest{};
  if (!list->is_array() || list->size() > kMaxPlatforms)
    return invalid("has an invalid list of platforms");
  Manifest manifest{Manifest::Kind::index};
  for (const Json& item : *list) {
    PlatformManifest platform{kube::string_at(item, {"digest"}),
                              kube::string_at(item, {"platform", "architecture"})};
    if (kube::string_at(item, {"platform", "os"}) != "linux" || platform.architecture.empty())
      continue;
    if (!is_digest(platform.digest)) return invalid("has a platform without a digest");
    manifest.linux_platforms.push_back(std::move(platform));
  }
  return manifest;
}

Result<ImageCommand> parse_config(std::string_view json) {
  const Result<Json> root = parse_object(json, kMaxConfigBytes);
  if (!root) return root.error();
  const std::string os = kube::string_at(*root, {"os"});
  if (!os.empty() && os != "linux")
    return Error{Code::config, "the image is for " + cronlatch::quoted(os) + ", not for linux"};
  auto entrypoint = words_at(*root, "Entrypoint");
  if (!entrypoint) return entrypoint.error();
  auto cmd = words_at(*root, "Cmd");
  if (!cmd) return cmd.error();
  // For runtimes one empty word is none: a Dockerfile removes its base's ENTRYPOINT that way.
  if (entrypoint->size() == 1 && entrypoint->front().empty()) entrypoint->clear();
  return ImageCommand{std::move(*entrypoint), std::move(*cmd)};
}

}  // namespace cronlatch::image
