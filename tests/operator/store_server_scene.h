// SPDX-License-Identifier: Apache-2.0
// A real Redis with the certificate and the users that StoreServer wrote into its Secret, an API
// server in memory, and real runs with the credentials of a namespace.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/kernel_clock.h"
#include "kube/secrets.h"
#include "operator/store_server/store_server.h"
#include "support/certificates.h"
#include "support/eventually.h"
#include "support/fake_api.h"
#include "support/program.h"
#include "support/redis_server.h"

namespace cronlatch::testing {

// The clocks of this host, moved by the test: certificates must be valid for the real server.
class MovedClock final : public Clock {
 public:
  TimePoint now() const override { return real_.now() + moved_; }
  WallTime wall() const override { return {real_.wall().us + moved_.count()}; }
  void pass(Micros time) { moved_ += time; }

 private:
  const KernelClock real_{};
  Micros moved_{0};
};

class StoreServerScene : public ::testing::Test {
 protected:
  using Words = std::vector<std::string>;

  StoreServerScene() {
    settings_.store_server = true;
    settings_.store_server_namespaces = {"shop", "shop-2"};
    settings_.cluster_lock_namespaces = {"shop-2"};
    settings_.store = "rediss://localhost:1";
    api_.put(secret_path(), {{"type", "Opaque"}});
  }
  // Redis starts as in the chart: with the files of the Secret, which the operator fills first.
  void start() {
    EXPECT_FALSE(maintain());  // no server yet
    write_server_files();
    redis_ = RedisServer::start_tls(
        certificates_,
        {"--tls-cert-file", file("tls.crt"), "--tls-key-file", file("tls.key"),
         "--tls-ca-cert-file", file("ca.crt"), "--aclfile", file("users.acl"), "--appendonly",
         "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction"});
    settings_.store = "rediss://localhost:" + std::to_string(redis_->tls_port());
    new_leader();
    ASSERT_TRUE(maintain());
  }
  void new_leader() { server_.emplace(settings_, api_, clock_, log_); }
  bool maintain() {
    if (!server_) new_leader();
    return server_->maintain([this] { return leads_; });
  }

  static std::string secret_path() { return kube::secret_path("cronlatch", "cronlatch-redis"); }
  std::string stored(const std::string& key) const {
    return kube::secret_value(*api_.at(secret_path()), key);
  }
  std::string of_namespace(const std::string& name, const std::string& key) const {
    const auto secret = api_.at(kube::secret_path(name, "cronlatch-store"));
    return secret ? kube::secret_value(*secret, key) : "";
  }
  std::string file(const std::string& name) const { return dir_.path(name); }
  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
  }
  // As the kubelet mounts them.
  void write_server_files() const {
    for (const char* key : {"tls.crt", "tls.key", "ca.crt", "users.acl"})
      write(file(key), stored(key));
  }
  std::string mount(const std::string& name) const {
    const std::string folder = file("mounted-" + name);
    std::filesystem::create_directories(folder);
    for (const char* key : {"username", "password", "ca.crt"})
      write(folder + "/" + key, of_namespace(name, key));
    return folder;
  }

  // A run of the namespace, as the operator injects it.
  ProgramSpec run(const std::string& name, const std::string& lock, const Words& options,
                  const Words& command) const {
    Words argv = {CRONLATCH_PROGRAM, "run",    "--store", settings_.store, "--credentials-dir",
                  mount(name),       "--lock", lock,      "--job",         lock,
                  "--ttl",           "30s"};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.emplace_back("--");
    argv.insert(argv.end(), command.begin(), command.end());
    return {.argv = argv};
  }
  // A connection without TLS, logged in as the user with one of its passwords.
  std::unique_ptr<RedisClient> client(const std::string& user, const std::string& password) const {
    auto redis = std::make_unique<RedisClient>(redis_->port());
    is_logged_in_ = !(*redis)({"AUTH", user, password}).is_error();
    return redis;
  }
  bool accepts(const std::string& user, const std::string& password) const {
    (void)client(user, password);
    return is_logged_in_;
  }
  std::unique_ptr<RedisClient> admin() const {
    auto redis =
        client("admin", op::derive_password(Secret(stored("password-seed")), "admin").reveal());
    EXPECT_TRUE(is_logged_in_);
    return redis;
  }

  op::Settings settings_;
  FakeApi api_;
  MovedClock clock_;
  std::string log_text_;
  Log log_{LogFormat::text, Level::debug, clock_,
           [this](std::string_view line) { log_text_ += line; }};
  bool leads_ = true;
  Certificates certificates_;
  ScratchDir dir_;
  std::unique_ptr<RedisServer> redis_;
  std::optional<op::StoreServer> server_;
  mutable bool is_logged_in_ = false;
};

}  // namespace cronlatch::testing
