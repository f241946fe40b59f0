// SPDX-License-Identifier: Apache-2.0
#include "config/reference.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/outcome.h"
#include "metrics/metrics_table.h"
#include "options/options.h"

namespace cronlatch {
namespace {

std::string committed(const std::string& path) {
  std::ifstream file(std::string(CRONLATCH_SOURCE_DIR) + "/" + path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string page(const std::string& path) {
  for (const Page& one : reference_pages())
    if (one.path == path) return one.text;
  return "";
}

TEST(Reference, IsCommittedAsItIsRendered) {
  for (const Page& one : reference_pages())
    EXPECT_TRUE(committed(one.path) == one.text) << one.path << " is out of date: run ./dev gen";
}

TEST(Reference, HasARowForEverything) {
  const std::string options = page("docs/reference/options.md"),
                    outcomes = page("docs/reference/outcomes.md"),
                    codes = page("docs/reference/exit-codes.md"),
                    metrics = page("docs/reference/metrics.md");
  for (const Option& option : option_table())
    EXPECT_NE(options.find("\n| `" + std::string(option.key) + "` |"), std::string::npos)
        << option.key;
  for (const KindRow& row : kind_table())
    EXPECT_NE(outcomes.find("\n| `" + std::string(row.name) + "` |"), std::string::npos)
        << row.name;
  for (const ReasonRow& row : reason_table())
    EXPECT_NE(outcomes.find("\n| `" + std::string(row.name) + "` |"), std::string::npos)
        << row.name;
  for (const ExitRow& row : exit_table())
    EXPECT_NE(codes.find("\n| " + std::string(row.code) + " |"), std::string::npos) << row.code;
  for (const Metric& metric : metric_table())
    EXPECT_NE(metrics.find("\n| `" + std::string(metric.name) + "` |"), std::string::npos)
        << metric.name;
}

}  // namespace
}  // namespace cronlatch
