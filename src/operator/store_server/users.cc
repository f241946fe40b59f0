// SPDX-License-Identifier: Apache-2.0
// The rights of a run are those of docs/operations.md, "A Redis for locks".
#include "operator/store_server/users.h"

#include <algorithm>

#include "base/digest.h"

namespace cronlatch::op {
namespace {

using Rules = std::vector<std::string>;

constexpr std::size_t kSha256Digits = 64;

// Pattern characters of Redis in a key prefix stand for themselves.
std::string literal(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '*' || c == '?' || c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

Rules login(const PasswordSeeds& seeds, const std::string& user) {
  Rules rules = {"on"};
  for (const Secret& password : accepted_passwords(seeds, user))
    rules.push_back("#" + short_digest(password.reveal(), kSha256Digits));
  for (const char* rule : {"resetchannels", "-@all", "+hello", "+auth", "+select", "+time"})
    rules.emplace_back(rule);
  return rules;
}

void add(Rules& rules, std::initializer_list<const char*> more) {
  rules.insert(rules.end(), more.begin(), more.end());
}

ServerUser admin(const UserScope& scope, const PasswordSeeds& seeds) {
  ServerUser user{kAdminUser, login(seeds, kAdminUser)};
  user.rules.push_back("~" + literal(scope.key_prefix) + "index");
  add(user.rules, {"+info", "+acl", "+config|get", "+config|set", "+zremrangebyscore"});
  return user;
}

ServerUser reader(const UserScope& scope, const PasswordSeeds& seeds) {
  ServerUser user{kReaderUser, login(seeds, kReaderUser)};
  user.rules.push_back("%R~" + literal(scope.key_prefix) + "*");
  add(user.rules, {"+zrange", "+hgetall"});
  return user;
}

// The index contains the lock names of all namespaces: a user may add a name, and neither read nor
// remove one. The script that adds it ends there.
ServerUser of_namespace(const std::string& name, const UserScope& scope,
                        const PasswordSeeds& seeds) {
  const std::string prefix = literal(scope.key_prefix);
  const auto& cluster = scope.cluster_lock_namespaces;
  ServerUser user{namespace_user(name), login(seeds, namespace_user(name))};
  user.rules.push_back("~" + prefix + "{" + name + "/*");
  if (std::find(cluster.begin(), cluster.end(), name) != cluster.end())
    user.rules.push_back("~" + prefix + "{_cluster/*");
  add(user.rules, {"+eval", "+evalsha", "+type", "+hmget", "+hset", "+persist", "+pexpire", "+pttl",
                   "+zadd", "+zrem", "+zmscore", "+zcard", "+zrangebyscore", "+zremrangebyrank",
                   "+rpush", "+blpop", "+zrange", "+hgetall"});
  user.rules.push_back("(~" + prefix + "index -@all +eval +zadd)");
  return user;
}

}  // namespace

std::string namespace_user(const std::string& namespace_name) {
  return kNamespaceUserPrefix + namespace_name;
}

std::vector<ServerUser> server_users(const UserScope& scope, const PasswordSeeds& seeds) {
  std::vector<ServerUser> users = {admin(scope, seeds), reader(scope, seeds)};
  for (const std::string& name : scope.namespaces)
    users.push_back(of_namespace(name, scope, seeds));
  return users;
}

std::string acl_file(const std::vector<ServerUser>& users) {
  std::string text = "user default on resetpass ~* &* +@all\n";
  for (const ServerUser& user : users) {
    text += "user " + user.name;
    for (const std::string& rule : user.rules) text += " " + rule;
    text += "\n";
  }
  return text;
}

std::vector<std::string> set_user_command(const ServerUser& user) {
  std::vector<std::string> command = {"ACL", "SETUSER", user.name, "reset"};
  command.insert(command.end(), user.rules.begin(), user.rules.end());
  return command;
}

}  // namespace cronlatch::op
