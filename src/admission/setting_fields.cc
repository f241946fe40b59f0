// SPDX-License-Identifier: Apache-2.0
#include "admission/setting_fields.h"

#include <charconv>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace cronlatch::op {
namespace {

using kube::Json;
using Kind = YamlNode::Kind;

Error invalid(std::string what, std::string fix) {
  return {Code::config, std::move(what), std::move(fix)};
}

Status read(std::string& out, const YamlNode& node) {
  if (node.kind == Kind::null) return invalid("the value is missing", "set it, or remove the line");
  if (node.kind != Kind::text) return invalid("the value is not a scalar", "write key: value");
  for (const char c : node.text)
    if (static_cast<unsigned char>(c) < 0x20)
      return invalid(cronlatch::quoted(node.text) + " has a control character", "remove it");
  out = node.text;
  return Done{};
}

Status read(bool& out, const YamlNode& node) {
  if (node.kind != Kind::text || (node.text != "true" && node.text != "false"))
    return invalid(cronlatch::quoted(node.text) + " is not one of true, false",
                   "write true or false");
  out = node.text == "true";
  return Done{};
}

Status read(Millis& out, const YamlNode& node) {
  std::string text;
  if (Status is_text = read(text, node); !is_text.ok()) return is_text;
  const Result<Millis> duration = parse_duration(text);
  if (!duration.ok()) return duration.error();
  out = *duration;
  return Done{};
}

Status read(std::size_t& out, const YamlNode& node) {
  const std::string& text = node.text;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (node.kind != Kind::text || error != std::errc() || end != text.data() + text.size())
    return invalid(cronlatch::quoted(node.text) + " is not a whole number",
                   "write for example 1000");
  return Done{};
}

Status read(CertificateMode& out, const YamlNode& node) {
  if (node.kind != Kind::text || (node.text != "own" && node.text != "files"))
    return invalid(cronlatch::quoted(node.text) + " is not one of own, files",
                   "write own or files");
  out = node.text == "own" ? CertificateMode::own : CertificateMode::files;
  return Done{};
}

Status read(InjectionMode& out, const YamlNode& node) {
  constexpr std::pair<std::string_view, InjectionMode> kWords[] = {
      {"auto", InjectionMode::automatic},
      {"image-volume", InjectionMode::image_volume},
      {"init-container", InjectionMode::init_container}};
  for (const auto& [word, mode] : kWords) {
    if (node.kind != Kind::text || node.text != word) continue;
    out = mode;
    return Done{};
  }
  return invalid(cronlatch::quoted(node.text) + " is not one of auto, image-volume, init-container",
                 "write one of them");
}

// With the values of the wrapper's option of the same name.
Status read_word(Options& options, const char* key, const YamlNode& node) {
  std::string text;
  if (Status is_text = read(text, node); !is_text.ok()) return is_text;
  return apply_text(options, *find_option(key), text);
}
Status read(LogFormat& out, const YamlNode& node) {
  Options options;
  Status status = read_word(options, "log-format", node);
  out = options.log_format;
  return status;
}
Status read(Level& out, const YamlNode& node) {
  Options options;
  Status status = read_word(options, "log-level", node);
  out = options.log_level;
  return status;
}

Status read(std::vector<std::string>& out, const YamlNode& node) {
  if (node.kind != Kind::list)
    return invalid("the value is not a list", "write for example [one, two]");
  out.clear();
  for (const YamlNode& item : node.items) {
    std::string text;
    if (Status is_text = read(text, item); !is_text.ok()) return is_text;
    out.push_back(text);
  }
  return Done{};
}

template <class T>
Status read(std::map<std::string, T>& out, const YamlNode& node) {
  if (node.kind != Kind::map)
    return invalid("the value is not a map", "write for example {key: value}");
  out.clear();
  for (const YamlEntry& entry : node.entries) {
    Status status = read(out[entry.key], entry.value);
    if (status.ok()) continue;
    return invalid(printable(entry.key, 80) + ": " + status.error().message, status.error().hint);
  }
  return Done{};
}

Status read_selection(Selection& out, const YamlNode& node) {
  if (node.kind != Kind::map)
    return invalid("the value is not a map",
                   "write a map with namespace, name, labels and annotations");
  for (const YamlEntry& entry : node.entries) {
    Status status = Done{};
    if (entry.key == "namespace")
      status = read(out.namespace_name, entry.value);
    else if (entry.key == "name")
      status = read(out.name, entry.value);
    else if (entry.key == "labels")
      status = read(out.labels, entry.value);
    else if (entry.key == "annotations")
      status = read(out.annotations, entry.value);
    else
      return invalid("unknown key " + cronlatch::quoted(entry.key),
                     "the keys are namespace, name, labels and annotations");
    if (!status.ok())
      return invalid(entry.key + ": " + status.error().message, status.error().hint);
  }
  return Done{};
}

Status read(std::vector<Selection>& out, const YamlNode& node) {
  if (node.kind != Kind::list) return invalid("the value is not a list", "write a list of maps");
  out.clear();
  for (const YamlNode& item : node.items) {
    Selection selection;
    if (Status status = read_selection(selection, item); !status.ok())
      return invalid("[" + std::to_string(out.size()) + "]: " + status.error().message,
                     status.error().hint);
    out.push_back(std::move(selection));
  }
  return Done{};
}

// A container's resources. Quantities are not parsed.
Status read(Json& out, const YamlNode& node) {
  std::map<std::string, std::map<std::string, std::string>> amounts;
  if (node.kind != Kind::map)
    return invalid("the value is not a map",
                   "write for example {requests: {cpu: 50m}, limits: {}}");
  for (const YamlEntry& entry : node.entries) {
    if (entry.key != "requests" && entry.key != "limits")
      return invalid("unknown key " + cronlatch::quoted(entry.key),
                     "the keys are requests and limits");
    if (Status status = read(amounts[entry.key], entry.value); !status.ok())
      return invalid(entry.key + ": " + status.error().message, status.error().hint);
  }
  out = amounts.empty() ? Json() : Json(amounts);
  return Done{};
}

}  // namespace

Status read_field(Settings& settings, const SettingField& field, const YamlNode& node) {
  return std::visit([&](auto member) { return read(settings.*member, node); }, field);
}

}  // namespace cronlatch::op
