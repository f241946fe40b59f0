// SPDX-License-Identifier: Apache-2.0
#include "store_server_scene.h"

#include <filesystem>
#include <fstream>

#include "kube/secrets.h"

namespace cronlatch::testing {

StoreServerScene::StoreServerScene() {
  settings_.store_server = true;
  settings_.store_server_namespaces = {"shop", "shop-2"};
  settings_.cluster_lock_namespaces = {"shop-2"};
  settings_.store = "rediss://localhost:1";
  api_.put(secret_path(), {{"type", "Opaque"}});
}

StoreServerScene::~StoreServerScene() = default;

void StoreServerScene::start() {
  EXPECT_FALSE(maintain());  // no server yet
  write_server_files();
  redis_ = RedisServer::start_tls(
      certificates_,
      {"--tls-cert-file", file("tls.crt"), "--tls-key-file", file("tls.key"), "--tls-ca-cert-file",
       file("ca.crt"), "--aclfile", file("users.acl"), "--appendonly", "yes", "--appendfsync",
       "always", "--maxmemory-policy", "noeviction"});
  settings_.store = "rediss://localhost:" + std::to_string(redis_->tls_port());
  new_leader();
  ASSERT_TRUE(maintain());
}

void StoreServerScene::new_leader() { server_.emplace(settings_, api_, clock_, log_); }

bool StoreServerScene::maintain() {
  if (!server_) new_leader();
  return server_->maintain([this] { return leads_; });
}

std::string StoreServerScene::secret_path() {
  return kube::secret_path("cronlatch", "cronlatch-redis");
}

std::string StoreServerScene::stored(const std::string& key) const {
  return kube::secret_value(*api_.at(secret_path()), key);
}

std::string StoreServerScene::of_namespace(const std::string& name, const std::string& key) const {
  const auto secret = api_.at(kube::secret_path(name, "cronlatch-store"));
  return secret ? kube::secret_value(*secret, key) : "";
}

std::string StoreServerScene::file(const std::string& name) const { return dir_.path(name); }

void StoreServerScene::write(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

void StoreServerScene::write_server_files() const {
  for (const char* key : {"tls.crt", "tls.key", "ca.crt", "users.acl"})
    write(file(key), stored(key));
}

std::string StoreServerScene::mount(const std::string& name) const {
  const std::string folder = file("mounted-" + name);
  std::filesystem::create_directories(folder);
  for (const char* key : {"username", "password", "ca.crt"})
    write(folder + "/" + key, of_namespace(name, key));
  return folder;
}

ProgramSpec StoreServerScene::run(const std::string& name, const std::string& lock,
                                  const Words& options, const Words& command) const {
  Words argv = {CRONLATCH_PROGRAM, "run",    "--store", settings_.store, "--credentials-dir",
                mount(name),       "--lock", lock,      "--job",         lock,
                "--ttl",           "30s"};
  argv.insert(argv.end(), options.begin(), options.end());
  argv.emplace_back("--");
  argv.insert(argv.end(), command.begin(), command.end());
  return {.argv = argv};
}

std::unique_ptr<RedisClient> StoreServerScene::client(const std::string& user,
                                                      const std::string& password) const {
  auto redis = std::make_unique<RedisClient>(redis_->port());
  is_logged_in_ = !(*redis)({"AUTH", user, password}).is_error();
  return redis;
}

bool StoreServerScene::accepts(const std::string& user, const std::string& password) const {
  (void)client(user, password);
  return is_logged_in_;
}

std::unique_ptr<RedisClient> StoreServerScene::admin() const {
  auto redis =
      client("admin", op::derive_password(Secret(stored("password-seed")), "admin").reveal());
  EXPECT_TRUE(is_logged_in_);
  return redis;
}

}  // namespace cronlatch::testing
