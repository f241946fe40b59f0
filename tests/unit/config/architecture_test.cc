// SPDX-License-Identifier: Apache-2.0
#include "config/architecture.h"

#include <gtest/gtest.h>

#include "config/load.h"
#include "fake_files.h"

namespace cronlatch {
namespace {

using Words = std::vector<std::string>;

Options by_arch(const char* text) {
  Options options;
  EXPECT_TRUE(set_option(options, *find_option("command-by-arch"), text).ok()) << text;
  return options;
}

TEST(WholeCommand, IsThatOfTheArchitectureAndTheRest) {
  const Options options = by_arch(R"({"amd64": ["/a", "x y"], "arm64": []})");
  EXPECT_EQ(full_command(options, "amd64", {"z"}).value(), (Words{"/a", "x y", "z"}));
  EXPECT_EQ(full_command(options, "amd64", {}).value(), (Words{"/a", "x y"}));
  EXPECT_EQ(full_command(options, "arm64", {"z"}).value(), Words{"z"});
  EXPECT_EQ(full_command(Options{}, "arm64", {"z"}).value(), Words{"z"});
}

TEST(WholeCommand, IsRefusedWhereThereIsNone) {
  const Options options = by_arch(R"({"amd64": ["/a"], "arm64": [], "s390x": [""]})");
  const auto message = [&](std::string_view architecture) {
    const auto command = full_command(options, architecture, {});
    return command.ok() ? "ok" : command.error().message;
  };
  EXPECT_EQ(message("riscv64"),
            "command-by-arch: no entry for riscv64, only for amd64, arm64, s390x");
  EXPECT_EQ(message("arm64"), "command-by-arch: no command for arm64");
  EXPECT_EQ(message("s390x"), "command-by-arch: no command for s390x");
}

TEST(WholeCommand, IsWhatARunLoads) {
  const std::string here(this_architecture());
  const Words args = {R"(--command-by-arch={")" + here + R"(":["/a"],"other":["/b"]})", "--"};
  const auto loaded = load({args, Words{}, Operands::command, {}}, FakeFiles{}, kHost);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->operands, Words{"/a"});
  const Words other = {R"(--command-by-arch={"other":["/b"]})", "--", "x"};
  EXPECT_EQ(load({other, Words{}, Operands::command, {}}, FakeFiles{}, kHost).error().code,
            Code::usage);
}

}  // namespace
}  // namespace cronlatch
