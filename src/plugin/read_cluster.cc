// SPDX-License-Identifier: Apache-2.0
// Round one reads the CronJobs; kubectl's standard error is the terminal's, for a login that
// prompts. Round two reads all other objects at the same time; a list that is refused there is
// omitted.
#include "plugin/read_cluster.h"

#include <utility>

#include "base/text.h"
#include "labels/names.h"
#include "plugin/kubectl_json.h"
#include "plugin/read_page.h"

namespace cronlatch::plugin {
namespace {

using kube::Json;
using Args = std::vector<std::string>;

constexpr char kDefaultPage[] = "cronlatch/cronlatch-metrics:8080";
// `plain`: of version 0.1.0.
constexpr char kPageServices[] =
    "app.kubernetes.io/part-of=cronlatch,cronlatch.dev/port in (http-metrics,https-metrics,plain)";

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
              std::vector<T>& out, Cluster& cluster) {
  const Result<Json> list = parsed(answer, what);
  if (!list) {
    cluster.unreadable.push_back(what);
    return;
  }
  for (const Json& item : items_of(*list)) out.push_back(read(item));
}

Args get_service(const PageService& page) {
  return {"get", "service", page.name, "-n", page.namespace_name, "-o", "json"};
}

std::vector<KubectlCall> second_round(const Args& place, ReadScope scope) {
  const Args json = {"-o", "json"};
  if (scope == ReadScope::whole_namespace)
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

struct PageAnswers {
  const KubectlResult& page;
  const KubectlResult& services;
};

// Each operator has a page of its own, and perhaps a store of its own: their locks are missing.
std::string note_on_others(const PageService& used, const std::vector<PageService>& services) {
  std::string others;
  for (const PageService& one : services)
    if (one.namespace_name != used.namespace_name || one.name != used.name)
      others += (others.empty() ? "" : ", ") + one.namespace_name + '/' + one.name;
  if (others.empty()) return "";
  return "the state is that of the operator " + used.namespace_name + '/' + used.name +
         "; for another, use --status: " + others;
}

// Where the page was expected; otherwise from the first Service that kubectl found.
Status read_page(const PageService& expected, bool search, const PageAnswers& answers,
                 const Context& context, Cluster& cluster) {
  std::vector<PageService> services = services_of(answers.services);
  set_status_page(answers.page, cluster);
  if (search) cluster.page_note = note_on_others(expected, services);
  if (cluster.status_page) return Done{};
  if (services.empty() && !answers.services.ok() && search) {
    // Without the right to list the Services of all namespaces.
    const auto named = run_one(context.kubectl, captured(get_service(expected)));
    if (!named) return named.error();
    services = services_of(*named);
  }
  if (services.empty()) return Done{};
  PageService& service = services.front();
  if (search) cluster.page_note = note_on_others(service, services);
  if (!search) service.port = expected.port;
  if (!service.requires_token() && service.place() == expected.place()) return Done{};
  return read_page_of(service, context, cluster);
}

}  // namespace

Args namespace_flags(const Arguments& arguments) {
  if (arguments.all_namespaces) return {"-A"};
  if (arguments.namespace_name.empty()) return {};
  return {"-n", arguments.namespace_name};
}

Result<Cluster> read_cluster(const Arguments& arguments, const Context& context, ReadScope scope) {
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
  const bool reads_page = arguments.status != "none";
  const auto page = parse_place(search ? kDefaultPage : arguments.status);
  if (reads_page && !page)
    return Error{Code::usage,
                 "--status: " + cronlatch::quoted(arguments.status) + " is not a Service",
                 "use NAMESPACE/SERVICE:PORT, or none"};
  if (reads_page) {
    calls.push_back(captured({"get", "--raw", page->proxy_path()}));
    calls.push_back(captured(search
                                 ? Args{"get", "services", "-A", "-l", kPageServices, "-o", "json"}
                                 : get_service(*page)));
  }
  const auto answers = context.kubectl.run(calls);
  if (!answers) return answers.error();
  report_refusals(*answers, context, lists);
  read_all((*answers)[0], "pods", read_pod, cluster.pods, cluster);
  read_all((*answers)[1], "Events", read_event, cluster.events, cluster);
  if (scope == ReadScope::whole_namespace)
    read_all((*answers)[2], "Jobs", read_job, cluster.jobs, cluster);
  if (!reads_page) {
    cluster.page_error = "--status is none";
    return cluster;
  }
  if (Status read =
          read_page(*page, search, {(*answers)[lists], (*answers)[lists + 1]}, context, cluster);
      !read)
    return read.error();
  return cluster;
}

}  // namespace cronlatch::plugin
