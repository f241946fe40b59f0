// SPDX-License-Identifier: Apache-2.0
// The threads: one keeps the Lease, one acts, and while we lead one for each collection that is
// followed. The acting one starts and ends the followers, so nothing acts for a term that is over.
#include "operator/controller.h"

#include <array>
#include <thread>
#include <vector>

#include "kube/election.h"
#include "kube/watch_timing.h"
#include "kube/watcher.h"
#include "labels/names.h"
#include "operator/reconcile/change_queue.h"
#include "operator/reconcile/reconciler.h"
#include "operator/reconcile/secret_copier.h"
#include "operator/tls/certificate_keeper.h"

namespace cronlatch::op {
namespace {

constexpr Millis kTick{1'000};
constexpr Millis kLoadCertificate{30'000};
constexpr Millis kKeepHouse{60'000};
constexpr Millis kSoon{2'000};  // until there is a certificate; after trouble

struct Followed {
  Sort sort;
  kube::Collection collection;
};

const std::array<Followed, 3>& followed() {
  static const std::array<Followed, 3> kAll = {
      {{Sort::cronjob, {.path = "/apis/batch/v1/cronjobs"}},
       {Sort::job, {.path = "/apis/batch/v1/jobs"}},
       {Sort::pod, {.path = "/api/v1/pods", .label_selector = "cronlatch.dev/gated=true"}}}};
  return kAll;
}

// Something that is due from time to time.
class Due {
 public:
  bool now(const Clock& clock) const { return clock.now() >= at_; }
  void again(const Clock& clock, Millis wait) { at_ = clock.now() + wait; }
  void at_once() { at_ = {}; }

 private:
  TimePoint at_{};
};

}  // namespace

class Controller::Impl {
 public:
  explicit Impl(ControllerParts parts)
      : parts_(std::move(parts)),
        election_(parts_.api, kube::real_watch_timing(parts_.clock),
                  {parts_.settings.namespace_name, parts_.settings.name + "-operator",
                   std::string(kReportedPodsAnnotation)},
                  parts_.pod_name),
        reconciler_({parts_.settings, parts_.api, parts_.metrics, parts_.exporter, parts_.clock,
                     parts_.log, election_, parts_.pod_name}),
        keeper_(parts_.settings, parts_.api, parts_.clock, parts_.log, parts_.on_certificate),
        copier_(parts_.settings, parts_.api, parts_.clock, parts_.log) {}
  ~Impl() { stop(); }

  void start() {
    parts_.metrics.count(kUngatedJobs, {{"namespace", parts_.settings.namespace_name}}, 0);
    elector_ = std::jthread([this](const std::stop_token& stop) { elect(stop); });
    actor_ = std::jthread([this](const std::stop_token& stop) { act(stop); });
  }

  void stop() {
    if (actor_.joinable()) {
      actor_.request_stop();
      actor_.join();
    }
    if (elector_.joinable()) {
      elector_.request_stop();
      elector_.join();
      election_.release();
    }
  }

  bool leading() const { return election_.leading(); }

 private:
  void elect(const std::stop_token& stop);
  void act(const std::stop_token& stop);
  void follow_term();
  void start_followers();
  void end_followers();
  void keep_house();
  void keep_certificate();
  kube::Followers followers(Sort sort, const std::stop_token& stop);

  const ControllerParts parts_;
  kube::Election election_;
  Inbox inbox_;
  Reconciler reconciler_;
  CertificateKeeper keeper_;
  SecretCopier copier_;
  unsigned acting_term_ = 0;  // 0: not as the leader
  Due load_, keep_, copy_, tick_;
  std::vector<std::jthread> followers_;
  std::jthread elector_, actor_;
};

void Controller::Impl::elect(const std::stop_token& stop) {
  const kube::WatchTiming timing = kube::real_watch_timing(parts_.clock);
  std::string holder;
  while (!stop.stop_requested()) {
    const Millis wait = election_.step();
    if (const std::string now = election_.holder(); now != holder) {
      parts_.log(
          {Level::info, "leader", now.empty() ? "nobody leads" : "the leader is " + now, {}});
      holder = now;
    }
    timing.pause(wait, stop);
  }
}

kube::Followers Controller::Impl::followers(Sort sort, const std::stop_token& stop) {
  return {.upsert =
              [this, sort, stop](const kube::Json& object) {
                inbox_.put({.sort = sort, .object = object}, stop);
              },
          .gone =
              [this, sort, stop](const kube::ObjectKey& key, const std::string& uid) {
                inbox_.put({.sort = sort, .what = Seen::What::gone, .key = key, .uid = uid}, stop);
              },
          .listed = [this, sort,
                     stop] { inbox_.put({.sort = sort, .what = Seen::What::all_listed}, stop); },
          .trouble =
              [this](const std::string& what) {
                parts_.log({Level::warn, "watch_trouble", what, {}});
              }};
}

void Controller::Impl::start_followers() {
  for (const Followed& one : followed())
    followers_.emplace_back([this, one](const std::stop_token& stop) {
      kube::Watcher watcher(parts_.api, one.collection, followers(one.sort, stop),
                            kube::real_watch_timing(parts_.clock));
      watcher.run(stop);
    });
}

void Controller::Impl::end_followers() {
  for (std::jthread& follower : followers_) follower.request_stop();
  followers_.clear();  // joins
  inbox_.clear();
}

// A term that ended and one that began since we looked are two changes.
void Controller::Impl::follow_term() {
  const unsigned term = election_.leading() ? election_.term() : 0;
  if (term == acting_term_) return;
  end_followers();
  if (term != 0) {
    reconciler_.begin_term();
    keep_.at_once();
    copy_.at_once();
    start_followers();
  } else {
    reconciler_.end_term();
  }
  acting_term_ = term;
  parts_.metrics.leader(term != 0);
}

void Controller::Impl::keep_certificate() {
  const auto may_write = [this] { return election_.leading(); };
  if (acting_term_ != 0 && keep_.now(parts_.clock)) {
    const bool kept = keeper_.keep(may_write);
    keep_.again(parts_.clock, kept ? kKeepHouse : kSoon);
    load_.at_once();
  }
  if (load_.now(parts_.clock)) load_.again(parts_.clock, keeper_.load() ? kLoadCertificate : kSoon);
}

void Controller::Impl::keep_house() {
  if (parts_.settings.certificate_mode == CertificateMode::own) keep_certificate();
  if (acting_term_ == 0) return;
  if (copier_.wanted() && copy_.now(parts_.clock)) {
    const bool copied = copier_.copy([this] { return election_.leading(); });
    copy_.again(parts_.clock, copied ? kKeepHouse : kSoon * 5);
  }
  if (tick_.now(parts_.clock)) {
    reconciler_.tick();
    tick_.again(parts_.clock, kTick);
  }
}

void Controller::Impl::act(const std::stop_token& stop) {
  parts_.metrics.leader(false);
  while (!stop.stop_requested()) {
    follow_term();
    keep_house();
    const auto seen = inbox_.take(kTick / 4, stop);
    if (seen && acting_term_ != 0) reconciler_.take(*seen);
  }
  end_followers();
  reconciler_.end_term();
  parts_.metrics.leader(false);
}

Controller::Controller(ControllerParts parts) : impl_(std::make_unique<Impl>(std::move(parts))) {}
Controller::~Controller() = default;
void Controller::start() { impl_->start(); }
void Controller::stop() { impl_->stop(); }
bool Controller::leading() const { return impl_->leading(); }

}  // namespace cronlatch::op
