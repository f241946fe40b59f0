// SPDX-License-Identifier: Apache-2.0
// DnsServer: a nameserver on a free UDP port of 127.0.0.1 that returns the given A records, or one
// that does not answer.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace cronlatch::testing {

class DnsServer {
 public:
  using Records = std::map<std::string, std::vector<std::string>>;  // name -> IPv4 addresses
  explicit DnsServer(Records records);
  // Receives queries and does not answer.
  static DnsServer silent() { return DnsServer(Mood::silent, {}); }
  ~DnsServer();
  DnsServer(const DnsServer&) = delete;
  DnsServer& operator=(const DnsServer&) = delete;

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  std::vector<std::string> questions() const;  // the names of the A queries, in order
  void set(Records records);

 private:
  enum class Mood { talking, silent };
  DnsServer(Mood mood, Records records);
  void serve();
  std::string answer_to(const std::string& query);

  Mood mood_;
  int socket_;
  int port_ = 0;
  int stop_[2];
  mutable std::mutex mutex_;
  Records records_;
  std::vector<std::string> questions_;
  std::thread thread_;
};

}  // namespace cronlatch::testing
