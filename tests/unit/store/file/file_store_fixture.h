// SPDX-License-Identifier: Apache-2.0
// A file store in a temporary directory, with a clock that the test sets.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "contract/contract.h"
#include "store/file/file_store.h"
#include "unit/store/file/support.h"

namespace cronlatch::testing {

class FileWorld : public World {
 public:
  std::unique_ptr<Backend> open() override {
    return std::move(open_file_store(path(), [this] { return now; })).value();
  }
  void pass(Millis time) override { now = now + time; }
  std::string path() const { return dir / "locks"; }

  TempDir dir;
  ServerTime now{1'800'000'000'000'000};
};

class FileStore : public ::testing::Test {
 protected:
  Caller program(const std::string& owner) { return Caller(world_, "a/b", owner); }
  std::string file(const std::string& suffix) const { return world_.path() + "/a+b" + suffix; }
  FileWorld world_;
};

template <class T>
T expect(const std::optional<Reply>& reply) {
  if (reply && std::holds_alternative<T>(*reply)) return std::get<T>(*reply);
  ADD_FAILURE() << "another reply: " << (reply ? static_cast<int>(reply->index()) : -1);
  return {};
}
inline Unavailable expect_unavailable(const std::optional<Reply>& reply) {
  if (reply && std::holds_alternative<Unavailable>(*reply)) return std::get<Unavailable>(*reply);
  ADD_FAILURE() << "another reply: " << (reply ? static_cast<int>(reply->index()) : -1);
  return Unavailable{{Code::bug, ""}};
}
inline bool is_kernel_lock_free(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY);
  const bool free = flock(fd, LOCK_EX | LOCK_NB) == 0;
  close(fd);
  return free;
}

}  // namespace cronlatch::testing
