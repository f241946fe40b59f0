// SPDX-License-Identifier: Apache-2.0
// Threads: one renews the Lease ("election"), one owns the state of the work ("reconcile"), and a
// few send the requests of the work ("report"). While this replica leads there is one per watched
// collection. The thread "reconcile" starts and stops the watchers, so no watcher outlives a term.
#include "operator/controller.h"

#include <array>
#include <thread>
#include <vector>

#include "base/thread_name.h"
#include "kube/collection_path.h"
#include "kube/election.h"
#include "kube/watch_timing.h"
#include "kube/watcher.h"
#include "labels/names.h"
#include "operator/paced_api.h"
#include "operator/progress_api.h"
#include "operator/reconcile/change_queue.h"
#include "operator/reconcile/reconciler.h"
#include "operator/reconcile/secret_copier.h"
#include "operator/reconcile/workers.h"
#include "operator/store_server/store_server.h"
#include "operator/tls/certificate_keeper.h"

namespace cronlatch::op {
namespace {

constexpr Millis kTickInterval{1'000};
constexpr Millis kCertificateInterval{30'000};
constexpr Millis kUpkeepInterval{60'000};
constexpr Millis kStoreServerInterval{15'000};  // a restarted server, a new namespace
constexpr Millis kRetryDelay{2'000};            // without a certificate, or after an error
// 300 finished pods per second need 600 Events per second. Twice that lets the next leader catch up
// after the 15 s until a Lease expires. 16 requests of at most 13 ms each at once are that rate. In
// priority and fairness of the API server they are one flow, with the renewals of the Lease.
constexpr std::size_t kWorkers = 16;
constexpr CallRate kCallRate{.per_second = 1'200, .burst = 50};

struct WatchedKind {
  ObjectKind kind;
  kube::Resource resource;
  const char* label_selector;
};

constexpr std::array<WatchedKind, 3> kWatchedKinds = {
    {{ObjectKind::cronjob, {"/apis/batch/v1", "cronjobs"}, ""},
     {ObjectKind::job, {"/apis/batch/v1", "jobs"}, ""},
     {ObjectKind::pod, {"/api/v1", "pods"}, "cronlatch.dev/gated=true"}}};

class Timer {
 public:
  bool is_due(const Clock& clock) const { return clock.now() >= at_; }
  void restart(const Clock& clock, Millis wait) { at_ = clock.now() + wait; }
  void expire() { at_ = {}; }

 private:
  TimePoint at_{};
};

}  // namespace

class Controller::Impl {
 public:
  explicit Impl(ControllerDependencies dependencies)
      : deps_(std::move(dependencies)),
        election_(deps_.api, kube::real_watch_timing(deps_.clock),
                  {deps_.settings.namespace_name, deps_.settings.name + "-operator",
                   std::string(kReportedPodsAnnotation)},
                  deps_.pod_name),
        paced_api_(deps_.api, kCallRate, deps_.clock),
        work_api_(paced_api_, [this] { deps_.on_progress("reconcile"); }),
        report_api_(paced_api_, deps_.on_report),
        // A round of the loop "reconcile" may wait for the workers many times.
        workers_(kWorkers, {.began = deps_.on_report,
                            .ended = deps_.on_report_end,
                            .accepted = [this] { deps_.on_progress("reconcile"); }}),
        reconciler_({deps_.settings, report_api_, deps_.metrics, deps_.exporter, deps_.clock,
                     deps_.log, election_, workers_, deps_.events}),
        keeper_({deps_.settings.name, deps_.settings.namespace_name}, work_api_, deps_.clock,
                deps_.log, deps_.on_certificate),
        copier_(deps_.settings, work_api_, deps_.clock, deps_.log),
        store_server_(deps_.settings, work_api_, deps_.clock, deps_.log) {}
  ~Impl() { stop(); }

  void start() {
    deps_.metrics.count(kUngatedJobs, {{"namespace", deps_.settings.namespace_name}}, 0);
    election_thread_ = std::jthread([this](const std::stop_token& stop) { run_election(stop); });
    work_thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  void stop() {
    if (work_thread_.joinable()) {
      work_thread_.request_stop();
      work_thread_.join();
    }
    if (election_thread_.joinable()) {
      election_thread_.request_stop();
      election_thread_.join();
      // No renewal is in progress: what it does not count, the next leader counts.
      reconciler_.end_term();
      election_.release();
    }
  }

  bool leading() const { return election_.leading(); }

 private:
  void run_election(const std::stop_token& stop);
  void run(const std::stop_token& stop);
  void update_term();
  void start_watchers();
  void stop_watchers();
  void run_upkeep();
  void maintain_certificate();
  kube::WatchCallbacks callbacks(ObjectKind kind, const std::string& watched,
                                 const std::stop_token& stop);

  const ControllerDependencies deps_;
  kube::Election election_;
  ChangeQueue changes_;
  PacedApi paced_api_;
  ProgressApi work_api_, report_api_;  // of the threads "reconcile" and "report"
  Workers workers_;
  Reconciler reconciler_;
  CertificateKeeper keeper_;
  SecretCopier copier_;
  StoreServer store_server_;
  unsigned active_term_ = 0;  // 0: this replica does not lead
  Timer load_certificate_, maintain_certificate_, copy_secret_, maintain_store_, tick_;
  std::vector<std::jthread> watchers_;
  FirstLists first_lists_;
  std::jthread election_thread_, work_thread_;
};

void Controller::Impl::run_election(const std::stop_token& stop) {
  const kube::WatchTiming timing = kube::real_watch_timing(deps_.clock);
  std::string holder;
  name_thread("election");
  while (!stop.stop_requested()) {
    deps_.on_progress("election");
    const Millis wait = election_.step();
    if (const std::string now = election_.holder(); now != holder) {
      deps_.log(
          {Level::info, "leader", now.empty() ? "no replica leads" : "the leader is " + now, {}});
      holder = now;
    }
    timing.pause(wait, stop);
  }
}

kube::WatchCallbacks Controller::Impl::callbacks(ObjectKind kind, const std::string& watched,
                                                 const std::stop_token& stop) {
  const auto first_list =
      std::make_shared<FirstList>(first_lists_, kind, deps_.clock, deps_.give_up_after);
  const auto put_version = [this, kind, watched, stop](ObjectChange::Type type,
                                                       const std::string& version) {
    // Only the positions of pods are used.
    if (kind != ObjectKind::pod) return;
    changes_.put({.kind = kind, .type = type, .watched = watched, .version = version}, stop);
  };
  return {.on_object =
              [this, kind, stop](kube::Json object) {
                if (auto change = read_change(kind, std::move(object)))
                  changes_.put(std::move(*change), stop);
              },
          .on_deleted =
              [this, kind, stop](const kube::ObjectKey& key, const std::string& uid) {
                changes_.put(
                    {.kind = kind, .type = ObjectChange::Type::deleted, .key = key, .uid = uid},
                    stop);
              },
          .on_listed =
              [this, kind, stop, first_list] {
                if (first_list->listed())
                  changes_.put({.kind = kind, .type = ObjectChange::Type::all_listed}, stop);
              },
          .on_error =
              [this](const std::string& what) {
                deps_.log({Level::warn, "watch_trouble", what, {}});
              },
          .on_listing =
              [put_version](const std::string& version) {
                put_version(ObjectChange::Type::listing, version);
              },
          .on_position =
              [put_version](const std::string& version) {
                put_version(ObjectChange::Type::position, version);
              },
          .on_list_failed =
              [this, kind, watched, stop, first_list](bool is_forbidden) {
                if (!first_list->failed(is_forbidden)) return;
                deps_.log({Level::warn,
                           "not_readable",
                           "the operator may not list objects that it serves; it continues without "
                           "them",
                           {{"namespace", watched}},
                           "if the namespace was deleted, remove it from the chart value "
                           "namespaces"});
                if (first_list->listed())
                  changes_.put({.kind = kind, .type = ObjectChange::Type::all_listed}, stop);
              }};
}

void Controller::Impl::start_watchers() {
  for (const WatchedKind& watched : kWatchedKinds) {
    const std::vector<std::string> paths = paths_of(watched.resource, deps_.settings.namespaces);
    first_lists_.expect(watched.kind, paths.size());
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const std::string space =
          deps_.settings.namespaces.empty() ? "" : deps_.settings.namespaces[i];
      watchers_.emplace_back([this, path = paths[i], space, watched](const std::stop_token& stop) {
        kube::Watcher watcher(deps_.api, {.path = path, .label_selector = watched.label_selector},
                              callbacks(watched.kind, space, stop),
                              kube::real_watch_timing(deps_.clock));
        watcher.run(stop);
      });
    }
  }
}

void Controller::Impl::stop_watchers() {
  for (std::jthread& watcher : watchers_) watcher.request_stop();
  watchers_.clear();  // joins
  changes_.clear();
}

// A term that ended and one that began since the last call are two changes.
void Controller::Impl::update_term() {
  const unsigned term = election_.leading() ? election_.term() : 0;
  if (term == active_term_) return;
  stop_watchers();
  if (term != 0) {
    reconciler_.begin_term();
    maintain_certificate_.expire();
    copy_secret_.expire();
    maintain_store_.expire();
    start_watchers();
  } else {
    reconciler_.end_term();
  }
  active_term_ = term;
  deps_.metrics.leader(term != 0);
}

void Controller::Impl::maintain_certificate() {
  const auto may_write = [this] { return election_.leading(); };
  if (active_term_ != 0 && maintain_certificate_.is_due(deps_.clock)) {
    const bool kept = keeper_.keep(may_write);
    maintain_certificate_.restart(deps_.clock, kept ? kUpkeepInterval : kRetryDelay);
    load_certificate_.expire();
  }
  if (load_certificate_.is_due(deps_.clock))
    load_certificate_.restart(deps_.clock, keeper_.load() ? kCertificateInterval : kRetryDelay);
}

void Controller::Impl::run_upkeep() {
  if (deps_.settings.certificate_mode == CertificateMode::own) maintain_certificate();
  if (active_term_ == 0) return;
  if (copier_.is_enabled() && copy_secret_.is_due(deps_.clock)) {
    const bool copied = copier_.copy([this] { return election_.leading(); });
    copy_secret_.restart(deps_.clock, copied ? kUpkeepInterval : kRetryDelay * 5);
  }
  if (store_server_.is_enabled() && maintain_store_.is_due(deps_.clock)) {
    const bool maintained = store_server_.maintain([this] { return election_.leading(); });
    maintain_store_.restart(deps_.clock, maintained ? kStoreServerInterval : kRetryDelay);
  }
  if (tick_.is_due(deps_.clock)) {
    reconciler_.tick();
    tick_.restart(deps_.clock, kTickInterval);
  }
}

void Controller::Impl::run(const std::stop_token& stop) {
  name_thread("reconcile");
  deps_.metrics.leader(false);
  while (!stop.stop_requested()) {
    deps_.on_progress("reconcile");
    update_term();
    run_upkeep();
    if (!reconciler_.has_room()) {
      kube::real_watch_timing(deps_.clock).pause(kTickInterval / 4, stop);
      continue;
    }
    auto change = changes_.take(kTickInterval / 4, stop);
    if (change && active_term_ != 0) reconciler_.process(std::move(*change));
  }
  stop_watchers();
  deps_.metrics.leader(false);
}

Controller::Controller(ControllerDependencies dependencies)
    : impl_(std::make_unique<Impl>(std::move(dependencies))) {}
Controller::~Controller() = default;
void Controller::start() { impl_->start(); }
void Controller::stop() { impl_->stop(); }
bool Controller::leading() const { return impl_->leading(); }

}  // namespace cronlatch::op
