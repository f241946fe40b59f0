// SPDX-License-Identifier: Apache-2.0
// Sockets of 127.0.0.1 for the proxies of tests.
#pragma once

#include <netinet/in.h>

namespace cronlatch::testing {

sockaddr_in loopback(int port);
// A listening socket at a free port, closed on exec. Aborts the test program without one.
int listen_on_loopback(int& port);
void send_at_once(int fd);  // TCP_NODELAY

}  // namespace cronlatch::testing
