// SPDX-License-Identifier: Apache-2.0
#include "operator/store_server/server_link.h"

#include <algorithm>

#include "base/kernel_clock.h"
#include "operator/store_server/memory_file.h"
#include "store/redis/redis_store.h"
#include "store/redis/script_codec.h"

namespace cronlatch::op {
namespace {

using redis::Resp;
using Commands = redis::RedisStore::Commands;

constexpr Millis kLimit{2'000};  // of one call

// The value of a field in the answer to INFO.
std::string info_field(const Resp& info, const std::string& field) {
  const std::size_t at = info.text.find(field + ":");
  if (at == std::string::npos) return "";
  const std::size_t start = at + field.size() + 1;
  return info.text.substr(start, info.text.find_first_of("\r\n", start) - start);
}

bool is_stale(const std::string& user, const std::vector<ServerUser>& users) {
  return user.starts_with(kNamespaceUserPrefix) &&
         std::none_of(users.begin(), users.end(),
                      [&](const ServerUser& wanted) { return wanted.name == user; });
}

// A user of a namespace enters names of locks into the index and cannot remove old ones.
void add_index_cleanup(Commands& commands, const Resp& time, const std::string& key_prefix) {
  if (const auto now = redis::parse_time(time))
    commands.push_back({"ZREMRANGEBYSCORE", redis::index_key(key_prefix), "-inf",
                        std::to_string(now->us - redis::kIndexMemory.count())});
}

// The server reads the files of its certificate again when their names are set again.
void add_certificate_reload(Commands& commands, const Resp& file) {
  if (file.elements.size() == 2 && !file.elements[1].text.empty())
    commands.push_back({"CONFIG", "SET", "tls-cert-file", file.elements[1].text});
}

redis::RedisConfig config_for(const StoreUrl& url, Secret password, const std::string& ca_file) {
  redis::RedisConfig config;
  config.host = url.host;
  config.port = url.port;
  config.login.where = url.where();
  config.login.user = kAdminUser;
  config.login.password = std::move(password);
  config.tls = redis::TlsSettings{.where = url.where(),
                                  .name = url.name(),
                                  .ca = ca_file,
                                  .cert = {},
                                  .key = {},
                                  .skip_verify = false};
  return config;
}

}  // namespace

// A server that was not changed since the seed was replaced knows only the previous password.
Status ServerLink::apply(const StoreServerState& state, const ServerSetup& setup, TimePoint now) {
  Result<MemoryFile> ca = MemoryFile::with(state.certificate->ca_pem);
  if (!ca) return ca.error();
  Status status = Done{};
  for (Secret& password : accepted_passwords(state.seeds, kAdminUser)) {
    redis::RedisStore server(config_for(url_, std::move(password), ca->path()));
    status = apply_to(server, setup, now);
    if (status || status.error().code != Code::auth) return status;
  }
  return Error{Code::auth, status.error().message,
               "delete the pod of the server: it reads the users of the Secret at its start"};
}

Status ServerLink::apply_to(redis::RedisStore& server, const ServerSetup& setup, TimePoint now) {
  const auto facts = server.ask(
      {{"INFO", "server"}, {"ACL", "USERS"}, {"CONFIG", "GET", "tls-cert-file"}, {"TIME"}},
      boot_now() + kLimit);
  if (!facts) return facts.error();
  const std::string run_id = info_field((*facts)[0], "run_id");
  if (applied_ && applied_->run_id == run_id && applied_->users == setup.users &&
      now - applied_->at < kReapplyInterval)
    return Done{};
  Commands commands;
  for (const ServerUser& user : setup.users) commands.push_back(set_user_command(user));
  for (const Resp& user : (*facts)[1].elements)
    if (is_stale(user.text, setup.users)) commands.push_back({"ACL", "DELUSER", user.text});
  add_certificate_reload(commands, (*facts)[2]);
  add_index_cleanup(commands, (*facts)[3], setup.key_prefix);
  const auto done = server.ask(commands, boot_now() + kLimit);
  if (!done) return done.error();
  applied_ = Applied{run_id, setup.users, now};
  return Done{};
}

}  // namespace cronlatch::op
