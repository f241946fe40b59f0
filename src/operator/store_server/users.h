// SPDX-License-Identifier: Apache-2.0
// The users of the store server, and their rights as text for Redis (ACL). Pure. A namespace has a
// user that can use the keys of its own locks only. Needs Redis 7.0 or newer, or Valkey.
#pragma once

#include <string>
#include <vector>

#include "operator/store_server/passwords.h"

namespace cronlatch::op {

// Replaces the users; the process that manages the server uses it.
inline constexpr char kAdminUser[] = "admin";
// Reads the statistics of all locks and changes nothing.
inline constexpr char kReaderUser[] = "operator";
// Followed by the namespace. Without it, the namespace `default` would be the server's own user.
inline constexpr char kNamespaceUserPrefix[] = "ns-";

std::string namespace_user(const std::string& namespace_name);

struct UserScope {
  std::string key_prefix;
  std::vector<std::string> namespaces;               // that may use the store
  std::vector<std::string> cluster_lock_namespaces;  // may also use the locks of all namespaces
};

struct ServerUser {
  std::string name;
  std::vector<std::string> rules;  // all of them, passwords as SHA-256 included
  bool operator==(const ServerUser&) const = default;
};

// The users that the server must have, without its own user `default`.
std::vector<ServerUser> server_users(const UserScope& scope, const PasswordSeeds& seeds);

// The content of the server's `aclfile`. It contains `default` without a password: no client can
// log in as it, but the server replays its append-only file as this user.
std::string acl_file(const std::vector<ServerUser>& users);
// ACL SETUSER: replaces all rules of the user at once. Connections stay open.
std::vector<std::string> set_user_command(const ServerUser& user);

}  // namespace cronlatch::op
