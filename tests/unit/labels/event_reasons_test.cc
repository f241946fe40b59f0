// SPDX-License-Identifier: Apache-2.0
#include "labels/event_reasons.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "support/source_dir.h"

namespace cronlatch {
namespace {

// The words in quotes of the files that create Events.
std::set<std::string> words_in_operator() {
  namespace fs = std::filesystem;
  std::set<std::string> words;
  for (const auto& file :
       fs::recursive_directory_iterator(cronlatch::testing::source_dir() + "/src/operator")) {
    if (file.path().extension() != ".cc") continue;
    std::ifstream in(file.path());
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (text.find("kube::EventType::") == std::string::npos) continue;
    static const std::regex reason(R"re((?:\{|reason = |\? |: )"([A-Z][A-Za-z]+)")re");
    for (std::sregex_iterator at(text.begin(), text.end(), reason), end; at != end; ++at)
      words.insert((*at)[1]);
  }
  return words;
}

TEST(EventReasons, HaveARowForEachReasonOfTheOperator) {
  const std::set<std::string> words = words_in_operator();
  EXPECT_GE(words.size(), event_reasons().size());
  for (const EventReason& reason : event_reasons())
    EXPECT_TRUE(words.contains(std::string(reason.name))) << reason.name << " is never recorded";
  for (const std::string& word : words) {
    const bool is_kind = word == "CronJob" || word == "Job";
    EXPECT_TRUE(is_kind || event_reason(word).name == word) << word << " has no row";
  }
}

TEST(EventReasons, ThatReportAnOverlapAreViolationsAsIsAnUnknownOne) {
  for (const char* name :
       {"RanWithoutLock", "AdmissionBypassed", "DoneNotRecorded", "Lost", "Stolen", "SomethingNew"})
    EXPECT_EQ(event_reason(name).group, EventGroup::violation) << name;
  for (const char* name : {"Acquired", "Skipped", "Mirrored"})
    EXPECT_EQ(event_reason(name).group, EventGroup::routine) << name;
}

TEST(EventReasons, AllButTheRequiredOnesCanBeSkipped) {
  const std::string names = optional_event_reasons();
  EXPECT_EQ(names.find("AdmissionBypassed"), std::string::npos);
  EXPECT_TRUE(names.starts_with("Acquired, Busy, "));
}

}  // namespace
}  // namespace cronlatch
