// SPDX-License-Identifier: Apache-2.0
// `cronlatch ls`.
#include "cli/lock_text.h"
#include "cli/session.h"

namespace cronlatch {

Result<Printed> ls_command(const Invocation& invocation) {
  const Result<Session> session = open_session(invocation, Rest::nothing, kOutputFlag);
  if (!session) return session.error();
  const Result<std::vector<LockView>> views = session->store->list(session->give_up);
  if (!views) return views.error();
  if (session->format == Format::table) return Printed{locks_table(*views)};
  std::vector<std::string> objects;
  for (const LockView& view : *views) objects.push_back(lock_json(view));
  return Printed{json_array(objects) + '\n'};
}

}  // namespace cronlatch
