// SPDX-License-Identifier: Apache-2.0
// The table of a Redis server's errors and their meaning for a run. An error is identified by its
// first word, which is stable in Redis, not by its text. No I/O.
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
  poisoned,     // from the scripts: the record is invalid
  foreign_key,  // from the scripts: no value of the other program (key-format)
  no_command,   // from the scripts: the server lacks a command (rename-command, a proxy, a fork)
  restarted,    // from the scripts: a server of a quorum that may have lost the record
  unknown_command,  // the same, from the server; the rest of the text contains the arguments
  replicas,         // from the scripts: more replicas than min-replicas (option strict)
  max_clients,      // sent instead of the answer to HELLO
  protected_mode,   // the same
  unknown,
};

struct RedisErrorRow {
  RedisErrorClass kind;
  std::string_view word;  // the start of the error; "" for errors that a server does not send
  Code code;
  bool transient;   // a retry can help
  bool drop;        // close the connection: another address may work
  bool unexecuted;  // the request changed nothing
  bool quote;       // the server's text names the command or the cause: part of the message; of
                    // foreign_key only the key
  std::string_view meaning;
  std::string_view hint;
};

std::span<const RedisErrorRow> redis_error_table();
const RedisErrorRow& redis_error_row(RedisErrorClass kind);
// The row for an error answer, without its leading '-'.
const RedisErrorRow& classify_redis_error(std::string_view text);

// Untrusted text in a message: one line, printable, with a maximum length.
std::string quotable(std::string_view text);

// The error to report: `where` is host:port; `text` is the server's text, or empty.
Error redis_error(const RedisErrorRow& row, std::string_view where, std::string_view text = {});

// The server's text for `command` on `key`, with both appended when a right was refused and the
// text does not name them: servers before 7.2 do not.
std::string with_refused_command(std::string text, std::string_view command, std::string_view key);

}  // namespace cronlatch::redis
