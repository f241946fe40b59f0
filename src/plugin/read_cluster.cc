// SPDX-License-Identifier: Apache-2.0
// Round one reads the CronJobs; kubectl's standard error is the terminal's, for a login that
// prompts. Round two reads all other objects at the same time; a list that is refused there is
// omitted.
#include "plugin/read_cluster.h"

#include <utility>

#include "base/text.h"
#include "labels/names.h"
#include "plugin/kubectl_json.h"

namespace cronlatch::plugin {
namespace {

using kube::Json;
using Args = std::vector<std::string>;

constexpr std::string_view kDefaultPage = "cronlatch/cronlatch-metrics:8080";
// `plain`: of version 0.1.0.
constexpr std::string_view kPageServices =
    "app.kubernetes.io/part-of=cronlatch,cronlatch.dev/port in (http-metrics,plain)";

Args with(Args args, const Args& more) {
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

Result<Json> parsed(const KubectlResult& answer, const std::string& what) {
  if (!answer.ok())
    return Error{
        Code::unreachable,
        "kubectl could not get " + what + " (exit code " + std::to_string(answer.exit_code) + ")",
        "its error message is above"};
  return parse_list(answer, what);
}

template <class T>
void read_all(const KubectlResult& answer, const std::string& what, T (*read)(const Json&),
              std::vector<T>& out) {
  const Result<Json> list = parsed(answer, what);
  if (!list) return;
  for (const Json& item : items_of(*list)) out.push_back(read(item));
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

void set_status_page(const KubectlResult& answer, Cluster& cluster) {
  if (!answer.ok()) {
    cluster.page_error = error_line(answer);
    return;
  }
  Result<StatusPage> page = read_status_page(answer.out);
  if (page)
    cluster.status_page = std::move(page).value();
  else
    cluster.page_error = page.error().message;
}

// "namespace/service:port" of the first Service that the search by labels returned.
std::string place_of_service(const KubectlResult& answer) {
  if (!answer.ok()) return "";
  const auto list = parse_list(answer, "Services");
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

std::vector<KubectlCall> second_round(const Args& place, Scope scope) {
  const Args json = {"-o", "json"};
  if (scope == Scope::whole_namespace)
    return {captured(with(with({"get", "pods"}, place), json)),
            captured(with(with({"get", "events"}, place), json)),
            captured(with(with({"get", "jobs"}, place), json))};
  return {
      captured(with(with({"get", "pods", "-l", std::string(kGatedLabel) + "=true"}, place), json)),
      captured(with(
          with({"get", "events", "--field-selector", "reason=Skipped,involvedObject.kind=CronJob"},
               place),
          json))};
}

void report_refusals(const std::vector<KubectlResult>& answers, const Context& context,
                     std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (!answers[i].ok()) context.report_progress("omitted: " + error_line(answers[i]));
}

}  // namespace

Args namespace_flags(const Arguments& arguments) {
  if (arguments.all_namespaces) return {"-A"};
  if (arguments.namespace_name.empty()) return {};
  return {"-n", arguments.namespace_name};
}

Result<Cluster> read_cluster(const Arguments& arguments, const Context& context, Scope scope) {
  const Args place = namespace_flags(arguments);
  KubectlCall list{with({"get", "cronjobs", "-o", "json"}, place)};
  if (!arguments.selector.empty()) list.args = with(list.args, {"-l", arguments.selector});
  const auto first = context.kubectl.run({list});
  if (!first) return first.error();
  const Result<Json> cronjobs = parsed(first->front(), "CronJobs");
  if (!cronjobs) return cronjobs.error();
  Cluster cluster;
  cluster.now = context.clock.wall();
  cluster.zones = context.zones;
  for (const Json& item : items_of(*cronjobs)) cluster.cronjobs.push_back(read_cronjob(item));

  std::vector<KubectlCall> calls = second_round(place, scope);
  const std::size_t lists = calls.size();
  const bool search = arguments.status.empty();
  const bool read_page = arguments.status != "none";
  if (read_page) {
    const std::string path = proxy_path(search ? std::string(kDefaultPage) : arguments.status);
    if (path.empty())
      return Error{Code::usage,
                   "--status: " + cronlatch::quoted(arguments.status) + " is not a Service",
                   "use NAMESPACE/SERVICE:PORT, or none"};
    calls.push_back(captured({"get", "--raw", path}));
  }
  if (search)
    calls.push_back(
        captured({"get", "services", "-A", "-l", std::string(kPageServices), "-o", "json"}));
  const auto answers = context.kubectl.run(calls);
  if (!answers) return answers.error();
  report_refusals(*answers, context, lists);
  read_all((*answers)[0], "pods", read_pod, cluster.pods);
  read_all((*answers)[1], "Events", read_event, cluster.events);
  if (scope == Scope::whole_namespace) read_all((*answers)[2], "Jobs", read_job, cluster.jobs);
  if (!read_page) {
    cluster.page_error = "--status is none";
    return cluster;
  }
  set_status_page((*answers)[lists], cluster);
  const std::string elsewhere = search ? place_of_service((*answers)[lists + 1]) : "";
  if (!cluster.status_page && !elsewhere.empty() && elsewhere != kDefaultPage) {
    const auto again = context.kubectl.run({captured({"get", "--raw", proxy_path(elsewhere)})});
    if (!again) return again.error();
    set_status_page(again->front(), cluster);
  }
  return cluster;
}

}  // namespace cronlatch::plugin
