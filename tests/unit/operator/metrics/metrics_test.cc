// SPDX-License-Identifier: Apache-2.0
#include "operator/metrics/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace cronlatch::op {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr MetricName kThings{"cronlatch_test_things_total", "Things."};
constexpr MetricName kLevel{"cronlatch_test_level", "Level."};

TEST(Metrics, ExportEveryAdmissionCounterBeforeTheFirstAdmission) {
  const Metrics metrics("1.2.3");
  const std::string text = metrics.text();
  for (const std::string resource : {"cronjob", "job"}) {
    for (const std::string result : {"mutated", "skipped", "denied", "error"}) {
      EXPECT_THAT(text, HasSubstr("cronlatch_admission_requests_total{resource=\"" + resource +
                                  "\",result=\"" + result + "\"} 0\n"));
    }
  }
  EXPECT_THAT(text, HasSubstr("cronlatch_admission_duration_seconds_count 0\n"));
  EXPECT_THAT(text, HasSubstr("cronlatch_leader 0\n"));
  EXPECT_THAT(text, HasSubstr("cronlatch_build_info{version=\"1.2.3\"} 1\n"));
}

TEST(Metrics, ExportNoExpiryWithoutACertificate) {
  Metrics metrics("1");
  EXPECT_THAT(metrics.text(), Not(HasSubstr("cronlatch_certificate_expiry")));
  metrics.certificate_expiry("serving", WallTime{1'800'000'000'000'000});
  EXPECT_THAT(
      metrics.text(),
      HasSubstr("cronlatch_certificate_expiry_timestamp_seconds{use=\"serving\"} 1800000000\n"));
}

TEST(Metrics, CountAdmissionsByResourceAndResultWithTheirTime) {
  Metrics metrics("1");
  metrics.admission("job", "mutated", Micros(700));
  metrics.admission("job", "mutated", Micros(3'000'000));
  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("{resource=\"job\",result=\"mutated\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("cronlatch_admission_duration_seconds_bucket{le=\"0.0005\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("cronlatch_admission_duration_seconds_bucket{le=\"0.001\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("cronlatch_admission_duration_seconds_bucket{le=\"5\"} 2\n"));
}

TEST(Metrics, AcceptCountersAndGaugesOfOtherModules) {
  Metrics metrics("1");
  metrics.count(kThings, {{"namespace", "a"}}, 0);
  metrics.count(kThings, {{"namespace", "b"}});
  metrics.count(kThings, {{"namespace", "b"}}, 2);
  metrics.set(kLevel, {}, 5);
  metrics.set(kLevel, {}, 4);
  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("# TYPE cronlatch_test_things_total counter\n"));
  EXPECT_THAT(text, HasSubstr("cronlatch_test_things_total{namespace=\"a\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("cronlatch_test_things_total{namespace=\"b\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("cronlatch_test_level 4\n"));
}

TEST(Metrics, ExportOtherMetricsWhenASourceFails) {
  Metrics metrics("1");
  metrics.add_source([](std::string& out) {
    out += "half a li";
    throw std::runtime_error("no store");
  });
  metrics.add_source([](std::string& out) { out += "cronlatch_test_other 1\n"; });
  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("cronlatch_leader 0\n"));
  EXPECT_THAT(text, HasSubstr("\ncronlatch_test_other 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("half")));
}

TEST(Metrics, DoNotThrowForAnInvalidLabel) {
  Metrics metrics("1");
  metrics.count(kThings, {{"not a label", "x"}});
  metrics.set(kThings, {}, 1);  // a counter is no gauge
  EXPECT_THAT(metrics.text(), HasSubstr("cronlatch_leader 0\n"));
}

}  // namespace
}  // namespace cronlatch::op
