// SPDX-License-Identifier: Apache-2.0
// A real Redis with the certificate and the users that StoreServer wrote into its Secret, an API
// server in memory, and real runs with the credentials of a namespace. The functions are compiled
// once, in store_server_scene.cc.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/kernel_clock.h"
#include "operator/store_server/store_server.h"
#include "support/certificates.h"
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

  StoreServerScene();
  ~StoreServerScene() override;
  // Redis starts as in the chart: with the files of the Secret, which the operator fills first.
  void start();
  void new_leader();
  bool maintain();

  static std::string secret_path();
  std::string stored(const std::string& key) const;
  std::string of_namespace(const std::string& name, const std::string& key) const;
  std::string file(const std::string& name) const;
  static void write(const std::string& path, const std::string& text);
  // As the kubelet mounts them.
  void write_server_files() const;
  std::string mount(const std::string& name) const;

  // A run of the namespace, as the operator injects it.
  ProgramSpec run(const std::string& name, const std::string& lock, const Words& options,
                  const Words& command) const;
  // A connection without TLS, logged in as the user with one of its passwords.
  std::unique_ptr<RedisClient> client(const std::string& user, const std::string& password) const;
  bool accepts(const std::string& user, const std::string& password) const;
  std::unique_ptr<RedisClient> admin() const;

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
