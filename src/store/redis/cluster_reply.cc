// SPDX-License-Identifier: Apache-2.0
#include "store/redis/cluster_reply.h"

#include <bitset>
#include <string>

#include "store/redis/node_name.h"

namespace cronlatch::redis {
namespace {

std::uint16_t crc16(std::string_view bytes) {
  constexpr unsigned kPolynomial = 0x1021;
  unsigned crc = 0;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned>(static_cast<unsigned char>(byte)) << 8;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc & 0x8000) != 0 ? (crc << 1) ^ kPolynomial : crc << 1;
  }
  return static_cast<std::uint16_t>(crc);
}

bool is_hash_slot(std::int64_t number) {
  return number >= 0 && number < static_cast<std::int64_t>(kHashSlots);
}

}  // namespace

std::uint16_t hash_slot_of(std::string_view key) {
  const std::size_t open = key.find('{');
  if (open != std::string_view::npos) {
    const std::size_t close = key.find('}', open + 1);
    if (close != std::string_view::npos && close > open + 1)
      key = key.substr(open + 1, close - open - 1);
  }
  return crc16(key) % kHashSlots;
}

std::optional<Redirection> parse_redirection(std::string_view text) {
  Redirection found;
  if (text.starts_with("MOVED "))
    found.kind = Redirection::Kind::moved;
  else if (text.starts_with("ASK "))
    found.kind = Redirection::Kind::ask;
  else
    return std::nullopt;
  const std::size_t space = text.rfind(' ');
  const std::size_t colon = text.rfind(':');
  if (space <= text.find(' ') || colon == std::string_view::npos || colon < space)
    return std::nullopt;
  const std::string_view host = text.substr(space + 1, colon - space - 1);
  const std::string_view port = text.substr(colon + 1);
  // The host is empty when the server does not know its own address.
  const auto node = parse_node(host.empty() ? "unknown" : host, port);
  if (!node) return std::nullopt;
  found.to = *node;
  if (host.empty()) found.to.host.clear();
  return found;
}

std::optional<std::vector<HashSlotRange>> parse_hash_slots(const Resp& answer) {
  if (answer.type != Resp::Type::array) return std::nullopt;
  std::vector<HashSlotRange> ranges;
  for (const Resp& row : answer.elements) {
    if (row.elements.size() < 3 || row.elements[2].elements.size() < 2) return std::nullopt;
    const std::int64_t first = row.elements[0].integer, last = row.elements[1].integer;
    const Resp &host = row.elements[2].elements[0], &port = row.elements[2].elements[1];
    if (!is_hash_slot(first) || !is_hash_slot(last) || first > last) return std::nullopt;
    // A host that is null or empty is that of the connection; "?" is a name that is not set.
    const bool is_unknown = host.text.empty() || host.text == "?";
    const auto node = parse_node(is_unknown ? "unknown" : host.text, std::to_string(port.integer));
    if (!node) return std::nullopt;
    HashSlotRange range{static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(last), *node};
    if (is_unknown) range.master.host.clear();
    ranges.push_back(std::move(range));
  }
  return ranges;
}

std::size_t uncovered_hash_slots(const std::vector<HashSlotRange>& ranges) {
  std::bitset<kHashSlots> covered;
  for (const HashSlotRange& range : ranges)
    for (std::size_t number = range.first; number <= range.last; ++number) covered.set(number);
  return kHashSlots - covered.count();
}

}  // namespace cronlatch::redis
