// SPDX-License-Identifier: Apache-2.0
// admit_jobs SETTINGS.yaml: reads a JSON array of Jobs, and writes what the operator makes of each:
// {"name": ..., "result": "gated" | "unchanged" | "denied", "message": ..., "object": ...}, as a
// JSON array. For comparisons with the rewrite of the chart's policy.
#include <fstream>
#include <iostream>
#include <iterator>

#include "admission/admission_result.h"

namespace cronlatch::op {
namespace {

using kube::Json;

std::string text_of(std::istream& in) {
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

Json admitted(const Json& job, const Settings& settings) {
  AdmissionRequest request;
  request.object = job;
  request.operation = "CREATE";
  request.namespace_name = kube::string_at(job, {"metadata", "namespace"});
  const AdmissionResult result = admit_job(request, settings, ImageIndex(settings));
  Json out = {{"name", kube::string_at(job, {"metadata", "name"})}};
  if (result.kind != AdmissionResult::Kind::allowed) {
    out["result"] = "denied";
    out["message"] = result.message;
    return out;
  }
  out["result"] = result.patch.empty() ? "unchanged" : "gated";
  out["object"] = job.patch(result.patch);
  return out;
}

int run(const char* path) {
  std::ifstream file(path);
  const Result<Settings> settings = parse_settings(text_of(file));
  if (!settings.ok()) {
    std::cerr << path << ": " << settings.error().message << "\n";
    return 1;
  }
  const Result<Json> jobs = kube::parse_json(text_of(std::cin));
  if (!jobs.ok()) {
    std::cerr << jobs.error().message << "\n";
    return 1;
  }
  Json all = Json::array();
  for (const Json& job : *jobs) all.push_back(admitted(job, *settings));
  std::cout << kube::to_text(all) << "\n";
  return 0;
}

}  // namespace
}  // namespace cronlatch::op

int main(int argc, char** argv) {
  if (argc == 2) return cronlatch::op::run(argv[1]);
  std::cerr << "usage: admit_jobs SETTINGS.yaml < JOBS.json\n";
  return 64;
}
