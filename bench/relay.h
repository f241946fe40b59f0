// SPDX-License-Identifier: Apache-2.0
// Relay: a TCP relay on 127.0.0.1 that hands bytes on unchanged and counts what a run costs on the
// wire. It knows two things about the bytes: their direction and, for plaintext, where a RESP
// command begins.
#pragma once

#include <string>
#include <thread>
#include <vector>

namespace bench {

struct Traffic {
  int connections = 0;
  int round_trips = 0;  // one for each SYN, one for each time we spoke and were answered
  std::vector<std::string> commands;  // first words, in order; empty when the bytes are encrypted
};

class Relay {
 public:
  explicit Relay(int server_port);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  int port() const { return port_; }
  // Stops relaying; what was seen until then.
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

// First words of the RESP commands (arrays of bulk strings) in `bytes`.
std::vector<std::string> resp_commands(const std::string& bytes);

}  // namespace bench
