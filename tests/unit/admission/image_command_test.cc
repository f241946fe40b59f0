// SPDX-License-Identifier: Apache-2.0
// Whatever an image and a container say, the command behind the wrapper is the one that Kubernetes
// would have run without us.
#include <gtest/gtest.h>

#include <map>
#include <span>

#include "admission/image_needed.h"
#include "admission/review.h"
#include "config/architecture.h"
#include "config/flags.h"
#include "support/base64.h"

namespace cronlatch::op {
namespace {

using kube::Json;
using Words = std::vector<std::string>;

// What the kubelet makes of `command` and `args`: $(NAME) of a variable that there is, $$.
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

// The rule of container runtimes (CRI), after the kubelet: `command` takes ENTRYPOINT's and CMD's
// place, `args` CMD's; an ENTRYPOINT of one empty word is none.
Words run_by_kubernetes(const Container& container, const image::Startup& image) {
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
  explicit Image(const image::Startup& startup)
      : by_arch_{{"amd64", startup}, {"arm64", startup}} {}
  Image(image::Startup amd64, image::Startup arm64)
      : by_arch_{{"amd64", std::move(amd64)}, {"arm64", std::move(arm64)}} {}
  EntrypointAnswer find(const ImageUse&) const override { return entrypoint_of(by_arch_); }

 private:
  const std::map<std::string, image::Startup> by_arch_;
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
  const Reviewed reviewed = review_job(kube::to_text(review), settings, images);
  Gated out{std::string(reviewed.result), object, Json::parse(reviewed.body)["response"]};
  if (out.response.contains("patch"))
    out.object = object.patch(Json::parse(from_base64(out.response["patch"].get<std::string>())));
  return out;
}

Container container_of(const Json& object) {
  const Json& one = object["spec"]["template"]["spec"]["containers"][0];
  return {one.value("command", Words{}), one.value("args", Words{})};
}

// What the wrapper runs in a gated container on an architecture, by the wrapper's own reading.
Words behind_the_wrapper(const Container& container, std::string_view architecture = "amd64") {
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

TEST(ImageCommand, IsWhatKubernetesWouldRun) {
  int cases = 0;
  for (const Words& entrypoint : kEntrypoints)
    for (const Words& cmd : kCmds)
      for (const Words& command : kCommands)
        for (const Words& args : kArgs) {
          const std::string what = shown(entrypoint) + shown(cmd) + shown(command) + shown(args);
          const Words wanted = run_by_kubernetes({command, args}, {entrypoint, cmd});
          // The reader of a config has taken the empty word away.
          const Image image({entrypoint == Words{""} ? Words{} : entrypoint, cmd});
          const Gated once = gated(job({command, args}), image, platform());
          ++cases;
          if (wanted.empty()) {
            EXPECT_EQ(once.result, "denied") << what;
            continue;
          }
          EXPECT_EQ(once.result, "mutated") << what << once.response.dump();
          EXPECT_EQ(behind_the_wrapper(container_of(once.object)), wanted) << what;
        }
  EXPECT_EQ(cases, 135);
}

class Nobody final : public EntrypointSource {
 public:
  EntrypointAnswer find(const ImageUse&) const override { return NotKnown{"nobody knows"}; }
};

TEST(ImageCommand, IsThatOfEachArchitectureWhereTheyDiffer) {
  const image::Startup other{{"/other", "$(HOME)"}, {"d"}};
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
        EXPECT_EQ(behind_the_wrapper(container_of(once.object), "amd64"), wanted) << what;
        EXPECT_EQ(behind_the_wrapper(container_of(once.object), "arm64"),
                  run_by_kubernetes({{}, args}, other))
            << what;
        EXPECT_EQ(gated(once.object, Nobody(), platform()).result, "skipped") << what;
      }
}

TEST(ImageCommand, OfAGatedJobIsAskedForNoMore) {
  for (const Words& entrypoint : kEntrypoints)
    for (const Words& args : kArgs) {
      const Image image({entrypoint == Words{""} ? Words{} : entrypoint, {"c"}});
      const Gated once = gated(job({{}, args}), image, platform());

      const Gated twice = gated(once.object, Nobody(), platform());

      EXPECT_EQ(twice.result, "skipped") << twice.response.dump();
    }
}

TEST(ImageCommand, IsWrittenOnThePodWithItsSource) {
  class Registry final : public EntrypointSource {
   public:
    EntrypointAnswer find(const ImageUse&) const override {
      return Entrypoint{{"/e"}, {}, "docker.io/library/pg@sha256:aa", "pg:16@sha256:aa"};
    }
  };
  const Gated once = gated(job({}), Registry(), platform());

  const Json& pod = once.object["spec"]["template"];
  EXPECT_EQ(pod["metadata"]["annotations"]["cronlatch.dev/command-from"],
            "docker.io/library/pg@sha256:aa");
  EXPECT_EQ(pod["spec"]["containers"][0]["image"], "pg:16@sha256:aa");
}

class Slow final : public EntrypointSource {
 public:
  EntrypointAnswer find(const ImageUse&) const override {
    return NotKnown{"registry \"docker.io\": it is down", "", true};
  }
};

Json cronjob(const char* mark = "true") {
  Json it = {{"metadata", {{"name", "nightly"}, {"namespace", "demo"}}},
             {"spec", {{"schedule", "0 2 * * *"}, {"jobTemplate", job({})}}}};
  it["spec"]["jobTemplate"]["metadata"] = {{"annotations", {{"cronlatch.dev/lock", mark}}}};
  return it;
}

TEST(ImageCommand, ThatIsNotKnownYetRefusesTheJobAndWarnsOfTheCronJob) {
  const Json review = {
      {"request",
       {{"uid", "u"}, {"operation", "CREATE"}, {"namespace", "demo"}, {"object", cronjob()}}}};
  const Json applied =
      Json::parse(review_cronjob(kube::to_text(review), platform(), Slow()).body)["response"];
  const Gated started = gated(job({}), Slow(), platform());

  EXPECT_EQ(applied["allowed"], true) << applied.dump();
  ASSERT_TRUE(applied.contains("warnings"));
  EXPECT_NE(applied["warnings"][0].get<std::string>().find("it is down"), std::string::npos);
  EXPECT_EQ(started.result, "denied");
  EXPECT_NE(started.response["status"]["message"].get<std::string>().find("it is down"),
            std::string::npos);
}

TEST(ImageNeeded, IsThatOfAGatedContainerWithoutCommand) {
  Json one = cronjob();
  one["spec"]["jobTemplate"]["spec"]["template"]["spec"]["nodeSelector"] = {{"disk", "ssd"}};
  const auto needed = image_needed(one, platform());
  ASSERT_TRUE(needed.has_value());
  EXPECT_EQ(needed->image, "pg:16");
  EXPECT_EQ(needed->placement, Json({{"nodeSelector", {{"disk", "ssd"}}}}));

  EXPECT_FALSE(image_needed(cronjob("false"), platform()).has_value());
  one["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]["command"] = {"/k"};
  EXPECT_FALSE(image_needed(one, platform()).has_value());
  EXPECT_FALSE(image_needed(Json::object(), platform()).has_value());
}

}  // namespace
}  // namespace cronlatch::op
