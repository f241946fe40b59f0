// SPDX-License-Identifier: Apache-2.0
// DefectiveServer: executes a request as a store with the defect of the schedule would.
#pragma once

#include "model/world/server.h"

namespace cronlatch::model {

class DefectiveServer {
 public:
  explicit DefectiveServer(Server& server) : server_(server) {}
  Reply execute(const Request& request, ServerTime not_after);

 private:
  Reply acquire(const Acquire& request, ServerTime not_after);
  void release_grant_of(const Claim& claim);
  Reply with_fence_of_slot(const rules::Record& before, const Claim& claim, Granted granted);
  Reply renew(const Renew& request, ServerTime not_after);
  Reply release(Release request, ServerTime not_after);
  rules::Record edited() const { return server_.record(); }
  void replace(rules::Record record);
  Reply plain(const Request& request, ServerTime not_after) {
    return server_.memory_.execute(request, not_after);
  }

  Server& server_;
};

}  // namespace cronlatch::model
