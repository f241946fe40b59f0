// SPDX-License-Identifier: Apache-2.0
// The error matrix of the file store: the states of its directory and its files that the kernel, or
// another program, can cause.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "unit/store/file/support.h"

namespace cronlatch::testing {

inline const std::string kRecord = "/a+b.rec", kMutex = "/a+b.mutex", kLock = "/a+b.lock";

// What a case changes, and its end.
class Scene {
 public:
  explicit Scene(std::string at) : directory(std::move(at)) {}
  ~Scene() {
    if (is_user_ && seteuid(0) != 0) abort();
    if (is_mounted_) umount2(directory.c_str(), MNT_DETACH);
    if (fd >= 0) close(fd);
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  void become_user() { is_user_ = seteuid(65'534) == 0; }
  void mount_with(const char* options, unsigned long flags = 0) {
    is_mounted_ = mount("none", directory.c_str(), "tmpfs", flags, options) == 0;
  }
  void replace(const std::string& file, const std::function<void(const std::string&)>& by) const {
    std::filesystem::remove_all(directory + file);
    by(directory + file);
  }

  const std::string directory;
  int fd = -1;

 private:
  bool is_user_ = false, is_mounted_ = false;
};

enum class Verbs { all, acquire };

struct FileCase {
  const char* name;
  Code code;
  std::string text;
  std::function<void(Scene&)> change;  // after the first run of the lock
  bool needs_root = false;
  Verbs verbs = Verbs::all;
};
inline void PrintTo(const FileCase& file_case, std::ostream* out) { *out << file_case.name; }

inline std::vector<FileCase> file_cases() {
  const auto directory_by = [](const std::string& path) {
    std::filesystem::create_directory(path);
  };
  const auto link_by = [](const std::string& path) {
    std::filesystem::create_symlink("/dev/null", path);
  };
  const auto loop_by = [](const std::string& path) { std::filesystem::create_symlink(path, path); };
  const auto text_by = [](const std::string& text) {
    return [text](const std::string& path) { write_file(path, text); };
  };
  const auto replaced = [](const std::string& file, auto by) {
    return [=](Scene& scene) { scene.replace(file, by); };
  };
  const auto closed_to_user = [](const std::string& file, unsigned mode) {
    return [=](Scene& scene) {
      std::filesystem::permissions(std::filesystem::path(scene.directory).parent_path(),
                                   std::filesystem::perms(0755));
      chmod(scene.directory.c_str(), 0755);
      for (const std::string& each : {kRecord, kMutex, kLock})
        chmod((scene.directory + each).c_str(), 0644);
      chmod((scene.directory + file).c_str(), mode);
      scene.become_user();
    };
  };
  return {
      // ---- the directory ----
      {"DirectoryIsAFile", Code::config, "is not a directory", replaced("", text_by("x"))},
      {"DirectoryIsALink", Code::config, "is a symbolic link", replaced("", link_by)},
      {"DirectoryIsALoop", Code::config, "is a symbolic link", replaced("", loop_by)},
      {"ParentIsAFile", Code::config, "is not a directory",
       [](Scene& scene) {
         const auto parent = std::filesystem::path(scene.directory).parent_path();
         std::filesystem::remove_all(parent);
         write_file(parent, "x");
       }},
      {"DirectoryIsWritableForOthers", Code::config, "writable for other users",
       [](Scene& scene) { chmod(scene.directory.c_str(), 0777); }},
      {"DirectoryOfAnotherUser", Code::config, "belongs to user 65534",
       [](Scene& scene) {
         if (chown(scene.directory.c_str(), 65'534, 65'534) != 0) abort();
       },
       true},
      {"DirectoryIsClosed", Code::config, "Permission denied", closed_to_user("", 0700), true},
      {"DirectoryCannotBeCreated", Code::config, "Permission denied",
       [](Scene& scene) {
         std::filesystem::remove_all(scene.directory);
         chmod(std::filesystem::path(scene.directory).parent_path().c_str(), 0755);
         scene.become_user();
       },
       true},
      {"ReadOnlyFileSystem", Code::config, "Read-only file system",
       [](Scene& scene) { scene.mount_with("mode=0700", MS_RDONLY); }, true},
      {"NoInodes", Code::unreachable, "No space left on device",
       [](Scene& scene) { scene.mount_with("mode=0700,nr_inodes=1"); }, true},
      {"NoSpace", Code::unreachable, "No space left on device",
       [](Scene& scene) {
         scene.mount_with("mode=0700,size=16k");
         write_file(scene.directory + "/filler", std::string(64 * 1024, 'x'));
       },
       true, Verbs::acquire},
      // ---- the files of the lock ----
      {"MutexIsADirectory", Code::config, "Is a directory", replaced(kMutex, directory_by)},
      {"MutexIsALink", Code::config, "Too many levels of symbolic links",
       replaced(kMutex, link_by)},
      {"MutexIsClosed", Code::config, "Permission denied", closed_to_user(kMutex, 0600), true},
      {"MutexIsLocked", Code::unreachable, "locked by other processes until the deadline",
       [](Scene& scene) {
         scene.fd = open((scene.directory + kMutex).c_str(), O_RDONLY | O_CLOEXEC);
         flock(scene.fd, LOCK_EX | LOCK_NB);
       }},
      {"LockIsADirectory", Code::config, "Is a directory", replaced(kLock, directory_by), false,
       Verbs::acquire},
      {"LockIsALink", Code::config, "Too many levels of symbolic links", replaced(kLock, link_by),
       false, Verbs::acquire},
      {"RecordIsADirectory", Code::config, "Is a directory", replaced(kRecord, directory_by)},
      {"RecordIsALink", Code::config, "Too many levels of symbolic links",
       replaced(kRecord, link_by)},
      {"RecordIsClosed", Code::config, "Permission denied", closed_to_user(kRecord, 0600), true},
      // ---- the content of the record ----
      {"RecordOfAnotherProgram", Code::config, "is damaged", replaced(kRecord, text_by("1234\n"))},
      {"RecordOfBinaryData", Code::config, "is damaged",
       replaced(kRecord, text_by(std::string(300, '\0')))},
      {"RecordOfANewerVersion", Code::config, "is damaged",
       replaced(kRecord, text_by("cronlatch-lock 99\nlock a/b\n"))},
      {"RecordOfAnotherLock", Code::config, "is damaged",
       [](Scene& scene) {
         std::string text = content_of(scene.directory + kRecord);
         text.replace(text.find("lock a/b"), 8, "lock a/c");
         write_file(scene.directory + kRecord, text);
       }},
      {"RecordIsCutOff", Code::config, "is damaged",
       [](Scene& scene) {
         const std::string text = content_of(scene.directory + kRecord);
         write_file(scene.directory + kRecord, text.substr(0, text.find("fence") + 3));
       }},
      {"RecordHasAnotherByte", Code::config, "is damaged",
       [](Scene& scene) {
         std::string text = content_of(scene.directory + kRecord);
         char& digit = text[text.find("acquired ") + 9];
         digit = digit == '1' ? '2' : '1';
         write_file(scene.directory + kRecord, text);
       }},
  };
}

}  // namespace cronlatch::testing
