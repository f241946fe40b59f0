// SPDX-License-Identifier: Apache-2.0
// The same wrapper in different surroundings: without privileges, as the first process of a PID
// namespace. Surroundings are the words before the wrapper's own.
#pragma once

#include <sys/stat.h>

#include "gated.h"

namespace cronlatch::testing {

inline const Words kWithoutPrivileges = {"/usr/bin/setpriv", "--reuid", "65534",
                                         "--regid",          "65534",   "--clear-groups"};
inline const Words kAsFirstProcess = {"/usr/bin/unshare", "-p", "-f", "--mount-proc"};

class InSurroundings : public GatedByRedis {
 protected:
  // A wrapper without privileges writes into the directory, too.
  InSurroundings() { ::chmod(dir.path().c_str(), 0777); }

  // Whether this machine lets the test create them.
  static bool is_permitted(Words surroundings) {
    surroundings.push_back("/bin/true");
    return Program({.argv = surroundings}).exit_code() == 0;
  }
  ProgramSpec run_in(const Words& surroundings, const Words& options, const Words& words) const {
    ProgramSpec spec = run(options, words);
    spec.argv.insert(spec.argv.begin(), surroundings.begin(), surroundings.end());
    return spec;
  }
};

}  // namespace cronlatch::testing
