// SPDX-License-Identifier: Apache-2.0
// Keys and files of lock names. Oracles: two names do not share a key or a file; all keys of one
// lock have its tag and one hash slot (computed here, from the Cluster specification); the lock
// name can be computed from the file name. The tag is the lock name, or the key of another program
// that the lock shares; that key has neither prefix nor tag. Input: key-prefix, newline, a lock
// name, newline, another lock name.
#include <algorithm>
#include <set>

#include "core/lock_name.h"
#include "fuzz/oracle.h"
#include "options/options.h"
#include "store/file/names.h"
#include "store/redis/script_codec.h"

namespace {

using namespace cronlatch;

// CRC16 (XMODEM) modulo 16384 of the text between the first '{' and the next '}'.
unsigned hash_slot_of(std::string_view key) {
  const std::size_t open = key.find('{');
  if (open != std::string_view::npos) {
    const std::size_t close = key.find('}', open + 1);
    if (close != std::string_view::npos && close > open + 1)
      key = key.substr(open + 1, close - open - 1);
  }
  unsigned crc = 0;
  for (const char c : key) {
    crc ^= static_cast<unsigned>(static_cast<unsigned char>(c)) << 8;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
    crc &= 0xFFFF;
  }
  return crc % 16384;
}

// EVAL <script> <number of keys> <key>...
void collect_keys(const std::vector<std::string>& command, std::set<std::string>& keys) {
  const std::size_t count = std::stoul(command.at(2));
  fuzz::must(count >= 1 && command.size() >= 3 + count, "a script names its keys");
  for (std::size_t i = 0; i < count; ++i) keys.insert(command[3 + i]);
}

std::set<std::string> keys_of(const std::string& prefix, const std::string& lock) {
  std::set<std::string> keys;
  Acquire acquire;
  acquire.lock = lock;
  Renew renew;
  renew.lock = lock;
  Release release;
  release.lock = lock;
  for (const Request& request : {Request{acquire}, Request{renew}, Request{release}})
    collect_keys(redis::encode(request, prefix, ServerTime{1}), keys);
  collect_keys(redis::encode_revoke(lock, prefix, ServerTime{1}), keys);
  keys.insert(redis::record_key(prefix, lock));
  keys.insert(redis::stats_key(prefix, lock));
  return keys;
}

// Removes the key of another program, the only one without prefix and brace. Returns the tag.
std::string take_tag(std::set<std::string>& keys, const std::string& prefix,
                     const std::string& lock) {
  const auto foreign = std::find_if_not(keys.begin(), keys.end(), [&](const std::string& key) {
    return key.starts_with(prefix + "{");
  });
  if (foreign == keys.end()) return lock;
  fuzz::must(lock.starts_with("_cronlock/") || lock.starts_with("_redlock/"),
             "only a shared lock has a key of another program");
  std::string tag = *foreign;
  keys.erase(foreign);
  return tag;
}

bool disjoint(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::none_of(a.begin(), a.end(), [&](const std::string& key) { return b.contains(key); });
}

void check_keys(const std::string& prefix, const std::string& lock, const std::string& other) {
  std::set<std::string> keys = keys_of(prefix, lock);
  const std::string tag = take_tag(keys, prefix, lock);
  const unsigned hash_slot = hash_slot_of(tag);
  for (const std::string& key : keys) {
    fuzz::must(key.starts_with(prefix + "{" + tag + "}"), "a key begins with prefix and tag");
    fuzz::must(hash_slot_of(key) == hash_slot, "all keys of a lock have its hash slot");
    fuzz::must(key != redis::index_key(prefix), "no lock's key is the index");
  }
  if (lock != other)
    fuzz::must(disjoint(keys, keys_of(prefix, other)), "two names do not share a key");
}

void check_files(const std::string& lock, const std::string& other) {
  const Result<std::string> base = file::file_base(lock);
  if (!base) {
    fuzz::must(!check_lock_name(lock).ok(), "every lock name has a file name");
    return;
  }
  fuzz::must(!base->empty() && base->front() != '.', "no file is hidden, none is . or ..");
  fuzz::must(!fuzz::contains(*base, "/") && !fuzz::contains(*base, std::string_view("\0", 1)),
             "a file name is one name");
  const std::string record = file::with_suffix(*base, file::kRecordSuffix);
  if (check_lock_name(lock).ok())
    fuzz::must(file::lock_of_record(record) == lock,
               "the lock name can be computed from the file name");
  if (const Result<std::string> second = file::file_base(other); second && lock != other)
    fuzz::must(*base != *second, "two names do not share a file");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::vector<std::string> parts = fuzz::split(fuzz::text_of(bytes, size), '\n');
  if (parts.size() != 3) return 0;
  check_files(parts[1], parts[2]);
  Options options;
  if (!set_option(options, *find_option("key-prefix"), parts[0]).ok()) return 0;
  if (!check_lock_name(parts[1]).ok() || !check_lock_name(parts[2]).ok()) return 0;
  check_keys(options.key_prefix, parts[1], parts[2]);
  return 0;
}
