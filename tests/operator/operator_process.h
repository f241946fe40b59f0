// SPDX-License-Identifier: Apache-2.0
// OperatorProcess: the operator as a process of its own, on free ports, with certificates from
// files; and what can be seen of it from outside.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/certificates.h"
#include "support/program.h"
#include "connection.h"

namespace cronlatch::testing {

class OperatorProcess {
 public:
  struct Wish {
    std::vector<std::string> timing{};  // "header=300": of quick_operator; none: the real program
    int descriptors = 0;                // its limit; 0: as we have
    bool client_ca = false;             // it serves only clients of our authority
    std::string store = "rediss://redis.example:6379";
    std::string more{};  // lines of settings
  };
  OperatorProcess() : OperatorProcess(Wish{}) {}
  explicit OperatorProcess(const Wish& wish);

  Program& program() { return *program_; }
  int admission_port() const { return admission_port_; }
  int plain_port() const { return plain_port_; }
  const Certificates& certificates() const { return certificates_; }
  // Replaces the served pair as the kubelet does: the new files, then the link to them.
  void install(const std::string& cert_file, const std::string& key_file);

  TlsWish tls() const { return {.ca = certificates_.ca()}; }
  std::unique_ptr<Wire> connect() const;  // over TLS
  // One request on a connection of its own; nothing when there was no answer.
  std::optional<Answer> ask(const std::string& request) const;
  std::optional<Answer> ask_plain(const std::string& request) const;

  bool alive() const { return is_alive(program_->pid()); }
  int open_files() const;
  bool open_files_return_to(int before) const;
  std::string metrics() const;  // "" when there was no answer
  long resident_kb() const;
  double cpu_seconds() const;

 private:
  Certificates certificates_;
  ScratchDir dir_;
  int generation_ = 0;
  std::unique_ptr<Program> program_;
  int admission_port_ = 0, plain_port_ = 0;
};

// An AdmissionReview of a Job without any annotation, and with the uid.
std::string job_review(const std::string& uid);
// Of an annotated Job in the namespace demo whose command only its image knows.
std::string review_of_image(const std::string& image);

// ASan keeps freed memory, so what is resident says nothing there.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kMemoryTells = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool kMemoryTells = false;
#else
inline constexpr bool kMemoryTells = true;
#endif
#else
inline constexpr bool kMemoryTells = true;
#endif

}  // namespace cronlatch::testing
