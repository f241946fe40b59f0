// SPDX-License-Identifier: Apache-2.0
// Relay: a TCP relay on 127.0.0.1 that forwards bytes unchanged and counts connections, round trips
// and, for plaintext, RESP commands.
#pragma once

#include <string>
#include <thread>
#include <vector>

namespace bench {

struct Traffic {
  int connections = 0;
  int round_trips = 0;  // one for each SYN, one for each request that was followed by a reply
  std::vector<std::string> commands;  // names, in order; empty when the bytes are encrypted
};

class Relay {
 public:
  explicit Relay(int server_port);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  int port() const { return port_; }
  // Stops the relay and returns the counts.
  Traffic stop();

 private:
  void serve();
  void serve_connection(int client);

  int server_port_;
  int listener_ = -1;
  int port_ = 0;
  int stop_pipe_[2] = {-1, -1};
  Traffic seen_;
  std::thread thread_;
};

// Names of the RESP commands (arrays of bulk strings) in `bytes`.
std::vector<std::string> resp_commands(const std::string& bytes);

}  // namespace bench
