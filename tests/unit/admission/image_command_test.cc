// SPDX-License-Identifier: Apache-2.0
// For every combination of ENTRYPOINT, CMD, command and args, the wrapper runs the command that
// Kubernetes runs without it.
#include <gtest/gtest.h>

#include <map>
#include <span>

#include "admission/review.h"
#include "config/architecture.h"
#include "config/flags.h"
#include "support/base64.h"

namespace cronlatch::op {
namespace {

using kube::Json;
using Words = std::vector<std::string>;

// As the kubelet expands `command` and `args`: $(NAME) of an existing variable, and $$.
std::string expanded(const std::string& word) {
  std::string out;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word.compare(i, 2, "$$") == 0) {
      out += '$';
      ++i;
    } else if (word.compare(i, 7, "$(HOME)") == 0) {
      out += "/root";
      i += 6;
    } else {
      out += word[i];
    }
  }
  return out;
}

struct Container {
  Words command, args;
};

// The rule of the kubelet and container runtimes: `command` replaces ENTRYPOINT and CMD, `args`
// replaces CMD; an ENTRYPOINT of one empty word is none.
Words run_by_kubernetes(const Container& container, const image::ImageCommand& image) {
  Words argv, args;
  for (const std::string& word : container.command) argv.push_back(expanded(word));
  for (const std::string& word : container.args) args.push_back(expanded(word));
  if (argv.empty()) {
    if (args.empty()) args = image.cmd;
    if (image.entrypoint != Words{""}) argv = image.entrypoint;
  }
  argv.insert(argv.end(), args.begin(), args.end());
  return argv;
}

class Image final : public EntrypointSource {
 public:
  explicit Image(const image::ImageCommand& startup)
      : by_arch_{{"amd64", startup}, {"arm64", startup}} {}
  Image(image::ImageCommand amd64, image::ImageCommand arm64)
      : by_arch_{{"amd64", std::move(amd64)}, {"arm64", std::move(arm64)}} {}
  EntrypointResult find(const EntrypointQuery&) const override { return entrypoint_of(by_arch_); }

 private:
  const std::map<std::string, image::ImageCommand> by_arch_;
};

Settings platform() {
  Settings settings;
  settings.image = "registry.example/cronlatch:1";
  settings.store = "rediss://redis.example:6379";
  return settings;
}

Json job(const Container& container) {
  Json one = {{"name", "main"}, {"image", "pg:16"}};
  if (!container.command.empty()) one["command"] = container.command;
  if (!container.args.empty()) one["args"] = container.args;
  return {
      {"metadata", {{"name", "nightly-1"}, {"annotations", {{"cronlatch.dev/lock", "nightly"}}}}},
      {"spec", {{"template", {{"spec", {{"containers", Json::array({one})}}}}}}}};
}

struct Gated {
  std::string result;
  Json object;
  Json response;
};

Gated gated(const Json& object, const EntrypointSource& images, const Settings& settings) {
  const Json review = {
      {"request",
       {{"uid", "u"}, {"operation", "CREATE"}, {"namespace", "demo"}, {"object", object}}}};
  const ReviewResponse reviewed = review_job(kube::to_text(review), settings, images);
  Gated out{std::string(reviewed.result), object, Json::parse(reviewed.body)["response"]};
  if (out.response.contains("patch"))
    out.object = object.patch(Json::parse(from_base64(out.response["patch"].get<std::string>())));
  return out;
}

Container container_of(const Json& object) {
  const Json& one = object["spec"]["template"]["spec"]["containers"][0];
  return {one.value("command", Words{}), one.value("args", Words{})};
}

// The command that the wrapper runs on an architecture, parsed with the wrapper's own code.
Words wrapped_command(const Container& container, std::string_view architecture = "amd64") {
  const Words argv = run_by_kubernetes(container, {});
  EXPECT_EQ(argv.front(), "/cronlatch-bin/cronlatch");
  EXPECT_EQ(argv[1], "run");
  const auto flags = parse_flags(std::span(argv).subspan(2), Operands::command, {});
  if (!flags) return {flags.error().message};
  Options options;
  for (const Setting& setting : flags->settings)
    EXPECT_TRUE(set_option(options, *setting.option, setting.text).ok()) << setting.text;
  return full_command(options, architecture, flags->operands).value();
}

const Words kEntrypoints[] = {
    {}, {""}, {"/e"}, {"/e", "x y"}, {"/bin/sh", "-c", "echo $HOME $(HOME) $$"}};
const Words kCmds[] = {{}, {"c"}, {"$(HOME)", "$$", "--"}};
const Words kCommands[] = {{}, {"/k"}, {"/k", "$(HOME)"}};
const Words kArgs[] = {{}, {"a"}, {"$(HOME)", "$$x"}};

std::string shown(const Words& words) { return Json(words).dump(); }

TEST(ImageCommand, IsTheOneThatKubernetesRuns) {
  int cases = 0;
  for (const Words& entrypoint : kEntrypoints)
    for (const Words& cmd : kCmds)
      for (const Words& command : kCommands)
        for (const Words& args : kArgs) {
          const std::string what = shown(entrypoint) + shown(cmd) + shown(command) + shown(args);
          const Words wanted = run_by_kubernetes({command, args}, {entrypoint, cmd});
          // parse_config() has removed the empty word.
          const Image image({entrypoint == Words{""} ? Words{} : entrypoint, cmd});
          const Gated once = gated(job({command, args}), image, platform());
          ++cases;
          if (wanted.empty()) {
            EXPECT_EQ(once.result, "denied") << what;
            continue;
          }
          EXPECT_EQ(once.result, "mutated") << what << once.response.dump();
          EXPECT_EQ(wrapped_command(container_of(once.object)), wanted) << what;
        }
  EXPECT_EQ(cases, 135);
}

class UnknownImage final : public EntrypointSource {
 public:
  EntrypointResult find(const EntrypointQuery&) const override {
    return UnknownEntrypoint{"there is no source"};
  }
};

TEST(ImageCommand, IsThatOfEachArchitectureIfTheyDiffer) {
  const image::ImageCommand other{{"/other", "$(HOME)"}, {"d"}};
  for (const Words& entrypoint : kEntrypoints)
    for (const Words& cmd : kCmds)
      for (const Words& args : kArgs) {
        const std::string what = shown(entrypoint) + shown(cmd) + shown(args);
        const Words wanted = run_by_kubernetes({{}, args}, {entrypoint, cmd});
        const Image image({entrypoint == Words{""} ? Words{} : entrypoint, cmd}, other);
        const Gated once = gated(job({{}, args}), image, platform());
        if (wanted.empty()) {
          EXPECT_EQ(once.result, "denied") << what;
          continue;
        }
        ASSERT_EQ(once.result, "mutated") << what << once.response.dump();
        EXPECT_EQ(wrapped_command(container_of(once.object), "amd64"), wanted) << what;
        EXPECT_EQ(wrapped_command(container_of(once.object), "arm64"),
                  run_by_kubernetes({{}, args}, other))
            << what;
        EXPECT_EQ(gated(once.object, UnknownImage(), platform()).result, "skipped") << what;
      }
}

TEST(ImageCommand, OfAGatedJobNeedsNoSource) {
  for (const Words& entrypoint : kEntrypoints)
    for (const Words& args : kArgs) {
      const Image image({entrypoint == Words{""} ? Words{} : entrypoint, {"c"}});
      const Gated once = gated(job({{}, args}), image, platform());

      const Gated twice = gated(once.object, UnknownImage(), platform());

      EXPECT_EQ(twice.result, "skipped") << twice.response.dump();
    }
}

TEST(ImageCommand, IsRecordedOnThePodWithItsSource) {
  class Registry final : public EntrypointSource {
   public:
    EntrypointResult find(const EntrypointQuery&) const override {
      return Entrypoint{{"/e"}, {}, "docker.io/library/pg@sha256:aa", "pg:16@sha256:aa"};
    }
  };
  const Gated once = gated(job({}), Registry(), platform());

  const Json& pod = once.object["spec"]["template"];
  EXPECT_EQ(pod["metadata"]["annotations"]["cronlatch.dev/command-from"],
            "docker.io/library/pg@sha256:aa");
  EXPECT_EQ(pod["spec"]["containers"][0]["image"], "pg:16@sha256:aa");
}

}  // namespace
}  // namespace cronlatch::op
