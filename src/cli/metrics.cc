// SPDX-License-Identifier: Apache-2.0
// `cronlatch metrics`.
#include "metrics/metrics_text.h"

#include "cli/session.h"

namespace cronlatch {

Result<CommandOutput> metrics_command(const Invocation& invocation) {
  const Result<StoreSession> session = open_session(invocation, Operands::nothing);
  if (!session) return session.error();
  if (const Status all = refuse_lock(session->loaded, "metrics"); !all) return all.error();
  const Result<std::vector<LockView>> views = session->store->list(session->give_up);
  if (!views) return views.error();
  return CommandOutput{lock_stats_metrics(*views)};
}

}  // namespace cronlatch
