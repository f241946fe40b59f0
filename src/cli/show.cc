// SPDX-License-Identifier: Apache-2.0
// `cronlatch show LOCK`.
#include "cli/lock_text.h"
#include "cli/session.h"
#include "core/lock_name.h"

namespace cronlatch {

Result<CommandOutput> show_command(const Invocation& invocation) {
  const Result<StoreSession> session = open_session(invocation, Operands::name, kLocksFlags);
  if (!session) return session.error();
  const std::string& lock = session->loaded.operands.front();
  if (const Status named = check_lock_name(lock); !named) return named.error();
  const Result<LockView> view = session->store->show(lock, session->give_up);
  if (!view) return view.error();
  return CommandOutput{session->format == Format::table ? lock_page(*view)
                                                        : lock_json(*view) + '\n'};
}

}  // namespace cronlatch
