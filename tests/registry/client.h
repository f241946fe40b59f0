// SPDX-License-Identifier: Apache-2.0
// Everything that the operator has between an admission and a registry, as tests of it need it: the
// real client behind the real proxy, with the answers' memory.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "registry/port_confinement.h"
#include "registry/lookup.h"
#include "support/registry_server.h"

namespace cronlatch::registry {

using Words = std::vector<std::string>;

class RealClock final : public Clock {
 public:
  TimePoint now() const override { return TimePoint(Micros(cronlatch::testing::boottime_us())); }
  WallTime wall() const override { return {0}; }
};

class Client {
 public:
  struct Wish {
    std::vector<std::string> registries;
    std::string ca;
    std::string docker_config{};
    Millis timeout{60'000};
    Millis tag_recheck{300'000};
  };
  explicit Client(Wish wish) : wish_(std::move(wish)) {
    EXPECT_TRUE(proxy_.start().ok());
    const auto logins = [this](const Question& question) {
      auto found =
          logins_for(wish_.docker_config.empty() ? "{}" : wish_.docker_config, question.image);
      return found ? *found : std::vector<Login>();
    };
    lookup_.emplace(Lookup::Parts{ask_by(skopeo_, logins, 100), {}, clock_},
                    LookupTiming{.timeout = wish_.timeout,
                                 .tag_recheck = wish_.tag_recheck,
                                 .waiting = 200,
                                 .remembered = 1'000});
    lookup_->start();
  }
  Told find(const std::string& image, Words architectures = {"amd64"}) {
    const auto reference = image::parse_reference(image);
    EXPECT_TRUE(reference.ok()) << image;
    return lookup_->find({*reference, std::move(architectures)}, clock_.now() + Millis(90'000));
  }
  std::string log() const {
    const std::lock_guard lock(mutex_);
    return logged_;
  }
  bool left_nothing() const { return std::filesystem::is_empty(scratch_.path()); }

 private:
  static image::RegistryPolicy policy_of(const Words& lines) {
    std::vector<image::ListedRegistry> listed;
    for (const std::string& line : lines) listed.push_back(*image::parse_listed(line));
    return image::RegistryPolicy(std::move(listed));
  }
  const Wish wish_;
  const RealClock clock_;
  cronlatch::testing::ScratchDir scratch_;
  mutable std::mutex mutex_;
  std::string logged_;
  const Log log_{LogFormat::text, Level::debug, clock_, [this](std::string_view line) {
                   const std::lock_guard lock(mutex_);
                   logged_ += line;
                 }};
  const image::RegistryPolicy policy_ = policy_of(wish_.registries);
  Proxy proxy_{policy_, {}, clock_, log_};
  const Skopeo skopeo_{SkopeoConfig{.ca_file = wish_.ca, .scratch = scratch_.path()}, policy_,
                       proxy_, clock_, [this] { (void)confine_thread_to_ports({proxy_.port()}); }};
  std::optional<Lookup> lookup_;
};

class RealRegistry : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    ASSERT_TRUE(cronlatch::testing::name_hosts()) << "no mount namespace for the tests' hosts";
  }
  Client::Wish wish(const cronlatch::testing::RegistryServer& registry) const {
    return {.registries = {registry.name()}, .ca = certificates_.ca()};
  }
  cronlatch::testing::Certificates certificates_;
};

inline Words entrypoint(const Told& told, std::size_t at = 0) {
  EXPECT_EQ(told.kind, Told::Kind::known) << told.why;
  return told.looked.on.size() > at ? told.looked.on[at].startup.entrypoint : Words{"?"};
}
inline Words cmd(const Told& told) {
  return told.looked.on.empty() ? Words{"?"} : told.looked.on[0].startup.cmd;
}

}  // namespace cronlatch::registry
