// SPDX-License-Identifier: Apache-2.0
#include "plugin/release_wait.h"

#include "base/text.h"
#include "plugin/json_fields.h"

namespace cronlatch::plugin {
namespace {

using kube::Json;
using kube::string_at;
using Words = std::vector<std::string>;

constexpr Millis kLookEvery{1'000};
constexpr Millis kForThePod{120'000};      // until it runs: image, scheduling
constexpr Millis kForTheLease{3'900'000};  // the longest lease, and that

enum class Ended { no, well, badly };

Ended state_of(const Json& job) {
  for (const Json& condition : kube::items_at(job, {"status", "conditions"})) {
    if (string_at(condition, {"status"}) != "True") continue;
    if (string_at(condition, {"type"}) == "Complete") return Ended::well;
    if (string_at(condition, {"type"}) == "Failed") return Ended::badly;
  }
  return Ended::no;
}

// A Job whose pod can never run would be waited for in vain.
std::string stuck(const Surroundings& around, const Words& place, const std::string& name) {
  const auto answer =
      ask_one(around.kubectl, quietly({"get", "pods", place[0], place[1], "-l",
                                       "batch.kubernetes.io/job-name=" + name, "-o", "json"}));
  if (!answer || !answer->ok()) return "";
  const auto list = kube::parse_json(answer->out);
  if (!list) return "";
  if (items_of(*list).empty()) return "no pod was made for it (Pod Security, a quota?)";
  const Json& object = items_of(*list).front();
  const Pod pod = read_pod(object);
  if (pod.phase != "Pending") return "";
  if (!pod.unscheduled.empty()) return "no node takes its pod: " + pod.unscheduled;
  const Json* const statuses = kube::find(object, {"status", "containerStatuses"});
  if (statuses == nullptr || !statuses->is_array() || statuses->empty())
    return "its pod is pending";
  return "its container is not started: " +
         printable(string_at((*statuses)[0], {"state", "waiting", "reason"}) + ' ' +
                       string_at((*statuses)[0], {"state", "waiting", "message"}),
                   300);
}

}  // namespace

Result<Page> wait_and_tell(const Surroundings& around, const ReleaseTarget& target,
                           const std::string& job) {
  const Words place = {"-n", target.namespace_name};
  const std::string name = job.substr(job.rfind('/') + 1);
  const TimePoint began = around.clock.now();
  Ended ended = Ended::no;
  std::string trouble;
  while (ended == Ended::no && trouble.empty()) {
    around.sleep(kLookEvery);
    const auto answer =
        ask_one(around.kubectl, quietly({"get", "job", name, place[0], place[1], "-o", "json"}));
    if (answer && answer->ok())
      if (const auto object = kube::parse_json(answer->out)) ended = state_of(*object);
    const Micros passed = around.clock.now() - began;
    if (ended == Ended::no && passed > kForThePod) trouble = stuck(around, place, name);
    if (passed > kForTheLease) trouble = "it has not ended in time";
  }
  const auto said = ask_one(around.kubectl, quietly({"logs", "job/" + name, place[0], place[1]}));
  std::string text = said && said->ok() ? said->out : std::string();
  while (text.ends_with('\n')) text.pop_back();
  if (ended == Ended::no)
    return Error{
        Code::unreachable, "Job " + target.namespace_name + '/' + name + ": " + trouble,
        "it stays for a look: kubectl -n " + target.namespace_name + " describe job " + name};
  // Its own ttl removes it as well; an error here is none.
  (void)ask_one(around.kubectl,
                quietly({"delete", "job", name, place[0], place[1], "--wait=false"}));
  Page page;
  page.blocks.push_back({.lines = {text.empty() ? "Job " + name + " has ended" : text}});
  page.json = {{"lock", target.lock}, {"released", ended == Ended::well}, {"said", text}};
  page.exit_code = ended == Ended::well ? 0 : 1;
  return page;
}

}  // namespace cronlatch::plugin
