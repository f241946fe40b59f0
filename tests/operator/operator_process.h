// SPDX-License-Identifier: Apache-2.0
// OperatorProcess: the operator as a child process on free ports, with certificates from files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "connection.h"
#include "support/certificates.h"
#include "support/program.h"

namespace cronlatch::testing {

class OperatorProcess {
 public:
  struct Options {
    std::vector<std::string>
        timing{};         // "header=300": options of quick_operator; empty: the program that ships
    int descriptors = 0;  // limit of open files; 0: inherited
    bool client_ca = false;  // it serves only clients of the test CA
    std::string store = "rediss://redis.example:6379";
    std::string more{};              // further lines of settings
    std::vector<std::string> env{};  // further variables: "NAME=value"
  };
  OperatorProcess() : OperatorProcess(Options{}) {}
  explicit OperatorProcess(const Options& options);
  ~OperatorProcess();  // a report of the thread sanitizer in its log fails the test
  OperatorProcess(const OperatorProcess&) = delete;
  OperatorProcess& operator=(const OperatorProcess&) = delete;

  Program& program() { return *program_; }
  int admission_port() const { return admission_port_; }
  int plain_port() const { return plain_port_; }
  const Certificates& certificates() const { return certificates_; }
  // Replaces the served pair as the kubelet does: new files, then the symbolic link to them.
  void install(const std::string& cert_file, const std::string& key_file);

  TlsClientOptions tls() const { return {.ca = certificates_.ca()}; }
  std::unique_ptr<TestConnection> connect() const;  // over TLS
  // One request on its own connection; nothing without a response.
  std::optional<Answer> ask(const std::string& request) const;
  std::optional<Answer> ask_plain(const std::string& request) const;

  bool alive() const { return is_alive(program_->pid()); }
  int open_files() const;
  bool open_files_return_to(int before) const;
  std::string metrics() const;  // "" without a response
  long resident_kb() const;
  double cpu_seconds() const;

 private:
  Certificates certificates_;
  ScratchDir dir_;
  int generation_ = 0;
  std::unique_ptr<Program> program_;
  int admission_port_ = 0, plain_port_ = 0;
};

// An AdmissionReview of a Job without annotations, with this uid.
std::string job_review(const std::string& uid);
// Of an annotated Job without `command` in the namespace demo.
std::string review_of_image(const std::string& image);

// The sanitizers keep freed memory, so that resident memory cannot be checked.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kChecksMemory = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kChecksMemory = false;
#else
inline constexpr bool kChecksMemory = true;
#endif
#else
inline constexpr bool kChecksMemory = true;
#endif

}  // namespace cronlatch::testing
