// SPDX-License-Identifier: Apache-2.0
// The data of a running PostgreSQL server as the data of a standby, as pg_basebackup makes it. That
// program refuses a server that is newer than itself, and the packages of other versions
// (scripts/servers.sh) do not have it.
#pragma once

#include <string>

namespace cronlatch::testing {

// Copies the data directory `from` of the server on this port of 127.0.0.1 to `to`, which does not
// exist. The standby will stream from the server, under this name. Returns "", or what failed.
std::string copy_as_standby(int port, const std::string& from, const std::string& to,
                            const std::string& name);

}  // namespace cronlatch::testing
