// SPDX-License-Identifier: Apache-2.0
// ReportedPods: which finished pods are reported: their Events are recorded and their errors are
// counted. Its checkpoint, which the leader stores in its Lease, is all that the next leader needs.
// Pure.
//
// A watch delivers changes in the order of their resourceVersions. The checkpoint therefore
// contains a position, the version up to which every finished pod is reported, and two lists of
// exceptions: open (at or before the position, not reported yet) and recent (reported, and changed
// or about to change after the position). A pod that finishes or is delivered late has a later
// version than the position, so it is never lost. A pod that another client changes while no
// replica leads is still known as reported by the time at which its status was written. Record 0050
// has the details.
//
// Memory: 8 bytes and a hash node for each finished pod that exists.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/time.h"
#include "operator/reconcile/enforcement_times.h"
#include "operator/reconcile/pod_version.h"

namespace cronlatch::op {

class ReportedPods {
 public:
  // The checkpoint has at most these. With the longest names and 500 namespaces it is shorter than
  // 256 KiB, the limit of all annotations of an object.
  static constexpr std::size_t kMaxRecent = 3'000;
  static constexpr std::size_t kMaxOpen = 2'500;  // the caller keeps this limit
  static constexpr std::size_t kMaxDeleted = 100;

  ReportedPods() = default;
  // From a checkpoint; an invalid one is empty.
  explicit ReportedPods(std::string_view checkpoint);

  // ---- a change of a finished pod ----
  // Whether the pod is reported, in this term or in an earlier one. Remembers its version.
  bool has(const PodVersion& pod);
  void begin(const PodVersion& pod);    // it is being reported
  void add(const PodVersion& pod);      // it is reported; no effect if it was deleted since begin()
  void forget(const std::string& uid);  // it was deleted and cannot be reported again
  std::size_t open() const { return open_.size(); }

  // ---- the position in the changes of a namespace ("": of all namespaces) ----
  // A list of the state at `version` begins. A version before the position shows that etcd was
  // restored from a backup: versions of before that are not comparable.
  void listing(const std::string& watched, std::uint64_t version);
  // Every change up to `version` was passed to has() and, if needed, begin().
  void reached(const std::string& watched, std::uint64_t version);

  // ---- CronJobs ----
  // `job` is "namespace/name". False if the state was known.
  bool cronjob_deleted(const std::string& job);
  bool cronjob_exists(const std::string& job);
  const std::vector<std::string>& deleted_cronjobs() const { return deleted_; }
  EnforcementTimes& enforcement() { return enforcement_; }

  // Whether the checkpoint of the pods differs from that at the last call of checkpoint().
  bool changed() const { return changed_; }
  // Nothing while too many reported pods are after the position (during a list).
  std::optional<std::string> checkpoint();

 private:
  using Key = std::uint64_t;  // of a UID
  struct Position {
    std::uint64_t version = 0;
    std::int64_t written = 0;  // the latest write of a status up to it; seconds since 1970
  };
  using Positions = std::map<std::string, Position, std::less<>>;
  struct Recent {
    std::string namespace_name;
    std::uint64_t version = 0;
    bool changes_again = false;
  };

  static Key key_of(const std::string& uid);
  static const Position* position_of(const Positions& positions, const std::string& space);
  bool was_reported(Key key, const PodVersion& pod) const;
  void remember(Key key, const PodVersion& pod);
  bool is_ahead(const Recent& recent) const;
  void drop_settled();
  void drop_oldest(std::size_t ahead);
  void read_version_1(const kube::Json& checkpoint);

  // From the checkpoint.
  Positions previous_;
  std::set<Key> previous_open_, previous_recent_;
  // From a checkpoint of version 0.1: pods that finished before, and the newest pods.
  std::int64_t before_ = 0;
  std::set<std::string> shortened_;

  Positions positions_;
  std::map<std::string, std::int64_t> written_;  // by namespace, since the position
  std::unordered_set<Key> reported_;
  std::set<Key> open_;
  std::unordered_map<Key, Recent> recent_;
  bool changed_ = false;
  std::vector<std::string> deleted_;  // the newest last
  EnforcementTimes enforcement_;
};

}  // namespace cronlatch::op
