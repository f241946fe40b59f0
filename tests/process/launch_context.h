// SPDX-License-Identifier: Apache-2.0
// The same wrapper in different contexts: without privileges, as the first process of a PID
// namespace. A context is the words before the wrapper's own.
#pragma once

#include <sys/stat.h>

#include "gated.h"

namespace cronlatch::testing {

inline const Words kWithoutPrivileges = {"/usr/bin/setpriv", "--reuid", "65534",
                                         "--regid",          "65534",   "--clear-groups"};
inline const Words kAsFirstProcess = {"/usr/bin/unshare", "-p", "-f", "--mount-proc"};

class InLaunchContext : public GatedByRedis {
 protected:
  // A wrapper without privileges writes into the directory, too.
  InLaunchContext() { ::chmod(dir.path().c_str(), 0777); }

  // Whether this machine lets the test create them.
  static bool is_permitted(Words context) {
    context.push_back("/bin/true");
    return Program({.argv = context}).exit_code() == 0;
  }
  ProgramSpec run_in(const Words& context, const Words& options, const Words& words) const {
    ProgramSpec spec = run(options, words);
    spec.argv.insert(spec.argv.begin(), context.begin(), context.end());
    return spec;
  }
};

}  // namespace cronlatch::testing
