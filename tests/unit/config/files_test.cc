// SPDX-License-Identifier: Apache-2.0
#include "config/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <thread>

namespace cronlatch {
namespace {

class DiskTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "cronlatch-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    dir_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(dir_ + "/" + name, std::ios::binary) << text;
    return dir_ + "/" + name;
  }
  std::string dir_;
  const HostFiles disk_{};
};

TEST_F(DiskTest, ReadsAWholeFile) {
  const std::string text = std::string(10'000, 'x') + '\0' + "end";
  const FileText file = disk_.read(write("a", text));
  EXPECT_EQ(file.error, 0);
  EXPECT_EQ(file.text, text);
}

TEST_F(DiskTest, ReportsWhyItCannotRead) {
  EXPECT_EQ(disk_.read(dir_ + "/none").error, ENOENT);
  EXPECT_EQ(disk_.read(write("file", "x") + "/below").error, ENOTDIR);
  EXPECT_EQ(disk_.read(dir_).error, EISDIR);
}

TEST_F(DiskTest, RefusesWhatIsTooLongToBeConfiguration) {
  EXPECT_EQ(disk_.read(write("big", std::string((1U << 20U) + 1, 'x'))).error, EFBIG);
  EXPECT_NE(read_hint(EFBIG).find("at most 1 MiB"), std::string::npos) << read_hint(EFBIG);
}

// Not an empty file, in which every option has its default.
TEST_F(DiskTest, WaitsForAProcessThatOpensAFifo) {
  const std::string path = dir_ + "/fifo";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(disk_.read(path).error, ETIMEDOUT);
  EXPECT_EQ(
      read_hint(ETIMEDOUT),
      "it is a pipe that no process wrote to in time: start its writer first, or name a file");
  std::thread writer([&] { std::ofstream(path) << "ttl: 1m\n"; });  // waits for a reader
  EXPECT_EQ(HostFiles(std::chrono::seconds(30)).read(path).text, "ttl: 1m\n");
  writer.join();
}

// `--password-file <(command)`: the writer has not written yet.
TEST_F(DiskTest, WaitsForAWriterAtTheStartOnly) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const std::string path = "/dev/fd/" + std::to_string(ends[0]);
  EXPECT_EQ(disk_.read(path).error, ETIMEDOUT);
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // usually after the first read
    EXPECT_EQ(::write(ends[1], "secret\n", 7), 7);
    close(ends[1]);
  });
  EXPECT_EQ(HostFiles(std::chrono::seconds(30)).read(path).text, "secret\n");
  writer.join();
  EXPECT_EQ(HostFiles(std::chrono::seconds(30)).read(path).text, "");
  close(ends[0]);
}

TEST_F(DiskTest, DoesNotWaitForASilentWriterForever) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const HostFiles impatient(std::chrono::milliseconds(1));
  EXPECT_EQ(impatient.read("/dev/fd/" + std::to_string(ends[0])).error, ETIMEDOUT);
  close(ends[0]);
  close(ends[1]);
}

TEST_F(DiskTest, KnowsWhatExists) {
  EXPECT_TRUE(disk_.exists(write("a", "")));
  EXPECT_TRUE(disk_.exists(dir_));
  EXPECT_FALSE(disk_.exists(dir_ + "/none"));
  EXPECT_FALSE(disk_.exists(dir_ + "/a/below"));
}

}  // namespace
}  // namespace cronlatch
