// SPDX-License-Identifier: Apache-2.0
#include "kube/known_objects.h"

#include <utility>

namespace cronlatch::kube {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";
// The positions of the dashes are those of this text.
constexpr std::string_view kForm = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

}  // namespace

KnownObjects::Uid::Uid(std::string_view text) {
  std::size_t digits = 0;
  bool is_uuid = text.size() == kForm.size();
  for (std::size_t i = 0; is_uuid && i < text.size(); ++i) {
    if (kForm[i] == '-') {
      is_uuid = text[i] == '-';
      continue;
    }
    const std::size_t value = kDigits.find(text[i]);
    is_uuid = value != std::string_view::npos;
    const unsigned high = bytes_[digits / 2];
    if (is_uuid) bytes_[digits / 2] = static_cast<std::uint8_t>(high << 4U | value);
    ++digits;
  }
  if (!is_uuid) other_ = std::make_unique<const std::string>(text);
}

std::string KnownObjects::Uid::text() const {
  if (other_) return *other_;
  std::string out;
  std::size_t digits = 0;
  for (const char form : kForm) {
    if (form == '-') {
      out += form;
      continue;
    }
    const unsigned byte = bytes_[digits / 2];
    out += kDigits[digits % 2 == 0 ? byte >> 4U : byte & 0xFU];
    ++digits;
  }
  return out;
}

std::optional<std::string> KnownObjects::add(const ObjectKey& key, std::string_view uid) {
  const auto [known, is_new] =
      namespaces_[key.namespace_name].try_emplace(key.name, Known{Uid(uid), list_});
  known->second.list = list_;
  if (is_new) return std::nullopt;
  std::string former = known->second.uid.text();
  if (former == uid) return std::nullopt;
  known->second.uid = Uid(uid);
  return former;
}

std::optional<std::string> KnownObjects::remove(const ObjectKey& key) {
  const auto space = namespaces_.find(key.namespace_name);
  if (space == namespaces_.end()) return std::nullopt;
  const auto node = space->second.extract(key.name);
  if (space->second.empty()) namespaces_.erase(space);
  if (!node) return std::nullopt;
  return node.mapped().uid.text();
}

void KnownObjects::end_list(const OnDeleted& on_deleted) {
  for (auto space = namespaces_.begin(); space != namespaces_.end();) {
    Names& names = space->second;
    for (auto known = names.begin(); known != names.end();) {
      const auto next = std::next(known);
      if (known->second.list != list_) {
        const auto node = names.extract(known);
        on_deleted({space->first, node.key()}, node.mapped().uid.text());
      }
      known = next;
    }
    space = names.empty() ? namespaces_.erase(space) : std::next(space);
  }
}

}  // namespace cronlatch::kube
