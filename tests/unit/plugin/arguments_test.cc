// SPDX-License-Identifier: Apache-2.0
// The command line: flags of the plugin, flags of kubectl, and errors.
#include "plugin/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugin/flag.h"
#include "plugin/verb.h"

namespace cronlatch::plugin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<Arguments> parse(std::vector<std::string> words) { return parse_arguments(words, {}); }

TEST(PluginArguments, FollowTheConventionsOfKubectl) {
  EXPECT_EQ(parse({})->verb, find_verb("ls"));
  EXPECT_EQ(parse({"list"})->verb, find_verb("ls"));
  EXPECT_TRUE(parse({"-A", "-owide"})->all_namespaces);
  EXPECT_EQ(parse({"-A", "-owide"})->output, OutputFormat::wide);
  EXPECT_EQ(parse({"-o=yaml"})->output, OutputFormat::yaml);
  EXPECT_EQ(parse({"-nshop"})->namespace_name, "shop");
  EXPECT_EQ(parse({"-n", "shop", "why", "x"})->namespace_name, "shop");
  EXPECT_EQ(parse({"-Awlteam=a"})->selector, "team=a");
  EXPECT_TRUE(parse({"-Awlteam=a"})->watch);
  EXPECT_EQ(parse({"why", "cronjob.batch/nightly"})->name, "nightly");
  EXPECT_EQ(parse({"release", "shop/nightly"})->name, "shop/nightly");
  EXPECT_FALSE(parse({"release", "x", "--force=false"})->force);
  EXPECT_TRUE(parse({"release", "x", "--dry-run=server"})->dry_run);
}

TEST(PluginArguments, PassEveryGlobalFlagToKubectl) {
  EXPECT_THAT(parse({"--context", "c", "--as=me", "-s", "https://api", "-v6", "-v", "7",
                     "--insecure-skip-tls-verify", "why", "x"})
                  ->kubectl_flags,
              ElementsAre("--context=c", "--as=me", "--server=https://api", "--v=6", "--v=7",
                          "--insecure-skip-tls-verify=true"));
  for (const KubectlFlag& flag : kubectl_flag_table()) {
    std::vector<std::string> words = {std::string(flag.name)};
    if (!flag.is_switch) words.emplace_back("value");
    words.emplace_back("-A");
    const auto arguments = parse(words);
    ASSERT_TRUE(arguments) << flag.name << ": " << arguments.error().message;
    EXPECT_THAT(arguments->kubectl_flags,
                ElementsAre(std::string(flag.name) + (flag.is_switch ? "=true" : "=value")));
    EXPECT_TRUE(arguments->all_namespaces);
  }
  // The output of `kubectl options` of 1.34.4; --namespace is the plugin's own, too.
  for (const std::string name : {"as",
                                 "as-group",
                                 "as-uid",

                                 "cache-dir",
                                 "certificate-authority",
                                 "client-certificate",
                                 "client-key",
                                 "cluster",
                                 "context",
                                 "disable-compression",
                                 "insecure-skip-tls-verify",
                                 "kubeconfig",
                                 "kuberc",
                                 "log-flush-frequency",
                                 "match-server-version",
                                 "password",
                                 "profile",
                                 "profile-output",
                                 "request-timeout",
                                 "server",
                                 "tls-server-name",
                                 "token",
                                 "user",
                                 "username",
                                 "v",
                                 "vmodule",
                                 "warnings-as-errors"})
    EXPECT_TRUE(parse({"--" + name + "=1"})) << name;
}

TEST(PluginArguments, ErrorsNameTheWordAndTheRule) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"frobnicate"}, "unknown command \"frobnicate\""},
      {{"--frob"}, "unknown flag \"--frob\""},
      {{"-x"}, "unknown flag \"-x\""},
      {{"why"}, "why requires an argument: CRONJOB"},
      {{"why", "a", "b"}, "\"b\" is the second"},
      {{"-o", "toml"}, "--output: \"toml\" is not an output format"},
      {{"why", "x", "-o", "name"}, "why does not support -o name"},
      {{"-n"}, "--namespace requires a value"},
      {{"-n="}, "--namespace requires a value"},
      {{"--token="}, "--token requires a value"},
      {{"ls", "x"}, "ls takes no argument"},
      {{"why", "x", "-A"}, "why does not accept --all-namespaces"},
      {{"why", "x", "-w"}, "why does not accept --watch"},
      {{"ls", "--remove"}, "ls does not accept --remove"},
      {{"uninstall-check", "-l", "a=b"}, "uninstall-check does not accept --selector"},
      {{"--force=maybe", "release", "x"}, "--force: \"maybe\" is not true or false"}};
  for (const auto& [words, message] : cases) {
    const auto arguments = parse(words);
    ASSERT_FALSE(arguments) << message;
    EXPECT_EQ(arguments.error().code, Code::usage);
    EXPECT_THAT(arguments.error().message, HasSubstr(message));
  }
}

TEST(PluginArguments, VariableSetsTheStatusPage) {
  const std::vector<std::string> environment = {"KUBECTL_CRONLATCH_STATUS=a/b:1"};
  EXPECT_EQ(parse_arguments(std::vector<std::string>{}, environment)->status, "a/b:1");
  EXPECT_EQ(parse_arguments(std::vector<std::string>{"--status=none"}, environment)->status,
            "none");
}

}  // namespace
}  // namespace cronlatch::plugin
