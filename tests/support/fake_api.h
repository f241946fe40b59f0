// SPDX-License-Identifier: Apache-2.0
// FakeApi: an API server in memory, with the functions that the tests need: objects by path with
// resourceVersions, 404, 409, merge and apply patches, lists in one page, and watches that send
// the events of the test. It records every request.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/api.h"

namespace cronlatch::testing {

class FakeApi final : public kube::Api {
 public:
  using Json = kube::Json;
  using Answer = Result<kube::Response>;
  using Play = std::function<Answer(const kube::Request&,
                                    const std::function<void(const kube::WatchEvent&)>&,
                                    const std::stop_token&)>;

  static Error unreachable() { return {Code::unreachable, "the fake API server is unreachable"}; }

  // Its result, if any, replaces the answer.
  std::function<std::optional<Answer>(const kube::Request&)> intercept;
  bool metadata_last = false;  // of a list: its items are read before them
  std::deque<Play> watches;    // one per watch; when it is empty, a watch waits until it is stopped

  void put(const std::string& path, Json object) {
    const std::lock_guard lock(mutex_);
    keep(path, std::move(object));
  }
  void erase(const std::string& path) {
    const std::lock_guard lock(mutex_);
    objects_.erase(path);
  }
  std::optional<Json> at(const std::string& path) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(path);
    if (found == objects_.end()) return std::nullopt;
    return found->second;
  }
  // Objects one level below a collection.
  std::vector<Json> below(const std::string& collection) const {
    const std::lock_guard lock(mutex_);
    return children(collection);
  }
  std::vector<kube::Request> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  std::vector<kube::Request> writes() const {
    std::vector<kube::Request> out;
    for (const kube::Request& request : requests())
      if (request.method != kube::Method::get) out.push_back(request);
    return out;
  }
  void forget_requests() {
    const std::lock_guard lock(mutex_);
    requests_.clear();
  }

  Answer call(const kube::Request& request) override {
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    Answer answer = answer_to(request);
    if (request.on_item && answer && answer->ok()) pass_items(request, *answer);
    return answer;
  }

  Answer watch(const kube::Request& request,
               const std::function<void(const kube::WatchEvent&)>& on_event,
               std::stop_token stop) override {
    Play play;
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
      if (!watches.empty()) {
        play = std::move(watches.front());
        watches.pop_front();
      }
    }
    if (play) return play(request, on_event, stop);
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait(lock, stop, [] { return false; });
    return unreachable();
  }

 private:
  Answer answer_to(const kube::Request& request) {
    if (intercept)
      if (auto answer = intercept(request)) return std::move(*answer);
    const std::lock_guard lock(mutex_);
    return serve(as_stored(request));
  }
  void pass_items(const kube::Request& request, kube::Response& response) const {
    Json* const items = kube::find(response.body, {"items"});
    if (items == nullptr) return;
    const Json passed = std::exchange(*items, Json::array());
    for (const Json& item : passed)
      request.on_item(metadata_last ? Json::object() : response.body, item);
  }
  static kube::Response status(int code, const std::string& reason) {
    return {code,
            Json{{"kind", "Status"}, {"code", code}, {"reason", reason}, {"message", reason}}};
  }
  Json& keep(const std::string& path, Json object) {
    object["metadata"]["resourceVersion"] = std::to_string(++version_);
    return objects_[path] = std::move(object);
  }
  std::vector<Json> children(const std::string& collection) const {
    std::vector<Json> out;
    for (const auto& [path, object] : objects_)
      if (path.starts_with(collection + "/") &&
          path.find('/', collection.size() + 1) == std::string::npos)
        out.push_back(object);
    return out;
  }
  static bool stale(const Json& body, const Json& there) {
    const std::string version = kube::string_at(body, {"metadata", "resourceVersion"});
    return !version.empty() && version != kube::string_at(there, {"metadata", "resourceVersion"});
  }
  Answer serve(const kube::Request& request) {
    const auto found = objects_.find(request.path);
    const bool there = found != objects_.end();
    switch (request.method) {
      case kube::Method::get: {
        if (there) return kube::Response{200, found->second};
        if (lists_.contains(request.path) || !children(request.path).empty())
          return kube::Response{200,
                                Json{{"metadata", {{"resourceVersion", std::to_string(version_)}}},
                                     {"items", children(request.path)}}};
        return status(404, "NotFound");
      }
      case kube::Method::create: {
        const std::string path =
            request.path + "/" + kube::string_at(request.body, {"metadata", "name"});
        if (objects_.contains(path)) return status(409, "AlreadyExists");
        return kube::Response{201, keep(path, request.body)};
      }
      case kube::Method::replace:
        if (!there) return status(404, "NotFound");
        if (stale(request.body, found->second)) return status(409, "Conflict");
        return kube::Response{200, keep(request.path, request.body)};
      case kube::Method::patch:
        return patch(request, there ? found->second : Json());
      case kube::Method::remove:
        if (!there) return status(404, "NotFound");
        objects_.erase(found);
        return kube::Response{200, Json::object()};
    }
    return status(500, "Bug");
  }
  // The core API has the same Events as events.k8s.io, with another name of the note.
  static kube::Request as_stored(kube::Request request) {
    const std::string core = "/api/v1/namespaces/";
    const std::size_t at = request.path.find("/events/");
    if (!request.path.starts_with(core) || at == std::string::npos) return request;
    request.path.replace(0, core.size(), "/apis/events.k8s.io/v1/namespaces/");
    if (const auto note = request.body.find("message"); note != request.body.end()) {
      request.body["note"] = *note;
      request.body.erase("message");
    }
    return request;
  }
  Answer patch(const kube::Request& request, Json object) {
    if (object.is_null() && request.patch_type != kube::PatchType::apply)
      return status(404, "NotFound");
    if (stale(request.body, object)) return status(409, "Conflict");
    if (request.patch_type == kube::PatchType::json) {
      try {
        object = object.patch(request.body);
      } catch (const Json::exception& e) {
        return status(422, e.what());
      }
    } else {
      Json body = request.body;
      if (body.contains("metadata")) body["metadata"].erase("resourceVersion");
      object.merge_patch(body);
    }
    return kube::Response{200, keep(request.path, std::move(object))};
  }

 public:
  // A collection that exists and is empty.
  void serve_list(const std::string& path) { lists_.emplace(path, true); }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Json> objects_;
  std::map<std::string, bool> lists_;
  std::vector<kube::Request> requests_;
  int version_ = 100;
};

}  // namespace cronlatch::testing
