// SPDX-License-Identifier: Apache-2.0
// A registry with a login, and an image in it.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "support/base64.h"
#include "support/certificates.h"
#include "support/program.h"
#include "support/registry_server.h"

namespace cronlatch::testing {

class PrivateImage : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    ASSERT_TRUE(name_hosts()) << "no mount namespace for the tests' hosts";
  }
  PrivateImage() { registry_.push("team/a:1", {R"({"Cmd":["private"]})"}); }

  std::string image() const { return registry_.name() + "/team/a:1"; }
  std::string login(const std::string& password) const {
    return '"' + registry_.name() + R"(":{"auth":")" +
           cronlatch::to_base64(std::string(RegistryServer::kUser) + ":" + password) + "\"}";
  }
  std::string docker_config(const std::string& password) const {
    return R"({"auths":{)" + login(password) + "}}";
  }
  std::string right() const { return docker_config(RegistryServer::kPassword); }

  Certificates certificates_;
  RegistryServer registry_{certificates_, RegistryServer::Door::login};
  ScratchDir dir_;
};

}  // namespace cronlatch::testing
