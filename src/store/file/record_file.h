// SPDX-License-Identifier: Apache-2.0
// The record of a lock on disk. Writers hold the lock's mutex; readers need no lock. A record that
// fits into a page is overwritten in files, a larger one is replaced as a whole.
#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "store/file/record_codec.h"

namespace cronlatch::file {

// Where the files of one lock are; the directory's descriptor is borrowed.
struct LockFiles {
  int directory = -1;
  std::string path;  // of the directory, for messages
  std::string lock;
  std::string base;  // file_base(lock)
  std::string path_of(std::string_view suffix) const;
};

// No file, and an empty one, is a lock that was never granted. Code::config names the file that
// cannot be understood: it is left as it is. For who does not hold the mutex: it looks again
// while a writer is seen at work.
Result<Stored> read_record(const LockFiles& files);

// For who holds the mutex: the file, and its text as it stands ("" where there is no file), to know
// later whether anything has changed.
struct RecordFile {
  Fd fd;
  std::string text;
};
Result<RecordFile> open_record(const LockFiles& files);
Result<Stored> decode_record(const LockFiles& files, std::string_view text);
// `before` is what open_record gave. Not synced: a power cut within the next half minute may take
// what was written away (a new record is then empty), and fences go on from the clock.
Status write_text(const LockFiles& files, const RecordFile& before, std::string text);

}  // namespace cronlatch::file
