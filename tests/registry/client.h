// SPDX-License-Identifier: Apache-2.0
// The operator's path from an image's name to a registry, for tests: lookup with cache, skopeo, and
// the proxy.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "registry/port_confinement.h"
#include "registry/proxy.h"
#include "registry/registry_access.h"
#include "registry/registry_query.h"
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
  struct Config {
    std::vector<std::string> registries;
    std::string ca;
    std::string docker_config{};
    Millis timeout{60'000};
    Millis tag_max_age{300'000};
    std::string https_proxy{}, no_proxy{};
    Millis first_pause{100};
  };
  explicit Client(Config config) : config_(std::move(config)) {
    EXPECT_TRUE(proxy_.start().ok());
    const auto logins = [this](const LookupRequest& request) {
      auto found =
          logins_for(config_.docker_config.empty() ? "{}" : config_.docker_config, request.image);
      return found ? *found : std::vector<RegistryLogin>();
    };
    lookup_.emplace(
        Lookup::Dependencies{
            make_registry_query({access_, logins, pace_, {}, clock_}, 100), {}, clock_},
        LookupTiming{.timeout = config_.timeout,
                     .tag_max_age = config_.tag_max_age,
                     .max_waiting = 200,
                     .cache_size = 1'000});
    lookup_->start();
  }
  LookupResult find(const std::string& image, Words architectures = {"amd64"}) {
    const auto reference = image::parse_reference(image);
    EXPECT_TRUE(reference.ok()) << image;
    return lookup_->find({*reference, std::move(architectures)}, clock_.now() + Millis(90'000));
  }
  HeadResult head(const std::string& image) const {
    return access_.head(*image::parse_reference(image), nullptr, clock_.now() + Millis(30'000), {});
  }
  std::string log() const {
    const std::lock_guard lock(mutex_);
    return logged_;
  }
  bool has_no_temporary_files() const { return std::filesystem::is_empty(temp_dir_.path()); }

 private:
  static image::RegistryPolicy policy_of(const Words& lines) {
    std::vector<image::ListedRegistry> listed;
    for (const std::string& line : lines) listed.push_back(*image::parse_listed_registry(line));
    return image::RegistryPolicy(std::move(listed));
  }
  const Config config_;
  const RealClock clock_;
  cronlatch::testing::ScratchDir temp_dir_;
  mutable std::mutex mutex_;
  std::string logged_;
  const Log log_{LogFormat::text, Level::debug, clock_, [this](std::string_view line) {
                   const std::lock_guard lock(mutex_);
                   logged_ += line;
                 }};
  const image::RegistryPolicy policy_ = policy_of(config_.registries);
  Proxy proxy_{
      policy_, {}, clock_, log_, *UpstreamProxy::parse(config_.https_proxy, config_.no_proxy)};
  const Skopeo skopeo_{SkopeoConfig{.ca_file = config_.ca, .temp_dir = temp_dir_.path()}, policy_,
                       proxy_, clock_, [this] { (void)confine_thread_to_ports({proxy_.port()}); }};
  const ManifestHead head_{config_.ca, policy_, proxy_, clock_};
  const RegistryAccess access_{head_, skopeo_};
  RegistryPace pace_{clock_, [] { return 0.0; }, {.first_pause = config_.first_pause}};
  std::optional<Lookup> lookup_;
};

class RealRegistry : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    ASSERT_TRUE(cronlatch::testing::name_hosts()) << "no mount namespace for the tests' hosts";
  }
  Client::Config config_for(const cronlatch::testing::RegistryServer& registry) const {
    return {.registries = {registry.name()}, .ca = certificates_.ca()};
  }
  cronlatch::testing::Certificates certificates_;
};

inline Words entrypoint(const LookupResult& result, std::size_t at = 0) {
  EXPECT_EQ(result.kind, LookupResult::Kind::known) << result.error;
  return result.info.platforms.size() > at ? result.info.platforms[at].command.entrypoint
                                           : Words{"?"};
}
inline Words cmd(const LookupResult& result) {
  return result.info.platforms.empty() ? Words{"?"} : result.info.platforms[0].command.cmd;
}

}  // namespace cronlatch::registry
