// SPDX-License-Identifier: Apache-2.0
// cronlatch-gen PROJECT: writes the pages of docs/reference. Not part of a release.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <vector>

#include "admission/settings_page.h"
#include "config/reference.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: cronlatch-gen PROJECT (the directory that holds docs/)\n", stderr);
    return 64;
  }
  std::vector<cronlatch::Page> pages = cronlatch::reference_pages();
  pages.push_back(cronlatch::op::settings_page());
  for (const cronlatch::Page& page : pages) {
    const std::filesystem::path path = std::filesystem::path(argv[1]) / page.path;
    std::error_code failed;
    std::filesystem::create_directories(path.parent_path(), failed);
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << page.text;
    file.close();
    if (!file) {
      std::fprintf(stderr, "cronlatch-gen: cannot write %s\n", path.c_str());
      return 1;
    }
    std::printf("%s\n", path.c_str());
  }
  return 0;
}
