// SPDX-License-Identifier: Apache-2.0
// Records on disk: read back exactly, replaced completely, and refused when damaged.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <sstream>
#include <thread>

#include "base/fd.h"
#include "store/file/names.h"
#include "store/file/record_file.h"
#include "unit/store/file/support.h"

namespace cronlatch::file {
namespace {

using testing::TempDir;

// Every field set, texts that could break a line among them.
Stored everything() {
  Stored stored;
  rules::Record& r = stored.record;
  r.state = rules::HoldState::cooling;
  r.claim = {"0123456789abcdef0123456789abcdef", 7};
  r.identity = {"host with space:12\n%41", "shop/report", "-", ""};
  r.fence = 1'800'000'000'123'456;
  r.stole = 1'700'000'000'000'000;
  r.acquired = {1};
  r.expires = {-2};
  r.ttl = Micros(3);
  r.min_hold = Micros(6);
  r.born = {4};
  r.day = 5;
  r.jobs["shop/report"].values = {{"acquired", 3}, {"last_skip", 1'800'000'000'000'000}};
  r.jobs[""].values = {{"ungated", 1}};
  r.groups = {{"uid-1", 10}, {"\xc3\xa4 b", 11}};
  r.once["shop/report"] = {{"tick 1", 12}, {"tick-2", 13}};
  r.once[""] = {{"x", 14}};
  r.answers = {{"owner:1:r", 15}};
  stored.pid = 4711;
  stored.pid_namespace = 4'026'531'836;
  return stored;
}

// The same, with slots.
Stored several_slots() {
  Stored stored = everything();
  stored.slots = 1'000;
  stored.last_fence = 1'900'000'000'000'000;
  stored.others[2] = {rules::HoldState::held,
                      {"fedcba9876543210fedcba9876543210", 3},
                      {"a b", "-", "", "tick"},
                      1'900'000'000'000'000,
                      5,
                      {6},
                      {7},
                      Micros(8),
                      Micros(9),
                      10,
                      11};
  stored.others[1'000].state = rules::HoldState::cooling;
  return stored;
}

bool store(const LockFiles& files, const Stored& stored) {
  const auto before = open_record(files);
  return before.ok() && write_text(files, *before, encode(files.lock, stored)).ok();
}

class FileRecord : public ::testing::Test {
 protected:
  LockFiles files(const std::string& lock = "a/b") const {
    return {dir_.get(), temp_.path(), lock, *file_base(lock)};
  }
  std::string path() const { return temp_ / "a+b.rec"; }

  TempDir temp_;
  Fd dir_{open(temp_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
};

TEST_F(FileRecord, IsReadBackExactly) {
  for (const rules::HoldState state :
       {rules::HoldState::none, rules::HoldState::free, rules::HoldState::held,
        rules::HoldState::revoked, rules::HoldState::cooling}) {
    Stored stored = everything();
    stored.record.state = state;
    ASSERT_TRUE(store(files(), stored));
    const auto read = read_record(files());
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(*read, stored);
  }
}

TEST_F(FileRecord, WithSlotsIsReadBackExactly) {
  ASSERT_TRUE(store(files(), several_slots()));
  const auto read = read_record(files());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, several_slots());
}

// Version 0.1.0 refuses each other version, and so runs beside no holder of another slot.
TEST_F(FileRecord, WithSlotsHasAnotherVersion) {
  const std::string text = encode("a/b", several_slots());
  EXPECT_EQ(text.substr(0, text.find("seat")),
            "cronlatch-lock 2\nlock a/b\nslots 1000 1900000000000000\n");
  EXPECT_NE(text.find("\nslot 2 held fedcba9876543210fedcba9876543210 3 a%20b %2d - tick "
                      "1900000000000000 5 6 7 8 9 10 11\n"),
            std::string::npos)
      << text;
}

TEST_F(FileRecord, WithASlotThatItDoesNotHaveIsDamaged) {
  for (const unsigned slots : {2U, 999U, 1'001U}) {
    Stored stored = several_slots();
    stored.slots = slots;
    EXPECT_FALSE(decode("a/b", encode("a/b", stored)).ok()) << slots;
  }
  Stored stored = several_slots();
  stored.others[1] = {};
  EXPECT_FALSE(decode("a/b", encode("a/b", stored)).ok());
}

TEST_F(FileRecord, IsReadableText) {
  const std::string text = encode("a/b", everything());
  EXPECT_EQ(text.substr(0, text.find("fence")),
            "cronlatch-lock 1\nlock a/b\nseat cooling\nowner "
            "0123456789abcdef0123456789abcdef\nattempt 7\n"
            "holder host%20with%20space:12%0a%2541\njob shop/report\ngroup %2d\nonce -\n");
}

// Version 0.1.0 refuses a record with an unknown line.
TEST_F(FileRecord, HasOnlyLinesThatVersion010Reads) {
  const std::vector<std::string> known{
      "cronlatch-lock", "lock", "seat",  "owner",         "attempt",  "holder",  "job",
      "group",          "once", "fence", "stole",         "acquired", "expires", "ttl",
      "born",           "day",  "pid",   "pid-namespace", "counter",  "granted", "finished",
      "answered",       "end"};
  std::istringstream text(encode("a/b", everything()));
  std::size_t at = 0;
  for (std::string line; std::getline(text, line);) {
    const auto here = std::find(known.begin() + static_cast<long>(at), known.end(),
                                line.substr(0, line.find(' ')));
    ASSERT_NE(here, known.end()) << line;
    at = static_cast<std::size_t>(here - known.begin());
    EXPECT_TRUE(at < 18 || std::count(line.begin(), line.end(), ' ') <= 3) << line;
  }
  EXPECT_EQ(known[at], "end");
}

TEST_F(FileRecord, KeepsAMinHoldOnlyWithItsGrant) {
  Stored stored = everything();
  const std::string text = encode("a/b", stored);
  EXPECT_NE(text.find("answered 0123456789abcdef0123456789abcdef:7:m 7\n"), std::string::npos);
  // As version 0.1.0 leaves it when it grants the lock to another claim.
  stored.record.answers["0123456789abcdef0123456789abcdef:7:m"] = 7;
  stored.record.claim.attempt = 8;
  stored.record.min_hold = Micros(0);
  EXPECT_EQ(decode("a/b", encode("a/b", stored))->record.min_hold, Micros(0));
}

TEST_F(FileRecord, IsReadableForThisUserOnly) {
  ASSERT_TRUE(store(files(), everything()));
  struct stat st {};
  ASSERT_EQ(stat(path().c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0600u);
}

TEST_F(FileRecord, ThatIsMissingOrEmptyWasNeverGranted) {
  EXPECT_EQ(*read_record(files()), Stored{});
  testing::write_file(path(), "");
  EXPECT_EQ(*read_record(files()), Stored{});
}

TEST_F(FileRecord, IsReplacedAlsoAfterAnInterruptedWrite) {
  testing::write_file(temp_ / "a+b.new", std::string(100'000, 'x'));
  ASSERT_TRUE(store(files(), everything()));
  EXPECT_EQ(*read_record(files()), everything());
  EXPECT_FALSE(std::filesystem::exists(temp_ / "a+b.new"));
}

ino_t inode_of(const std::string& path) {
  struct stat st {};
  return stat(path.c_str(), &st) == 0 ? st.st_ino : 0;
}

TEST_F(FileRecord, IsOverwrittenInItsPage) {
  ASSERT_TRUE(store(files(), everything()));
  const ino_t first = inode_of(path());
  Stored shorter;
  shorter.record.fence = 5;

  ASSERT_TRUE(store(files(), shorter));

  EXPECT_EQ(inode_of(path()), first);
  EXPECT_EQ(*read_record(files()), shorter);
}

TEST_F(FileRecord, IsReplacedWhenItExceedsThePageOrFitsAgain) {
  ASSERT_TRUE(store(files(), everything()));
  const ino_t first = inode_of(path());
  Stored large = everything();
  for (int i = 0; i < 500; ++i) large.record.groups["group-" + std::to_string(i)] = i;

  ASSERT_TRUE(store(files(), large));
  EXPECT_NE(inode_of(path()), first);
  EXPECT_EQ(*read_record(files()), large);

  ASSERT_TRUE(store(files(), everything()));
  EXPECT_EQ(*read_record(files()), everything());
}

TEST_F(FileRecord, IsNeverReadIncompleteWithoutTheMutex) {
  // Almost a page, all of it different: without the checksum a reader gets a mixture a few times in
  // a thousand.
  Stored even, odd;
  even.record.identity.holder = std::string(3'600, 'e');
  odd.record.identity.holder = std::string(3'600, 'o');
  ASSERT_TRUE(store(files(), even));
  std::atomic<bool> stop{false};
  std::jthread writer([&, before = open_record(files())] {
    const std::string texts[] = {encode("a/b", even), encode("a/b", odd)};
    for (int i = 0; !stop; ++i)
      if (!write_text(files(), *before, texts[i % 2]).ok()) return;
  });

  int strange = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto read = read_record(files());
    if (!read.ok() || (*read != even && *read != odd)) ++strange;
  }
  stop = true;

  EXPECT_EQ(strange, 0);
}

TEST_F(FileRecord, CutOffAnywhereIsDamaged) {
  for (const std::string& text : {encode("a/b", everything()), encode("a/b", several_slots())})
    for (std::size_t length = 1; length < text.size(); ++length)
      EXPECT_FALSE(decode("a/b", text.substr(0, length)).ok()) << length;
}

TEST_F(FileRecord, ThatIsDamagedIsNamedAndNotChanged) {
  const std::string text = encode("a/b", everything()).substr(0, 30);
  testing::write_file(path(), text);
  const auto read = read_record(files());
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, Code::config);
  EXPECT_NE(read.error().message.find(path() + " is damaged: line 3"), std::string::npos)
      << read.error().message;
  EXPECT_EQ(testing::content_of(path()), text);
}

TEST_F(FileRecord, ThatWasEditedByHandNeedsNoChecksum) {
  const std::string text = encode("a/b", everything());
  const auto read = decode("a/b", text.substr(0, text.rfind("\nend ")) + "\nend\n");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, everything());
}

TEST_F(FileRecord, WithAnythingChangedIsDamagedOrDifferentButNeverTheSame) {
  const std::string text = encode("a/b", everything());
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = changed[at] == '\0' ? 'x' : static_cast<char>(changed[at] ^ 0x10);
    const auto read = decode("a/b", changed);
    EXPECT_FALSE(read.ok() && *read == everything()) << "byte " << at;
  }
}

// As written by version 0.1.0, with its checksum.
TEST_F(FileRecord, OfAnEarlierBuildIsRead) {
  const std::string text =
      "cronlatch-lock 1\n"
      "lock _cmd/6d9387f23a79ea8f\n"
      "seat free\n"
      "owner 6c642259b6ef47486dfe274459a07ac5\n"
      "attempt 1\n"
      "holder vm:11950:c7b4c58b-98f6-4574-95f7-95995582f115\n"
      "job -\n"
      "group -\n"
      "once -\n"
      "fence 1795319242520807\n"
      "stole 0\n"
      "acquired 1795319242520807\n"
      "expires 0\n"
      "ttl 0\n"
      "born 1795302971856401\n"
      "day 20779\n"
      "pid 11950\n"
      "pid-namespace 4026531836\n"
      "counter - acquired 7\n"
      "counter - hold_0 7\n"
      "counter - hold_ms 47\n"
      "counter - last_success 1795319242523309\n"
      "counter - released 7\n"
      "counter - runs_succeeded 7\n"
      "answered 6c642259b6ef47486dfe274459a07ac5:1:r 1795319842523309\n"
      "end a8b672e695058902\n";
  const auto read = decode("_cmd/6d9387f23a79ea8f", text);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->record.jobs.at("").values.at("released"), 7);

  std::string changed = text;
  changed.replace(changed.find("released 7"), 10, "released 8");
  EXPECT_FALSE(decode("_cmd/6d9387f23a79ea8f", changed).ok());
}

TEST_F(FileRecord, OfInvalidLinesIsDamaged) {
  for (const std::string& text :
       {std::string("\n"), std::string("hello\n"), std::string(64, '\0'),
        std::string("cronlatch-lock 1\n"), std::string("cronlatch-lock\n"),
        encode("a/b", everything()) + "more\n", encode("a/c", everything())})
    EXPECT_FALSE(decode("a/b", text).ok()) << text.substr(0, 30);
}

// Without a checksum: a record that was edited by hand.
TEST_F(FileRecord, WithACounterThatCannotGrowIsDamaged) {
  const std::string text = encode("a/b", everything());
  for (const std::string value : {"-1", "9006199254740992", "9223372036854775807", "many"}) {
    std::string changed = text.substr(0, text.rfind("\nend ")) + "\nend\n";
    changed.replace(changed.find("acquired 3"), 10, "acquired " + value);
    EXPECT_FALSE(decode("a/b", changed).ok()) << value;
  }
}

TEST_F(FileRecord, WithATextThatIsLongerThanAnyOptionIsDamaged) {
  Stored stored = everything();
  for (const char filler : {'x', '\n'}) {
    stored.record.identity.holder = std::string(4'096, filler);
    EXPECT_TRUE(decode("a/b", encode("a/b", stored)).ok());
    stored.record.identity.holder += filler;
    EXPECT_FALSE(decode("a/b", encode("a/b", stored)).ok());
  }
  stored = everything();
  stored.record.jobs[std::string(5'000, 'x')].values["acquired"] = 1;
  EXPECT_FALSE(decode("a/b", encode("a/b", stored)).ok());
}

TEST_F(FileRecord, OfAnotherVersionIsReported) {
  const auto read = decode("a/b", "cronlatch-lock 3\nwhatever\n");
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("another version (3)"), std::string::npos);
}

TEST_F(FileRecord, ThatIsALinkOrADirectoryIsNotFollowed) {
  std::filesystem::create_symlink("/etc/passwd", path());
  EXPECT_FALSE(read_record(files()).ok());
  std::filesystem::remove(path());
  std::filesystem::create_directory(path());
  EXPECT_FALSE(read_record(files()).ok());
}

}  // namespace
}  // namespace cronlatch::file
