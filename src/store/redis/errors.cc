// SPDX-License-Identifier: Apache-2.0
// The table and its lookup. A script that fails changes nothing, because its checks precede its
// first write. So every error answer means "not executed"; without an answer the result is unknown.
#include "store/redis/errors.h"

#include <algorithm>
#include <array>

namespace cronlatch::redis {
namespace {

using Kind = RedisErrorClass;
// A refusal contains a key and a member: prefix, lock, job and run identity at their maximum
// length.
constexpr std::size_t kMaxQuoted = 800;
constexpr std::size_t kLongestCommand = 40;

// clang-format off
constexpr std::array<RedisErrorRow, 27> kTable = {{
    // kind, word, code, transient, drop, unexecuted, quote, meaning, hint
    // Only as the answer to EVAL, which contains the script: it is the repeated answer to EVALSHA.
    {Kind::noscript, "NOSCRIPT", Code::unreachable, true, true, false, false,
     "the server does not have the script", "no action needed: the script is sent again"},
    {Kind::readonly, "READONLY", Code::unreachable, true, true, true, false,
     "the server is a read-only replica", "set store to the master, for example to a Service that selects it"},
    {Kind::moved, "MOVED", Code::config, false, true, true, false,
     "the server is a node of a Redis Cluster", "write redis+cluster:// or rediss+cluster:// in store"},
    {Kind::ask, "ASK", Code::config, false, true, true, false,
     "the server is a node of a Redis Cluster", "write redis+cluster:// or rediss+cluster:// in store"},
    {Kind::tryagain, "TRYAGAIN", Code::unreachable, true, false, true, false,
     "the server is moving keys to another node", "try again later"},
    {Kind::clusterdown, "CLUSTERDOWN", Code::unreachable, true, true, true, false,
     "the cluster of the server has uncovered hash slots", "see CLUSTER INFO on the server"},
    {Kind::loading, "LOADING", Code::unreachable, true, false, true, false,
     "the server is still loading its data", "try again after it has started"},
    {Kind::busy, "BUSY", Code::unreachable, true, false, true, false,
     "the server is busy with a script", "run SCRIPT KILL on the server to end that script"},
    {Kind::oom, "OOM", Code::unreachable, true, false, true, false,
     "the server is out of memory", "increase maxmemory; set maxmemory-policy to noeviction"},
    {Kind::misconf, "MISCONF", Code::unreachable, true, false, true, false,
     "the server cannot save its data and refuses to write", "see the server's log: the disk may be full"},
    {Kind::noreplicas, "NOREPLICAS", Code::unreachable, true, false, true, false,
     "the server has too few connected replicas to accept writes", "check min-replicas-to-write on the server"},
    {Kind::masterdown, "MASTERDOWN", Code::unreachable, true, true, true, false,
     "the server is a replica without a connection to its master", "set store to the master"},
    {Kind::noauth, "NOAUTH", Code::auth, false, true, true, false,
     "the server requires a password", "set password-file, credentials-dir or CRONLATCH_PASSWORD"},
    {Kind::wrongpass, "WRONGPASS", Code::auth, false, true, true, false,
     "the server refused the user name or the password", "check redis-username and password-file, credentials-dir or CRONLATCH_PASSWORD"},
    {Kind::noperm, "NOPERM", Code::acl, false, true, true, true,
     "the server's access list denies this", "grant the user the commands and keys in docs/operations.md"},
    {Kind::wrongtype, "WRONGTYPE", Code::config, false, false, true, false,
     "a key has an unexpected type", "set another key-prefix, or delete that key"},
    {Kind::eof, "", Code::unreachable, true, true, false, false,
     "the server closed the connection", "see the server's log"},
    {Kind::timeout, "", Code::unreachable, true, true, false, false,
     "the server did not answer in time", "check that the server is not stopped or overloaded; op-timeout and connect-timeout set the limit"},
    {Kind::poisoned, "CRONLATCH_POISONED", Code::config, false, false, true, true,
     "the record of this lock is damaged or was written by another program", "set another key-prefix, or delete the lock's keys while no run uses the lock"},
    {Kind::foreign_key, "CRONLATCH_FOREIGN_KEY", Code::config, false, false, true, true,
     "the key of the other program has a value or a type that it cannot have written", "check foreign-key and key-format; if the key is damaged, delete it while no run uses it"},
    {Kind::no_command, "CRONLATCH_NO_COMMAND", Code::config, false, false, true, false,
     "the server does not have the command", "docs/operations.md lists the commands that cronlatch needs; check rename-command in the server's configuration"},
    {Kind::restarted, "CRONLATCH_RESTARTED", Code::unreachable, true, false, true, false,
     "the server started recently and has no record of this lock, which it may have lost", "the server grants this lock once it has been running for max-ttl"},
    {Kind::unknown_command, "ERR unknown command", Code::config, false, true, true, false,
     "the server does not have the command", "docs/operations.md lists the commands that cronlatch needs; check rename-command in the server's configuration"},
    {Kind::replicas, "CRONLATCH_REPLICAS", Code::config, false, true, true, true,
     "strict needs the acknowledgement of all replicas", "set min-replicas to the number of all replicas, for every run"},
    {Kind::max_clients, "ERR max number of clients", Code::unreachable, true, true, true, false,
     "the server has too many clients", "increase maxclients on the server"},
    {Kind::protected_mode, "DENIED", Code::auth, false, true, true, false,
     "the server is in protected mode: it accepts connections from its own host only", "set a password for the server's default user, and the same in password-file or CRONLATCH_PASSWORD; docs/operations.md lists the users"},
    {Kind::unknown, "", Code::unreachable, true, true, false, true,
     "the server returned an error", "see the server's log"},
}};
// clang-format on

// Servers before 7.0 wrap the error of a command inside a script: "ERR Error running script (...):
// ... -OOM command not ...".
std::string_view unwrap(std::string_view text) {
  if (!text.starts_with("ERR Error running script")) return text;
  for (const RedisErrorRow& row : kTable) {
    if (row.word.empty()) continue;
    for (const std::string_view before : {": -", ": "}) {
      const std::string needle = std::string(before) + std::string(row.word) + " ";
      const std::size_t at = text.find(needle);
      if (at != std::string_view::npos) return text.substr(at + before.size());
    }
  }
  return text;
}

bool starts_with_word(std::string_view text, std::string_view word) {
  return !word.empty() && text.starts_with(word) &&
         (text.size() == word.size() || text[word.size()] == ' ');
}

// Only the name: the rest of the server's text contains the arguments, among them secrets.
std::string missing_command(std::string_view text, std::string_view word) {
  const std::size_t start = text.find_first_not_of(" '`\"", text.find(word) + word.size());
  if (start == std::string_view::npos) return "";
  const std::string_view rest = text.substr(start);
  return quotable(rest.substr(0, std::min(rest.find_first_of(" '`\","), kLongestCommand)));
}

}  // namespace

std::span<const RedisErrorRow> redis_error_table() { return kTable; }

const RedisErrorRow& redis_error_row(RedisErrorClass kind) {
  return *std::find_if(kTable.begin(), kTable.end(),
                       [kind](const RedisErrorRow& row) { return row.kind == kind; });
}

const RedisErrorRow& classify_redis_error(std::string_view text) {
  const std::string_view inner = unwrap(text);
  for (const RedisErrorRow& row : kTable)
    if (starts_with_word(inner, row.word)) return row;
  if (text.find("ACL failure in script") != std::string_view::npos ||
      text.find("The user executing the script can't") != std::string_view::npos)
    return redis_error_row(Kind::noperm);
  return redis_error_row(Kind::unknown);
}

std::string quotable(std::string_view text) {
  std::string line(text.substr(0, kMaxQuoted));
  for (char& c : line)
    if (c < ' ' || c > '~') c = '?';
  if (text.size() > kMaxQuoted) line += "...";
  return line;
}

std::string with_refused_command(std::string text, std::string_view command, std::string_view key) {
  if (classify_redis_error(text).kind != Kind::noperm || text.find(" may not run ") != text.npos)
    return text;
  text += " (" + std::string(command);
  if (!key.empty()) text += " on " + std::string(key);
  return text + ')';
}

Error redis_error(const RedisErrorRow& row, std::string_view where, std::string_view text) {
  std::string message = "redis at " + std::string(where) + ": " + std::string(row.meaning);
  if (row.kind == Kind::no_command || row.kind == Kind::unknown_command)
    message += ' ' + missing_command(unwrap(text), row.word);
  if (row.kind == Kind::foreign_key) {
    text = unwrap(text);
    text.remove_prefix(std::min(text.size(), row.word.size() + 1));
  }
  if (row.quote && !text.empty()) message += ": " + quotable(text);
  return {row.code, std::move(message), std::string(row.hint)};
}

}  // namespace cronlatch::redis
