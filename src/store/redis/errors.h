// SPDX-License-Identifier: Apache-2.0
// What each error of a Redis server means for us: one table. Decides by the error's first word, as
// Redis promises it, and never by its prose. Knows nothing of connections or locks.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cronlatch::redis {

enum class RedisErrorClass {
  noscript,
  readonly,
  moved,
  ask,
  tryagain,
  clusterdown,
  loading,
  busy,
  oom,
  misconf,
  noreplicas,
  masterdown,
  noauth,
  wrongpass,
  noperm,
  wrongtype,
  eof,
  timeout,
  poisoned,         // our own scripts: the record is not one of ours
  no_command,       // our own scripts: the server lacks a command (rename-command, a proxy, a fork)
  unknown_command,  // the same, as the server says it; what follows repeats our arguments
  max_clients,      // said instead of a greeting
  unknown,
};

struct RedisErrorRow {
  RedisErrorClass kind;
  std::string_view word;  // how the error starts; "" for what is no answer of a server
  Code code;
  bool transient;   // asking again may help
  bool drop;        // the connection is of no use any more, or another server may answer better
  bool unexecuted;  // the request certainly changed nothing
  bool quote;       // what the server says tells which command or why: shown
  std::string_view meaning;
  std::string_view hint;
};

std::span<const RedisErrorRow> redis_error_table();
const RedisErrorRow& redis_error_row(RedisErrorClass kind);
// The row for an error answer, without its leading '-'.
const RedisErrorRow& classify_redis_error(std::string_view text);

// Untrusted text for a message: one line, printable, bounded.
std::string quotable(std::string_view text);

// The error to report: `where` is host:port; `text` what the server said, if anything.
Error redis_error(const RedisErrorRow& row, std::string_view where, std::string_view text = {});

// What a server answered to `command` on `key`, with both named: servers before 7.2 refuse without
// them. Only a refused right is changed, and none that names them already.
std::string with_refused_command(std::string text, std::string_view command, std::string_view key);

}  // namespace cronlatch::redis
