// SPDX-License-Identifier: Apache-2.0
// The store loses data: all of it, or what it acknowledged since an earlier state.
#include "model/world/server.h"
#include "model/world/world.h"

namespace cronlatch::model {
namespace {

Case case_of(Loss loss) {
  switch (loss) {
    case Loss::grant:
      return Case::lost_grant;
    case Loss::release:
      return Case::lost_release;
    case Loss::renewal:
      return Case::lost_renewal;
    case Loss::mark:
      return Case::lost_mark;
    case Loss::none:
    case Loss::all:
    case Loss::replica:
      return Case::lost_all;
  }
  return Case::lost_all;
}

}  // namespace

void Server::lose(const MemoryServer::Records& records, const char* what) {
  memory_.restore(records);
  world_.checker.moment.data_lost = world_.now();
  world_.seen.add(case_of(world_.plan.loss));
  world_.note(0, what);
  world_.fact(&Rule::data_lost);
}

void Server::forget() { lose({}, "data lost"); }

void Server::lag() {
  world_.later(world_.random.between(0, 30 * kSecond),
               [this, records = memory_.records()] { lose(records, "replica promoted"); });
}

void Server::roll_back_next(Loss kind) { armed_ = kind; }

bool Server::is_kind(const Request& request, const Reply& reply) const {
  const Release* release = std::get_if<Release>(&request);
  switch (armed_) {
    case Loss::grant:
      return std::holds_alternative<Granted>(reply);
    case Loss::release:
      return std::holds_alternative<Released>(reply);
    case Loss::renewal:
      return std::holds_alternative<Renewed>(reply);
    case Loss::mark:
      return release != nullptr && release->mark_done && std::holds_alternative<Released>(reply);
    case Loss::none:
    case Loss::all:
    case Loss::replica:
      return false;
  }
  return false;
}

}  // namespace cronlatch::model
