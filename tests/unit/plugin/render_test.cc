// SPDX-License-Identifier: Apache-2.0
// The output formats. yaml-cpp reads the YAML back.
#include "plugin/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include "recorded.h"

namespace cronlatch::plugin {
namespace {

using kube::Json;

// Unquoted scalars with the rules of the JSON schema of YAML: what is no number, boolean or null is
// a string. yaml-cpp marks a quoted scalar with the tag "!".
Json read_back(const YAML::Node& node) {
  if (node.IsMap()) {
    Json object = Json::object();
    for (const auto& entry : node) object[entry.first.as<std::string>()] = read_back(entry.second);
    return object;
  }
  if (node.IsSequence()) {
    Json array = Json::array();
    for (const auto& item : node) array.push_back(read_back(item));
    return array;
  }
  if (node.IsNull()) return {};
  if (node.Tag() == "!") return node.as<std::string>();
  if (bool value = false; YAML::convert<bool>::decode(node, value)) return value;
  if (std::int64_t value = 0; YAML::convert<std::int64_t>::decode(node, value)) return value;
  if (double value = 0; YAML::convert<double>::decode(node, value)) return value;
  return node.as<std::string>();
}

TEST(Render, YamlIsReadBackAsTheSameValue) {
  const std::vector<std::string> strings = {"",          "nightly",     "shop/nightly",
                                            "0 2 * * *", "yes",         "No",
                                            "null",      "~",           "1",
                                            "1e3",       "0x1f",        ".inf",
                                            "- a",       "a: b",        "a #b",
                                            "#",         "a ",          " a",
                                            "a\nb",      "\"",          "it's",
                                            "\x1b[2J",   "\x7f",        "ä",
                                            "@a",        "*/5 * * * *", "true",
                                            "y",         "on",          "2026-11-22T06:27:40Z",
                                            "a:",        "{}",          "[]",
                                            "---"};
  Json value = {{"empty", {{"object", Json::object()}, {"array", Json::array()}}},
                {"numbers", {1, -5, 1.5}},
                {"others", {true, false, nullptr}},
                {"nested", {{{"a", 1}, {"b", {1, 2}}}, Json::array({Json::array({1}), 2})}}};
  for (const std::string& text : strings) {
    value["strings"].push_back(text);
    value["keys"][text] = text;
  }
  const std::string yaml = to_yaml(value);
  EXPECT_EQ(read_back(YAML::Load(yaml)), value) << yaml;
}

TEST(Render, YamlOfARecordedListIsReadBack) {
  const Json jobs = kube::parse_json(recorded_text("shop-jobs")).value();
  EXPECT_EQ(read_back(YAML::Load(to_yaml(jobs))), jobs);
}

TEST(Render, YamlHasTheStyleOfKubectl) {
  EXPECT_EQ(to_yaml({{"cronjobs", {{{"cronjob", "nightly"}, {"holder", nullptr}}}}, {"code", 0}}),
            "code: 0\ncronjobs:\n- cronjob: nightly\n  holder: null\n");
  EXPECT_EQ(to_yaml(Json::object()), "{}\n");
}

TEST(Render, EveryFormatHasItsForm) {
  Output output;
  output.sections = {{.title = "title", .table = {{"A", "B"}, {"1", ""}}}, {.lines = {"line"}}};
  output.json = {{"a", 1}};
  output.names = {"cronjob.batch/nightly"};
  EXPECT_EQ(render(output, OutputFormat::table), "title\nA  B\n1  -\n\nline\n");
  EXPECT_EQ(render(output, OutputFormat::json), "{\n  \"a\": 1\n}\n");
  EXPECT_EQ(render(output, OutputFormat::yaml), "a: 1\n");
  EXPECT_EQ(render(output, OutputFormat::name), "cronjob.batch/nightly\n");
  output.json = nullptr;
  EXPECT_EQ(render(output, OutputFormat::json), render(output, OutputFormat::table));
}

}  // namespace
}  // namespace cronlatch::plugin
