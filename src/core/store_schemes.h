// SPDX-License-Identifier: Apache-2.0
// The schemes of store URLs, one row each: the only list of them. Options, admission, the URL
// parser and the reference page read it; store/open.cc adds the function that opens each scheme.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cronlatch {

enum class StoreTransport {
  local,    // files of this host: no user, no password, no TLS
  plain,    // TCP without TLS
  tls,      // TCP with TLS
  unknown,  // an unknown scheme, or one whose URL selects the transport in another way
};

// The servers that the URL names.
enum class StoreLayout {
  single,    // one server, or the files of this host
  sentinel,  // Sentinels, which know the server, and the name that they have for it
  cluster,   // nodes of a Redis Cluster
  quorum,    // independent servers with a URL each, of which a majority decides
};

struct StoreScheme {
  std::string_view name;
  StoreTransport transport;
  StoreLayout layout;
  bool is_supported;             // false: reserved for a later version
  std::string_view syntax;       // of the whole URL
  std::string_view example;      // a complete URL, for hints
  std::string_view description;  // for the reference page
};

std::span<const StoreScheme> store_schemes();

// The row of the URL's scheme (the text before the first ':'), or nullptr.
const StoreScheme* find_store_scheme(std::string_view url);

// An empty URL is the file store of this user.
StoreTransport store_transport(std::string_view url);
StoreLayout store_layout(std::string_view url);  // single for an unknown scheme
// Several URLs, separated by commas: a quorum.
bool is_url_list(std::string_view url);

// The supported schemes with one of these transports, for messages: "redis:// or rediss://".
// `layout`: only the schemes with it.
std::string list_store_schemes(std::initializer_list<StoreTransport> transports,
                               std::optional<StoreLayout> layout = std::nullopt);
// One example for each supported scheme; for several servers, only those with TLS.
std::string store_url_examples();

}  // namespace cronlatch
