// SPDX-License-Identifier: Apache-2.0
// The response of a registry or of its token server (RFC 9110, 9112), read piece by piece. The
// bytes are untrusted: head and body have limits. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cronlatch::registry {

struct RegistryResponse {
  int status = 0;
  // Names in lower case; the values of a repeated name are joined with ", ".
  std::map<std::string, std::string> headers{};
  std::string body{};

  std::string header(const std::string& name) const {
    const auto at = headers.find(name);
    return at == headers.end() ? "" : at->second;
  }
};

class RegistryResponseReader {
 public:
  enum class Body { expected, none };  // none: the answer to HEAD
  explicit RegistryResponseReader(Body body) : body_(body) {}

  // `bytes` is empty at the end of the connection. True when the response is complete.
  Result<bool> push(std::string_view bytes);
  RegistryResponse take() { return std::move(response_); }

 private:
  Result<bool> read_head();
  Result<bool> read_body(bool is_at_end);
  Result<bool> read_chunks();

  const Body body_;
  std::string bytes_;  // not yet parsed
  bool has_head_ = false;
  std::optional<std::size_t> length_;
  bool chunked_ = false;
  RegistryResponse response_;
};

}  // namespace cronlatch::registry
