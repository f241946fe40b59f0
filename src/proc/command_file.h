// SPDX-License-Identifier: Apache-2.0
// A command in a file without a name (memfd_create(2)), for a process that inherits its descriptor:
// arguments and environment can be larger than a message.
#pragma once

#include <optional>

#include "base/fd.h"
#include "core/supervisor.h"

namespace cronlatch {

Fd create_command_file();  // an Fd without a descriptor, with errno, where it cannot be created
// False with errno.
bool write_command(int fd, const Command& command);
// What write_command has written.
std::optional<Command> read_command(int fd);

}  // namespace cronlatch
