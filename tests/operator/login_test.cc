// SPDX-License-Identifier: Apache-2.0
// Private images: which Secrets of Jobs the operator uses for a login, and that no other Job can
// use them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admission/image_needed.h"
#include "kube/secrets.h"
#include "operator/lookup/image_lookup.h"
#include "private_image.h"
#include "support/fake_api.h"
#include "support/journal.h"

namespace cronlatch::testing {
namespace {

using kube::Json;
using ::testing::HasSubstr;
using ::testing::Not;

class PullSecrets : public PrivateImage {
 protected:
  PullSecrets() {
    settings_.image = "registry.example/cronlatch:1";
    settings_.store = "rediss://redis.example:6379";
    settings_.lookup = true;
    settings_.lookup_cache_size = 100;
    settings_.lookup_registries = {registry_.name()};
    settings_.lookup_architectures = {"amd64"};
    settings_.lookup_ca_file = certificates_.ca();
    settings_.lookup_pull_secret_namespaces = {"demo"};
  }
  void keep(const std::string& name, const std::string& key, const std::string& text) {
    api_.put(kube::secret_path("demo", name), {{"data", {{key, cronlatch::to_base64(text)}}}});
  }
  // Its image and its Secrets are those of the next lookup.
  void create_cronjob(const std::string& namespace_name, const Json& pod) {
    Json object = Json::parse(
        R"({"metadata":{"name":"nightly"},"spec":{"jobTemplate":{"metadata":{"annotations":
           {"cronlatch.dev/lock":"true"}},"spec":{"template":{"spec":{}}}}}})");
    object["metadata"]["namespace"] = namespace_name;
    Json& spec = object["spec"]["jobTemplate"]["spec"]["template"]["spec"];
    spec = pod;
    spec["containers"] = Json::array({{{"name", "main"}, {"image", image()}}});
    api_.put("/apis/batch/v1/namespaces/" + namespace_name + "/cronjobs/nightly", object);
    images_->set_needed({namespace_name, "nightly"}, op::image_needed(object, settings_));
  }
  // The requests for Secrets.
  std::size_t secret_reads() const {
    std::size_t count = 0;
    for (const kube::Request& request : api_.requests())
      if (request.path.find("/secrets/") != std::string::npos) ++count;
    return count;
  }
  void create_service_account(const std::string& name, const std::string& secret) {
    api_.put("/api/v1/namespaces/demo/serviceaccounts/" + name,
             {{"imagePullSecrets", Json::array({{{"name", secret}}})}});
  }
  // The first word of the command, or the reason why it is unknown.
  std::string find(const std::string& namespace_name, const std::vector<std::string>& secrets) {
    Json pod = {{"imagePullSecrets", Json::array()}};
    for (const std::string& secret : secrets) pod["imagePullSecrets"].push_back({{"name", secret}});
    return find_for(namespace_name, pod);
  }
  std::string find_for(const std::string& namespace_name, const Json& pod) {
    if (!images_) {
      images_.emplace(settings_, op::LookupReports{[](std::string_view) {}, [](Micros) {}},
                      journal_.clock, journal_.log);
      EXPECT_TRUE(images_->start({.scratch = dir_.path()}, &api_).ok());
    }
    create_cronjob(namespace_name, pod);
    const auto answer = images_->find({image(), namespace_name, pod},
                                      journal_.clock.now() + std::chrono::minutes(1));
    if (const auto* const unknown = std::get_if<op::UnknownEntrypoint>(&answer))
      return unknown->reason;
    return std::get<op::Entrypoint>(answer).cmd.at(0);
  }

  op::Settings settings_;
  Journal journal_;
  FakeApi api_;
  std::optional<op::ImageLookup> images_;  // last: its threads log
};

TEST_F(PullSecrets, WorkInBothFormats) {
  keep("new", ".dockerconfigjson", right());
  keep("old", ".dockercfg", "{" + login(RegistryServer::kPassword) + "}");

  EXPECT_EQ(find("demo", {"new"}), "private");
  EXPECT_EQ(find("demo", {"old"}), "private");
}

TEST_F(PullSecrets, AreAllTried) {
  keep("wrong", ".dockerconfigjson", docker_config("geheim"));
  keep("odd", ".dockerconfigjson", "no JSON: geheim");
  keep("right", ".dockerconfigjson", right());

  EXPECT_EQ(find("demo", {"absent", "odd", "wrong", "right"}), "private");
  images_.reset();
  EXPECT_THAT(journal_.text(), HasSubstr("demo/absent"));
  EXPECT_THAT(journal_.text(), HasSubstr("demo/odd"));
  EXPECT_THAT(journal_.text(), Not(HasSubstr("geheim")));
}

TEST_F(PullSecrets, AreReadInTheNamespacesOfTheListOnly) {
  keep("right", ".dockerconfigjson", right());

  EXPECT_THAT(find("other", {"right"}), HasSubstr("auth"));
  EXPECT_EQ(secret_reads(), 0U);
}

TEST_F(PullSecrets, AreUsedOnlyForAJobThatNamesThem) {
  keep("right", ".dockerconfigjson", right());
  ASSERT_EQ(find("demo", {"right"}), "private");

  EXPECT_THAT(find("demo", {}), HasSubstr("auth"));
  EXPECT_THAT(find("other", {"right"}), HasSubstr("auth"));
}

TEST_F(PullSecrets, AreThoseOfTheServiceAccountOfAPodWithoutAny) {
  keep("right", ".dockerconfigjson", right());
  create_service_account("builder", "right");

  create_service_account("default", "right");

  EXPECT_THAT(find_for("demo", {{"serviceAccountName", "absent"}}), HasSubstr("auth"));
  EXPECT_EQ(find_for("demo", {{"serviceAccountName", "builder"}}), "private");
  EXPECT_EQ(find_for("demo", {{"serviceAccount", "builder"}}), "private");
  EXPECT_EQ(find_for("demo", Json::object()), "private");
}

TEST_F(PullSecrets, OfTheServiceAccountAreNotUsedForAPodWithItsOwn) {
  keep("right", ".dockerconfigjson", right());
  keep("wrong", ".dockerconfigjson", docker_config("geheim"));
  create_service_account("builder", "right");

  EXPECT_THAT(find_for("demo", {{"serviceAccountName", "builder"},
                                {"imagePullSecrets", Json::array({{{"name", "wrong"}}})}}),
              HasSubstr("auth"));
}

TEST_F(PullSecrets, OfAServiceAccountAreReadInTheNamespacesOfTheListOnly) {
  keep("right", ".dockerconfigjson", right());
  create_service_account("default", "right");
  for (const char* account : {"default", "../secrets", "a/b", "?x"})
    EXPECT_THAT(find_for("other", {{"serviceAccountName", account}}), HasSubstr("auth"));
  for (const char* account : {"../secrets", "a/b", "?x"})
    EXPECT_THAT(find_for("demo", {{"serviceAccountName", account}}), HasSubstr("auth"));

  for (const kube::Request& request : api_.requests())
    EXPECT_EQ(request.path.find("/serviceaccounts/"), std::string::npos) << request.path;
  EXPECT_EQ(secret_reads(), 0U);
}

TEST_F(PullSecrets, CannotNameOtherPathsOfTheApi) {
  EXPECT_THAT(find("demo", {"../../../namespaces", "a/b", "?x", ""}), HasSubstr("auth"));
  EXPECT_EQ(secret_reads(), 0U);
}

}  // namespace
}  // namespace cronlatch::testing
