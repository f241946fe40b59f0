// SPDX-License-Identifier: Apache-2.0
// Unbuffered writes to the standard streams: the caller gets every error.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace cronlatch {

// All of `text`, or Code::system with the reason (a closed pipe, a full disk).
Status write_stdout(std::string_view text);

// Best effort, never blocks: a run whose log is not read must still renew its lease.
void write_stderr(std::string_view text);

// Writes what `fd` accepts at once and drops the rest.
void write_now(int fd, std::string_view text);

// Writes everything to `fd`, waiting where it would block; the errno of the failure, or 0. With a
// limit and a non-blocking `fd` it returns EAGAIN when it has waited that long.
int write_all(int fd, std::string_view text, std::optional<Millis> limit = std::nullopt);

// "cronlatch: message (hint)" with a newline, as the log renders it.
std::string describe(const Error& error);

}  // namespace cronlatch
