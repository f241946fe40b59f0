// SPDX-License-Identifier: Apache-2.0
// The record of a lock on disk. Writers hold the lock's mutex; readers need no lock. A record that
// fits into a page is overwritten in place; a larger file is replaced.
#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "store/file/record_codec.h"

namespace cronlatch::file {

// The files of one lock; does not own the descriptor of the directory.
struct LockFiles {
  int directory = -1;
  std::string path;  // of the directory, for messages
  std::string lock;
  std::string base;  // file_base(lock)
  std::string path_of(std::string_view suffix) const;
};

// For callers without the mutex: reads again while a write is in progress. A missing or empty file
// is a lock that was never granted. Code::config names an invalid file, which is not changed.
Result<Stored> read_record(const LockFiles& files);

// For callers with the mutex: the file and its text ("" without a file), which is compared with the
// new text before a write.
struct RecordFile {
  Fd fd;
  std::string text;
};
Result<RecordFile> open_record(const LockFiles& files);
Result<Stored> decode_record(const LockFiles& files, std::string_view text);
// `before` is the result of open_record. The file is not synced: a power failure within the next 30
// seconds can lose the write (a new record is then empty). Fences continue from the clock.
Status write_text(const LockFiles& files, const RecordFile& before, std::string text);

}  // namespace cronlatch::file
