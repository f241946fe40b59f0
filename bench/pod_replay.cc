// SPDX-License-Identifier: Apache-2.0
// An API server that replays finished pods to the operator: lists and watches of CronJobs, Jobs and
// pods, one Lease, and Events. Each new pod finishes, loses its finalizer a second later, and
// replaces the oldest one. GET /stats returns what was recorded.
//
// pod_replay cert=FILE key=FILE cronjobs=N jobs=N rate=PODS_PER_SECOND seconds=N
// prints its port; ends with its standard input.
#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/https_server.h"

namespace {

using cronlatch::testing::HttpsServer;
using Steady = std::chrono::steady_clock;

constexpr std::size_t kFirstVersion = 1'000'000;
constexpr std::size_t kErrorEvery = 10;  // one in ten pods has an outcome that the leader counts

std::map<std::string, std::string> words;
std::size_t number(const char* name) { return std::strtoul(words[name].c_str(), nullptr, 10); }

std::string padded(std::size_t i) {
  char text[24];
  std::snprintf(text, sizeof text, "%07zu", i);
  return text;
}
std::string uid(char kind, std::size_t i) {
  return std::string("0000000") + kind + "-0000-4000-8000-00000" + padded(i);
}
std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}
std::string owner(const char* kind, const std::string& name, const std::string& owner_uid) {
  return R"("ownerReferences":[{"apiVersion":"batch/v1","kind":")" + std::string(kind) +
         R"(","name":")" + name + R"(","uid":")" + owner_uid +
         R"(","controller":true,"blockOwnerDeletion":true}])";
}
// As long as those of a real object.
std::string managed(const std::string& written) {
  return R"("managedFields":[{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","time":"2026-11-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{},"f:labels":{".":{},"f:batch.kubernetes.io/controller-uid":{},"f:batch.kubernetes.io/job-name":{},"f:cronlatch.dev/gated":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"main\"}":{".":{},"f:args":{},"f:command":{},"f:env":{},"f:image":{},"f:resources":{},"f:volumeMounts":{}}},"f:restartPolicy":{},"f:volumes":{}}}},{"manager":"kubelet","operation":"Update","apiVersion":"v1","subresource":"status","time":")" +
         written +
         R"(","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":{".":{},"f:lastTransitionTime":{},"f:reason":{},"f:status":{},"f:type":{}}},"f:containerStatuses":{},"f:phase":{},"f:podIP":{},"f:startTime":{}}}}])";
}

struct State {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t version = kFirstVersion;

  struct Change {
    std::size_t version;
    const char* type;
    std::size_t index;
    bool has_finalizer;
  };
  std::vector<Change> pods, jobs;  // of the watches
  struct Pod {
    std::size_t version = 0;
    bool has_finalizer = false;
    std::string written;
    Steady::time_point finished{};
    int events = 0;
  };
  std::vector<Pod> replayed;
  std::vector<long> lags_ms;
  std::size_t oldest = 0;  // index of the oldest pod that exists
  std::set<std::string> events;
  std::size_t repeated = 0;
  bool started = false;
  std::string lease;
  std::size_t lease_version = 1;
} state;

std::size_t cronjob_of(std::size_t i) { return i % number("cronjobs"); }

std::string cronjob_json(std::size_t i) {
  const std::string spec =
      R"({"restartPolicy":"Never","containers":[{"name":"main","image":"registry.example/billing/report:1.14.2","command":["/app/report"],"args":["--since","yesterday"],"resources":{"requests":{"cpu":"100m","memory":"256Mi"}}}]})";
  return R"({"metadata":{"name":"report-)" + padded(i) + R"(","namespace":"bench","uid":")" +
         uid('c', i) +
         R"(","resourceVersion":"7","creationTimestamp":"2026-11-01T00:00:00Z","annotations":{"cronlatch.dev/lock":"true"},)" +
         managed("2026-11-01T00:00:00Z") +
         R"(},"spec":{"schedule":"0 2 * * *","jobTemplate":{"metadata":{"annotations":{"cronlatch.dev/lock":"true","cronlatch.dev/mirrored":"lock"}},"spec":{"template":{"spec":)" +
         spec + "}}}}}";
}

constexpr char kContainer[] =
    R"({"name":"main","image":"registry.example/billing/report:1.14.2","command":["/cronlatch-bin/cronlatch","run","--isolated","--lock=bench/report","--store=rediss://redis.example:6379","--"],"args":["/app/report","--since","yesterday"],"env":[{"name":"POD_NAME","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}},{"name":"REGION","value":"eu-central-1"}],"resources":{"requests":{"cpu":"100m","memory":"256Mi"}},"volumeMounts":[{"name":"cronlatch-bin","mountPath":"/cronlatch-bin","readOnly":true}],"terminationMessagePath":"/dev/termination-log"})";

std::string job_json(std::size_t i, std::size_t version) {
  const std::size_t c = cronjob_of(i);
  return R"({"metadata":{"name":"report-job-)" + padded(i) + R"(","namespace":"bench","uid":")" +
         uid('j', i) + R"(","resourceVersion":")" + std::to_string(version) +
         R"(","creationTimestamp":"2026-11-01T00:00:00Z","annotations":{"cronlatch.dev/lock":"true"},)" +
         owner("CronJob", "report-" + padded(c), uid('c', c)) + "," +
         managed("2026-11-01T00:00:00Z") +
         R"(},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[)" + kContainer +
         R"(]}}},"status":{"succeeded":1,"conditions":[{"type":"Complete","status":"True"}]}})";
}

std::string pod_json(std::size_t i, std::size_t version, bool has_finalizer,
                     const std::string& written) {
  const char* const outcome = i % kErrorEvery == 0
                                  ? R"(\"outcome\":\"store_down\",\"reason\":\"unreachable\")"
                                  : R"(\"outcome\":\"ran\",\"reason\":\"none\")";
  return R"({"metadata":{"name":"report-pod-)" + padded(i) + R"(","namespace":"bench","uid":")" +
         uid('p', i) + R"(","resourceVersion":")" + std::to_string(version) +
         R"(","labels":{"cronlatch.dev/gated":"true"},)" +
         (has_finalizer ? R"("finalizers":["batch.kubernetes.io/job-tracking"],)" : "") +
         owner("Job", "report-job-" + padded(i), uid('j', i)) + "," + managed(written) +
         R"(},"spec":{"restartPolicy":"Never","containers":[)" + kContainer +
         R"(]},"status":{"phase":"Succeeded","containerStatuses":[{"name":"main","state":{"terminated":{"exitCode":0,"reason":"Completed","finishedAt":")" +
         written + R"(","message":"{\"v\":1,)" + outcome +
         R"(,\"lock\":\"bench/report\",\"fence\":\"7\",\"holder\":\"bench/report-pod\",\"held_ms\":1200}"}}}]}})";
}

std::string pod_now(std::size_t i) {
  if (i < number("jobs")) return pod_json(i, 100 + i, false, "2026-11-01T00:00:00Z");
  std::unique_lock lock(state.mutex);
  const State::Pod pod = state.replayed[i - number("jobs")];
  lock.unlock();
  return pod_json(i, pod.version, pod.has_finalizer, pod.written);
}

std::string parameter(const std::string& target, const std::string& name) {
  const auto at = target.find(name + "=");
  if (at == std::string::npos) return "";
  const auto begin = at + name.size() + 1;
  return target.substr(begin, target.find('&', begin) - begin);
}

// A page of the objects from `begin` to `end`. The continue token contains the index and the
// version of the first page. The mutex is not locked: rendering a page would delay the other
// requests.
template <class Render>
void list(HttpsServer::Peer& peer, const std::string& target, std::size_t begin, std::size_t end,
          std::size_t version, const Render& render) {
  const std::string token = parameter(target, "continue");
  std::size_t at = begin;
  if (!token.empty()) {
    at = std::max(begin, std::strtoul(token.c_str(), nullptr, 10));
    version = std::strtoul(token.substr(token.find('-') + 1).c_str(), nullptr, 10);
  }
  const std::size_t last = std::min(end, at + 500);
  std::string items;
  for (std::size_t i = at; i < last; ++i) items += (i == at ? "" : ",") + render(i);
  const std::string more = last < end ? std::to_string(last) + "-" + std::to_string(version) : "";
  peer.answer(200, R"({"metadata":{"resourceVersion":")" + std::to_string(version) +
                       R"(","continue":")" + more + R"("},"items":[)" + items + "]}");
}

void watch(HttpsServer::Peer& peer, const std::string& target, bool pods) {
  const std::size_t from = std::strtoul(parameter(target, "resourceVersion").c_str(), nullptr, 10);
  peer.begin_stream();
  std::size_t next = 0;
  const std::vector<State::Change>& changes = pods ? state.pods : state.jobs;
  while (peer.pause(std::chrono::milliseconds(10))) {
    std::string lines;
    {
      const std::lock_guard lock(state.mutex);
      for (; next < changes.size() && lines.size() < 1'000'000; ++next) {
        const State::Change& change = changes[next];
        if (change.version <= from) continue;
        const std::size_t i = change.index;
        const std::string written = i < number("jobs") ? "2026-11-01T00:00:00Z"
                                                       : state.replayed[i - number("jobs")].written;
        lines += R"({"type":")" + std::string(change.type) + R"(","object":)" +
                 (pods ? pod_json(i, change.version, change.has_finalizer, written)
                       : job_json(i, change.version)) +
                 "}\n";
      }
    }
    if (!lines.empty()) peer.chunk(lines);
  }
}

void replay() {
  const std::size_t total = number("rate") * number("seconds");
  const auto begin = Steady::now();
  for (std::size_t done = 0, settled = 0; settled < total;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const auto passed = std::chrono::duration<double>(Steady::now() - begin).count();
    const auto due =
        std::min(total, static_cast<std::size_t>(passed * static_cast<double>(number("rate"))));
    const auto due_settled = std::min(
        total,
        static_cast<std::size_t>(std::max(0.0, passed - 1) * static_cast<double>(number("rate"))));
    const std::lock_guard lock(state.mutex);
    for (; done < due; ++done) {
      const std::size_t i = number("jobs") + done;
      state.jobs.push_back({++state.version, "ADDED", i, false});
      state.replayed.push_back({++state.version, true, utc_now(), Steady::now()});
      state.pods.push_back({state.version, "MODIFIED", i, true});
    }
    for (; settled < due_settled; ++settled) {
      State::Pod& pod = state.replayed[settled];
      pod.has_finalizer = false;
      pod.version = ++state.version;
      state.pods.push_back({pod.version, "MODIFIED", number("jobs") + settled, false});
      state.pods.push_back({++state.version, "DELETED", state.oldest, false});
      state.jobs.push_back({++state.version, "DELETED", state.oldest, false});
      ++state.oldest;
    }
  }
}

std::string text_at(const std::string& body, const std::string& key, std::size_t from = 0) {
  const std::string pattern = "\"" + key + "\":\"";
  const auto at = body.find(pattern, from);
  if (at == std::string::npos) return "";
  return body.substr(at + pattern.size(),
                     body.find('"', at + pattern.size()) - at - pattern.size());
}

void recorded(const std::string& pod) {  // the mutex is locked
  const std::size_t i = pod.empty() ? 0 : std::strtoul(pod.c_str() + pod.size() - 7, nullptr, 10);
  if (i < number("jobs") || i - number("jobs") >= state.replayed.size()) return;
  State::Pod& replayed = state.replayed[i - number("jobs")];
  if (++replayed.events == 2)
    state.lags_ms.push_back(
        std::chrono::duration_cast<std::chrono::milliseconds>(Steady::now() - replayed.finished)
            .count());
}

void record(HttpsServer::Peer& peer, const std::string& body) {
  const std::string pod = text_at(body, "uid", body.find("\"related\""));
  const std::string name = text_at(body, "name", body.find("\"metadata\""));
  {
    const std::lock_guard lock(state.mutex);
    if (!state.events.insert(name).second) {
      ++state.repeated;
      return peer.answer(409, R"({"reason":"AlreadyExists","message":"it exists"})");
    }
    recorded(pod);
  }
  peer.answer(201, "{}");
}

// Raises the count of an Event, for the pod that it names.
void repeat(HttpsServer::Peer& peer, const std::string& target, const std::string& body) {
  {
    const std::lock_guard lock(state.mutex);
    if (!state.events.contains(target.substr(target.rfind('/') + 1)))
      return peer.answer(404, R"({"reason":"NotFound","message":"no such Event"})");
    recorded(text_at(body, "uid", body.find("\"related\"")));
  }
  peer.answer(200, "{}");
}

void lease(HttpsServer::Peer& peer, const HttpsServer::Request& request) {
  const std::lock_guard lock(state.mutex);
  if (request.method == "GET") return peer.answer(200, state.lease);
  const std::string before = std::to_string(state.lease_version);
  if (text_at(request.body, "resourceVersion") != before)
    return peer.answer(409, R"({"reason":"Conflict","message":"the Lease has changed"})");
  state.lease = request.body;
  const std::string field = R"("resourceVersion":")";
  state.lease.replace(state.lease.find(field), field.size() + before.size(),
                      field + std::to_string(++state.lease_version));
  peer.answer(200, state.lease);
}

void stats(HttpsServer::Peer& peer) {
  const std::lock_guard lock(state.mutex);
  std::vector<long> lags = state.lags_ms;
  std::sort(lags.begin(), lags.end());
  const auto lag = [&](double part) {
    return lags.empty()
               ? 0
               : lags[static_cast<std::size_t>(static_cast<double>(lags.size() - 1) * part)];
  };
  const std::size_t errors = (state.replayed.size() + kErrorEvery - 1) / kErrorEvery;
  peer.answer(200, "finished " + std::to_string(state.replayed.size()) + "\nreported " +
                       std::to_string(lags.size()) + "\nlag_median_ms " + std::to_string(lag(0.5)) +
                       "\nlag_max_ms " + std::to_string(lag(1)) + "\nrepeated " +
                       std::to_string(state.repeated) + "\nerrors " + std::to_string(errors) +
                       "\n");
}

void handle(const HttpsServer::Request& request, HttpsServer::Peer& peer) {
  const std::string& target = request.target;
  const bool watches = target.find("watch=1") != std::string::npos;
  if (target == "/stats") return stats(peer);
  if (target.starts_with("/apis/events.k8s.io/")) return record(peer, request.body);
  if (target.starts_with("/api/v1/namespaces/bench/events/"))
    return repeat(peer, target, request.body);
  if (target.starts_with("/apis/coordination.k8s.io/")) return lease(peer, request);
  if (target.starts_with("/apis/batch/v1/cronjobs")) {
    if (!watches) return list(peer, target, 0, number("cronjobs"), kFirstVersion, cronjob_json);
    peer.begin_stream();
    while (peer.pause(std::chrono::milliseconds(100))) {
    }
    return;
  }
  // The watch of the Jobs has not delivered it yet.
  const std::string job = "/apis/batch/v1/namespaces/bench/jobs/report-job-";
  if (target.starts_with(job))
    return peer.answer(200, job_json(std::strtoul(target.c_str() + job.size(), nullptr, 10), 50));
  const bool pods = target.starts_with("/api/v1/pods");
  if (!pods && !target.starts_with("/apis/batch/v1/jobs"))
    return peer.answer(404, R"({"reason":"NotFound","message":"not replayed"})");
  if (watches) return watch(peer, target, pods);
  std::unique_lock lock(state.mutex);
  const std::size_t begin = state.oldest, end = number("jobs") + state.replayed.size();
  const std::size_t version = state.version;
  lock.unlock();
  if (pods) return list(peer, target, begin, end, version, pod_now);
  list(peer, target, begin, end, version, [](std::size_t i) { return job_json(i, 50); });
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    words[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  }
  // The pods that exist at the start are reported.
  state.lease =
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"cronlatch-operator","namespace":"cronlatch","resourceVersion":"1","annotations":{"cronlatch.dev/counted-pods":"{\"at\":{\"\":[\")" +
      std::to_string(kFirstVersion) + R"(\",1]}}"}},"spec":{"holderIdentity":""}})";
  const HttpsServer server({words["cert"], words["key"]}, handle);
  std::cout << server.port() << std::endl;
  // "start" begins the replay.
  std::jthread replayed;
  for (std::string line; std::getline(std::cin, line);)
    if (line == "start" && !replayed.joinable()) replayed = std::jthread(replay);
}
