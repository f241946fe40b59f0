// SPDX-License-Identifier: Apache-2.0
// Each folder of tests/golden is one case: the request (in.yaml), the operator's settings
// (settings.yaml, or the one in tests/golden), and the complete response (want.json). A new folder
// is a new test. CRONLATCH_GOLDEN_WRITE=1 writes the responses; review them before a commit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "admission/admission_result.h"
#include "admission/review.h"
#include "golden/yaml_json.h"
#include "support/base64.h"
#include "support/source_dir.h"

namespace cronlatch::op {
namespace {

namespace fs = std::filesystem;
using kube::Json;

const fs::path kFolder = fs::path(cronlatch::testing::source_dir()) / "tests/golden";

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Replaces `from`; VERSION is the placeholder of the current version.
std::string replaced(const std::string& from, const std::string& to, std::string text) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at))
    text.replace(at, from.size(), to);
  return text;
}

std::vector<std::string> cases() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder))
    if (entry.is_directory()) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

Json yaml_file(const fs::path& path) {
  const Result<YamlNode> root =
      read_yaml(path, replaced("VERSION", CRONLATCH_VERSION, text_of(path)));
  if (root.ok()) return json_of(*root);
  ADD_FAILURE() << root.error().message;
  return {};
}

Settings settings_for(const fs::path& folder) {
  const fs::path own = folder / "settings.yaml";
  const Result<Settings> settings =
      parse_settings(text_of(fs::exists(own) ? own : kFolder / "settings.yaml"));
  if (settings.ok()) return *settings;
  ADD_FAILURE() << settings.error().message;
  return {};
}

struct Response {
  ReviewResponse reviewed;
  Json response;
  Json patch = Json::array();
};

// `in` has the fields of a request, and `resource`.
Response ask(const Json& in, const Json& object, const Settings& settings) {
  Json request = in;
  request["uid"] = "705ab4f5-6393-11e8-b7cc-42010a800002";
  request["object"] = object;
  if (!request.contains("operation")) request["operation"] = "CREATE";
  if (!request.contains("namespace")) request["namespace"] = "demo";
  const std::string review = kube::to_text(
      {{"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"request", request}});
  Response answer{
      in["resource"] == "job" ? review_job(review, settings) : review_cronjob(review, settings),
      {},
      Json::array()};
  const Result<Json> body = kube::parse_json(answer.reviewed.body);
  if (!body.ok()) {
    ADD_FAILURE() << body.error().message;
    return answer;
  }
  answer.response = (*body)["response"];
  EXPECT_EQ(answer.response["uid"], request["uid"]);
  if (answer.response.contains("patch"))
    answer.patch = Json::parse(from_base64(answer.response["patch"].get<std::string>()));
  return answer;
}

// The result, message, warnings and patch; without the version.
Json summary(const Response& answer) {
  Json out = {{"result", answer.reviewed.result}};
  if (answer.response.contains("status")) out["message"] = answer.response["status"]["message"];
  if (answer.response.contains("warnings")) out["warnings"] = answer.response["warnings"];
  if (!answer.patch.empty()) out["patch"] = answer.patch;
  for (Json& operation : out["patch"])
    if (operation["path"].get<std::string>().ends_with("cronlatch.dev~1injected"))
      operation["value"] = "VERSION";
  if (answer.patch.empty()) out.erase("patch");
  return out;
}

class Golden : public ::testing::TestWithParam<std::string> {};

TEST_P(Golden, HasTheExpectedResponse) {
  // Given
  const fs::path folder = kFolder / GetParam();
  const Settings settings = settings_for(folder);
  const Json in = yaml_file(folder / "in.yaml");

  // When
  const Response answer = ask(in, in["object"], settings);

  // Then
  const Json got = summary(answer);
  if (std::getenv("CRONLATCH_GOLDEN_WRITE") != nullptr)
    std::ofstream(folder / "want.json") << got.dump(2) << "\n";
  EXPECT_EQ(got.dump(2), Json::parse(text_of(folder / "want.json")).dump(2));
}

TEST_P(Golden, IsNotChangedByASecondCall) {
  const fs::path folder = kFolder / GetParam();
  const Settings settings = settings_for(folder);
  const Json in = yaml_file(folder / "in.yaml");
  const Response first = ask(in, in["object"], settings);

  const Response second = ask(in, in["object"].patch(first.patch), settings);

  EXPECT_EQ(second.patch, Json::array());
  EXPECT_EQ(second.response["allowed"], first.response["allowed"]);
}

// The longest names that the API server accepts, and annotations longer than any limit.
void lengthen(Json& value, const std::string& key) {
  if (value.is_object())
    for (const auto& [name, child] : value.items()) lengthen(child, name);
  if (value.is_array())
    for (Json& child : value) lengthen(child, key);
  if (!value.is_string()) return;
  if (key == "image") value = std::string(200, 'i') + ":" + std::string(200, 't');
  if (key.starts_with("cronlatch.dev/") && value != "true" && value != "false")
    value = value.get<std::string>() + std::string(300, 'x');
}

void lengthen_container_names(Json& object) {
  for (const char* const path : {"/spec/template/spec", "/spec/jobTemplate/spec/template/spec"})
    for (const char* const list : {"/containers", "/initContainers"}) {
      const Json::json_pointer at(std::string(path) + list);
      if (!object.contains(at)) continue;
      for (Json& container : object[at])
        container["name"] = (container.value("name", "") + std::string(63, 'n')).substr(0, 63);
    }
}

void expect_short_heads(const Json& in, const Json& object, const Settings& settings) {
  AdmissionRequest request;
  request.object = object;
  request.operation = in.value("operation", "CREATE");
  request.namespace_name = "demo";
  const Json before = in.value("oldObject", Json());
  if (before.is_object()) request.before = &before;
  const ImageIndex images(settings);
  const AdmissionResult result = in["resource"] == "job" ? admit_job(request, settings, images)
                                                         : admit_cronjob(request, settings, images);
  EXPECT_EQ(result.kind == AdmissionResult::Kind::denied, !result.refusals.empty());
  for (const auto* const findings : {&result.warnings, &result.refusals})
    for (const Finding& finding : *findings) {
      EXPECT_FALSE(finding.where.empty() || finding.what.empty() || finding.fix.empty())
          << finding.text();
      EXPECT_LE(finding.head().size(), kMaxWarning) << finding.head();
    }
}

TEST_P(Golden, HasEachConsequenceAndFixInTheFirst256Bytes) {
  const fs::path folder = kFolder / GetParam();
  const Settings settings = settings_for(folder);
  const Json in = yaml_file(folder / "in.yaml");

  expect_short_heads(in, in["object"], settings);
  Json with_long_names = in["object"];
  lengthen_container_names(with_long_names);
  expect_short_heads(in, with_long_names, settings);
  Json with_long_texts = with_long_names;
  lengthen(with_long_texts, "");
  expect_short_heads(in, with_long_texts, settings);
}

INSTANTIATE_TEST_SUITE_P(Cases, Golden, ::testing::ValuesIn(cases()), [](const auto& one) {
  std::string name = one.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
});

}  // namespace
}  // namespace cronlatch::op
