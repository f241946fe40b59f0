// SPDX-License-Identifier: Apache-2.0
// Every SQLSTATE that the documentation of PostgreSQL lists for the requests of a run: what the run
// reports, whether it retries, and whether it needs another connection.
#pragma once

#include "base/result.h"

namespace cronlatch::testing {

enum class Next { same_request, same_connection, new_connection };

struct StateCase {
  const char* name;
  const char* state;
  Code code;
  bool transient;
  Next next;
};

inline constexpr bool kTransient = true, kFinal = false;

inline const StateCase kStates[] = {
    {"SerializationFailure", "40001", Code::unreachable, kTransient, Next::same_request},
    {"DeadlockDetected", "40P01", Code::unreachable, kTransient, Next::same_request},
    {"LockNotAvailable", "55P03", Code::unreachable, kTransient, Next::same_connection},
    {"QueryCanceled", "57014", Code::unreachable, kTransient, Next::same_connection},
    {"AdminShutdown", "57P01", Code::unreachable, kTransient, Next::new_connection},
    {"CrashShutdown", "57P02", Code::unreachable, kTransient, Next::new_connection},
    {"CannotConnectNow", "57P03", Code::unreachable, kTransient, Next::new_connection},
    {"ConnectionFailure", "08006", Code::unreachable, kTransient, Next::new_connection},
    {"ProtocolViolation", "08P01", Code::unreachable, kTransient, Next::new_connection},
    {"ReadOnly", "25006", Code::unreachable, kTransient, Next::new_connection},
    {"TooManyConnections", "53300", Code::unreachable, kTransient, Next::new_connection},
    {"DiskFull", "53100", Code::unreachable, kTransient, Next::new_connection},
    {"OutOfMemory", "53200", Code::unreachable, kTransient, Next::new_connection},
    {"UnknownStatement", "26000", Code::unreachable, kTransient, Next::new_connection},
    {"TooFewStandbys", "CL003", Code::unreachable, kTransient, Next::new_connection},
    {"InternalError", "XX000", Code::unreachable, kTransient, Next::new_connection},
    {"NoState", "", Code::unreachable, kTransient, Next::new_connection},
    {"NoPgHbaEntry", "28000", Code::auth, kFinal, Next::new_connection},
    {"WrongPassword", "28P01", Code::auth, kFinal, Next::new_connection},
    {"NoRight", "42501", Code::acl, kFinal, Next::new_connection},
    {"NoDatabase", "3D000", Code::config, kFinal, Next::new_connection},
    {"NoSchema", "3F000", Code::config, kFinal, Next::new_connection},
    {"NoFunction", "42883", Code::config, kFinal, Next::new_connection},
    {"NoTable", "42P01", Code::config, kFinal, Next::new_connection},
    {"NotSupported", "0A000", Code::config, kFinal, Next::new_connection},
    {"DuplicateObject", "42710", Code::config, kFinal, Next::same_connection},
    {"CharacterNotInRepertoire", "22021", Code::config, kFinal, Next::same_connection},
    {"UntranslatableCharacter", "22P05", Code::config, kFinal, Next::same_connection},
    {"CheckViolation", "23514", Code::config, kFinal, Next::same_connection},
    {"SchemaIsTooNew", "CL001", Code::config, kFinal, Next::same_connection},
    {"SchemaOfAnotherRole", "CL002", Code::config, kFinal, Next::same_connection},
    {"StandbysAreHidden", "CL004", Code::config, kFinal, Next::same_connection},
};

}  // namespace cronlatch::testing
