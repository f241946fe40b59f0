// SPDX-License-Identifier: Apache-2.0
// Starts the program and reads its log line `listening` for the ports.
#include "operator_process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace cronlatch::testing {
namespace {

namespace fs = std::filesystem;

int number_after(const std::string& text, const std::string& key) {
  const auto at = text.find(key);
  return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + key.size());
}

}  // namespace

OperatorProcess::OperatorProcess(const Options& options) {
  install(certificates_.good().cert, certificates_.good().key);
  std::ofstream(dir_.path("operator.yaml"))
      << "admission-address: 127.0.0.1:0\nplain-address: 127.0.0.1:0\n"
      << "namespace: cronlatch\nimage: cronlatch.test/cronlatch:dev\n"
      << "store: " << options.store << "\n"
      << options.more << "certificate-mode: files\ncertificate-dir: " << dir_.path("current")
      << "\n"
      << (options.client_ca ? "client-ca-file: " + certificates_.ca() + "\n" : "");
  std::vector<std::string> argv;
  if (options.descriptors != 0) {
    argv = {"/bin/sh", "-c", "ulimit -n " + std::to_string(options.descriptors) + "; exec \"$@\"",
            "sh"};
  }
  if (options.timing.empty()) {
    argv.emplace_back(CRONLATCH_OPERATOR_PROGRAM);
  } else {
    argv.emplace_back(CRONLATCH_QUICK_OPERATOR);
    argv.insert(argv.end(), options.timing.begin(), options.timing.end());
    argv.emplace_back("--");
  }
  argv.insert(argv.end(), {"--config", dir_.path("operator.yaml")});
  ProgramSpec spec{.argv = argv};
  spec.env.insert(spec.env.end(), options.env.begin(), options.env.end());
  if (const char* const options_of_tsan = std::getenv("TSAN_OPTIONS"))
    spec.env.push_back("TSAN_OPTIONS=" + std::string(options_of_tsan));
  program_ = std::make_unique<Program>(spec);
  if (!program_->complains("\"event\":\"listening\"") || !program_->complains("\"namespace\"")) {
    std::fprintf(stderr, "the operator does not listen:\n%s", program_->err().c_str());
    std::abort();
  }
  admission_port_ = number_after(program_->err(), "\"admission_port\":\"");
  plain_port_ = number_after(program_->err(), "\"plain_port\":\"");
}

OperatorProcess::~OperatorProcess() {
  if (program_->complains("WARNING: ThreadSanitizer", std::chrono::milliseconds(0)))
    ADD_FAILURE() << program_->err();
}

void OperatorProcess::install(const std::string& cert_file, const std::string& key_file) {
  const std::string fresh = dir_.path("generation-" + std::to_string(++generation_));
  fs::create_directory(fresh);
  fs::copy_file(cert_file, fresh + "/tls.crt");
  fs::copy_file(key_file, fresh + "/tls.key");
  fs::copy_file(certificates_.ca(), fresh + "/ca.crt");
  fs::create_directory_symlink(fresh, dir_.path("next"));
  fs::rename(dir_.path("next"), dir_.path("current"));
}

std::unique_ptr<TestConnection> OperatorProcess::connect() const {
  return std::make_unique<TestConnection>(admission_port_, tls());
}

std::optional<Answer> OperatorProcess::ask(const std::string& request) const {
  TestConnection connection(admission_port_, tls());
  if (!connection.connected() || !connection.send(request)) return std::nullopt;
  return connection.answer();
}

std::optional<Answer> OperatorProcess::ask_plain(const std::string& request) const {
  TestConnection connection(plain_port_);
  if (!connection.connected() || !connection.send(request)) return std::nullopt;
  return connection.answer();
}

std::string OperatorProcess::metrics() const {
  const auto answer = ask_plain(get("/metrics"));
  return answer && answer->status == 200 ? answer->body : "";
}

int OperatorProcess::open_files() const {
  const fs::directory_iterator all("/proc/" + std::to_string(program_->pid()) + "/fd");
  return static_cast<int>(std::distance(begin(all), end(all)));
}

bool OperatorProcess::open_files_return_to(int before) const {
  return eventually([&] { return open_files() <= before; });
}

long OperatorProcess::resident_kb() const {
  return number_after(read_file("/proc/" + std::to_string(program_->pid()) + "/status"), "VmRSS:");
}

double OperatorProcess::cpu_seconds() const {
  const std::string stat = read_file("/proc/" + std::to_string(program_->pid()) + "/stat");
  long user = 0;
  long system = 0;
  // Behind the name in brackets: state, ten numbers, utime, stime (proc(5)).
  std::sscanf(stat.c_str() + stat.rfind(')') + 1,
              " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user, &system);
  return static_cast<double>(user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

std::string job_review(const std::string& uid) {
  return R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":")" +
         uid +
         R"(","kind":{"group":"batch","version":"v1","kind":"Job"},)"
         R"("resource":{"group":"batch","version":"v1","resource":"jobs"},)"
         R"("namespace":"demo","name":"one","operation":"CREATE","object":{"apiVersion":"batch/v1",)"
         R"("kind":"Job","metadata":{"name":"one","namespace":"demo"},"spec":{"template":{"spec":)"
         R"({"containers":[{"name":"main","image":"busybox","command":["true"]}],)"
         R"("restartPolicy":"Never"}}}}}})";
}

std::string review_of_image(const std::string& image) {
  return R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u",)"
         R"("namespace":"demo","operation":"CREATE","object":{"apiVersion":"batch/v1","kind":"Job",)"
         R"("metadata":{"name":"one","namespace":"demo","annotations":{"cronlatch.dev/lock":"one"}},)"
         R"("spec":{"template":{"spec":{"containers":[{"name":"main","image":")" +
         image + R"("}],"restartPolicy":"Never"}}}}}})";
}

}  // namespace cronlatch::testing
