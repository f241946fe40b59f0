// SPDX-License-Identifier: Apache-2.0
// Included first into each source of the preset plugin-portable: without the macros that only Linux
// has, the code for other systems is compiled, and a use that is not conditional is an error.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#undef CLOCK_BOOTTIME
#undef CLOCK_MONOTONIC_COARSE
#undef CLOCK_MONOTONIC_RAW
#undef CLOCK_REALTIME_COARSE
#undef F_DUPFD_QUERY
#undef F_GETPIPE_SZ
#undef F_SETPIPE_SZ
#undef MSG_NOSIGNAL
#undef O_DIRECT
#undef O_LARGEFILE
#undef O_NOATIME
#undef O_PATH
#undef O_TMPFILE
#undef POLLRDHUP
#undef RWF_HIPRI
#undef RWF_NOWAIT
#undef SOCK_CLOEXEC
#undef SOCK_NONBLOCK
