// SPDX-License-Identifier: Apache-2.0
// `cronlatch ls`.
#include "cli/lock_text.h"
#include "cli/session.h"

namespace cronlatch {

Result<CommandOutput> ls_command(const Invocation& invocation) {
  const Result<StoreSession> session = open_session(invocation, Operands::nothing, kLocksFlags);
  if (!session) return session.error();
  if (const Status all = refuse_lock(session->loaded, "ls"); !all) return all.error();
  const Result<std::vector<LockView>> views = session->store->list(session->give_up);
  if (!views) return views.error();
  const Result<std::optional<Micros>> quarantine = session->store->quarantine(session->give_up);
  if (!quarantine) return quarantine.error();
  if (quarantine->value_or(Micros(0)).count() > 0)
    show_warning({Level::warn, "quarantine", quarantine_text(**quarantine), {}, ""});
  if (session->format == Format::table) return CommandOutput{locks_table(*views)};
  std::vector<std::string> objects;
  for (const LockView& view : *views) objects.push_back(lock_json(view));
  return CommandOutput{json_array(objects) + '\n'};
}

}  // namespace cronlatch
