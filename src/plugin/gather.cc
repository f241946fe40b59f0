// SPDX-License-Identifier: Apache-2.0
// Round one: CronJobs, with kubectl's words on the terminal (a login may ask something). Round two:
// everything else at once; what is refused there is done without.
#include "plugin/gather.h"

#include <utility>

#include "base/text.h"
#include "labels/names.h"

namespace cronlatch::plugin {
namespace {

using kube::Json;
using Words = std::vector<std::string>;

constexpr std::size_t kLargest = 256U << 20;
constexpr std::string_view kDefaultPage = "cronlatch/cronlatch-metrics:8080";
constexpr std::string_view kPageServices =
    "app.kubernetes.io/part-of=cronlatch,cronlatch.dev/port=plain";

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Result<Json> parsed(const KubectlAnswer& answer, const std::string& what) {
  if (!answer.ok())
    return Error{
        Code::unreachable,
        "kubectl could not get " + what + " (exit code " + std::to_string(answer.exit_code) + ")",
        "what it said stands above"};
  auto json = kube::parse_json(answer.out, {.bytes = kLargest});
  if (!json)
    return Error{Code::config,
                 "kubectl's list of " + what + " cannot be read: " + json.error().message};
  return json;
}

template <class T>
void read_all(const KubectlAnswer& answer, const std::string& what, T (*read)(const Json&),
              std::vector<T>& out) {
  const Result<Json> list = parsed(answer, what);
  if (!list) return;
  for (const Json& item : items_of(*list)) out.push_back(read(item));
}

std::string first_line(const std::string& text) {
  return printable(text.substr(0, text.find('\n')), 200);
}

// "ns/service:8080" -> the path of its status page behind the API server's proxy.
std::string proxy_path(const std::string& place) {
  const std::size_t slash = place.find('/');
  if (slash == std::string::npos) return "";
  std::string service = place.substr(slash + 1);
  if (service.find(':') == std::string::npos) service += ":8080";
  return "/api/v1/namespaces/" + place.substr(0, slash) + "/services/http:" + service +
         "/proxy/status";
}

void take_page(const KubectlAnswer& answer, Cluster& cluster) {
  if (!answer.ok()) {
    cluster.no_page = first_line(answer.complaints);
    return;
  }
  Result<StatusPage> page = read_status_page(answer.out);
  if (page)
    cluster.page = std::move(page).value();
  else
    cluster.no_page = page.error().message;
}

// The Service that a search by label has found, where it is not the one that was tried.
std::string found_place(const KubectlAnswer& answer) {
  if (!answer.ok()) return "";
  const auto list = kube::parse_json(answer.out, {.bytes = kLargest});
  if (!list || items_of(*list).empty()) return "";
  const Json& service = items_of(*list).front();
  std::string port = "8080";
  if (const Json* const ports = kube::find(service, {"spec", "ports"});
      ports != nullptr && ports->is_array() && !ports->empty())
    if (const Json* const number = kube::find((*ports)[0], {"port"});
        number != nullptr && number->is_number_integer())
      port = std::to_string(number->get<std::int64_t>());
  return kube::string_at(service, {"metadata", "namespace"}) + '/' +
         kube::string_at(service, {"metadata", "name"}) + ':' + port;
}

std::vector<KubectlCall> second_round(const Words& place, Scope scope) {
  const Words json = {"-o", "json"};
  if (scope == Scope::all_of_it)
    return {quietly(with(with({"get", "pods"}, place), json)),
            quietly(with(with({"get", "events"}, place), json)),
            quietly(with(with({"get", "jobs"}, place), json))};
  return {
      quietly(with(with({"get", "pods", "-l", std::string(kGatedLabel) + "=true"}, place), json)),
      quietly(with(
          with({"get", "events", "--field-selector", "reason=Skipped,involvedObject.kind=CronJob"},
               place),
          json))};
}

void note_refusals(const std::vector<KubectlAnswer>& answers, const Surroundings& around,
                   std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (!answers[i].ok()) around.say("going on without: " + first_line(answers[i].complaints));
}

}  // namespace

Words namespace_flags(const Arguments& arguments) {
  if (arguments.all_namespaces) return {"-A"};
  if (arguments.namespace_name.empty()) return {};
  return {"-n", arguments.namespace_name};
}

Result<Cluster> gather(const Arguments& arguments, const Surroundings& around, Scope scope) {
  const Words place = namespace_flags(arguments);
  const auto first = around.kubectl.ask({{with({"get", "cronjobs", "-o", "json"}, place)}});
  if (!first) return first.error();
  const Result<Json> cronjobs = parsed(first->front(), "CronJobs");
  if (!cronjobs) return cronjobs.error();
  Cluster cluster;
  cluster.now = around.clock.wall();
  cluster.zones = around.zones;
  for (const Json& item : items_of(*cronjobs)) cluster.cronjobs.push_back(read_cronjob(item));

  std::vector<KubectlCall> calls = second_round(place, scope);
  const std::size_t lists = calls.size();
  const bool search = arguments.status.empty();
  const bool wanted = arguments.status != "none";
  if (wanted) {
    const std::string path = proxy_path(search ? std::string(kDefaultPage) : arguments.status);
    if (path.empty())
      return Error{Code::usage,
                   "the status page cannot be at " + cronlatch::quoted(arguments.status),
                   "write NAMESPACE/SERVICE:PORT, or none"};
    calls.push_back(quietly({"get", "--raw", path}));
  }
  if (search)
    calls.push_back(
        quietly({"get", "services", "-A", "-l", std::string(kPageServices), "-o", "json"}));
  const auto answers = around.kubectl.ask(calls);
  if (!answers) return answers.error();
  note_refusals(*answers, around, lists);
  read_all((*answers)[0], "pods", read_pod, cluster.pods);
  read_all((*answers)[1], "Events", read_event, cluster.events);
  if (scope == Scope::all_of_it) read_all((*answers)[2], "Jobs", read_job, cluster.jobs);
  if (!wanted) {
    cluster.no_page = "it was not asked for";
    return cluster;
  }
  take_page((*answers)[lists], cluster);
  const std::string elsewhere = search ? found_place((*answers)[lists + 1]) : "";
  if (!cluster.page && !elsewhere.empty() && elsewhere != kDefaultPage) {
    const auto again = around.kubectl.ask({quietly({"get", "--raw", proxy_path(elsewhere)})});
    if (!again) return again.error();
    take_page(again->front(), cluster);
  }
  return cluster;
}

}  // namespace cronlatch::plugin
