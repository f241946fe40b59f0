// SPDX-License-Identifier: Apache-2.0
#include "operator/metrics/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "metrics/metrics_table.h"

namespace cronlatch::op {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr MetricName kCounter{"cronlatch_ungated_jobs_total"};
constexpr MetricName kGauge{"cronlatch_ledger_left_out"};

TEST(Metrics, ExportEveryAdmissionCounterBeforeTheFirstAdmission) {
  const Metrics metrics("1.2.3");
  const std::string text = metrics.text();
  for (const std::string resource : {"cronjob", "job"}) {
    for (const std::string result : {"mutated", "skipped", "denied", "error"}) {
      EXPECT_THAT(text, HasSubstr("cronlatch_admission_requests_total{resource=\"" + resource +
                                  "\",result=\"" + result + "\"} 0\n"));
    }
    EXPECT_THAT(text, HasSubstr("cronlatch_admission_duration_seconds_count{resource=\"" +
                                resource + "\"} 0\n"));
  }
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
  metrics.certificate_expiry("serving", std::nullopt);
  EXPECT_THAT(metrics.text(), Not(HasSubstr("use=\"serving\"")));
}

TEST(Metrics, CountAdmissionsByResourceAndResultWithTheirTime) {
  Metrics metrics("1");
  metrics.admission("job", "mutated", Micros(700));
  metrics.admission("job", "mutated", Micros(3'000'000));
  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("{resource=\"job\",result=\"mutated\"} 2\n"));
  const std::string bucket = "cronlatch_admission_duration_seconds_bucket{resource=\"job\",le=\"";
  EXPECT_THAT(text, HasSubstr(bucket + "0.0005\"} 0\n"));
  EXPECT_THAT(text, HasSubstr(bucket + "0.001\"} 1\n"));
  EXPECT_THAT(text, HasSubstr(bucket + "5\"} 2\n"));
}

TEST(Metrics, AcceptCountersAndGaugesOfOtherModules) {
  Metrics metrics("1");
  metrics.count(kCounter, {{"namespace", "a"}}, 0);
  metrics.count(kCounter, {{"namespace", "b"}});
  metrics.count(kCounter, {{"namespace", "b"}}, 2);
  metrics.set(kGauge, {}, 5);
  metrics.set(kGauge, {}, 4);
  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("# TYPE cronlatch_ungated_jobs_total counter\n"));
  EXPECT_THAT(text, HasSubstr("cronlatch_ungated_jobs_total{namespace=\"a\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("cronlatch_ungated_jobs_total{namespace=\"b\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("cronlatch_ledger_left_out 4\n"));
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
  metrics.count(kCounter, {{"not a label", "x"}});
  EXPECT_THAT(metrics.text(), HasSubstr("cronlatch_leader 0\n"));
}

TEST(Metrics, HaveTheTypeOfTheirRow) {
  Metrics metrics("1");
  for (const Metric& row : metric_table()) {
    if (row.exporter != MetricExporter::own) continue;
    metrics.count({row.name}, {});
    metrics.set({row.name}, {}, 1);
  }
  metrics.store_command("show", Micros(1));
  const std::string text = metrics.text();
  for (const Metric& row : metric_table())
    if (row.exporter == MetricExporter::own) {
      EXPECT_THAT(text, HasSubstr("# TYPE " + std::string(row.name) + ' ' +
                                  std::string(name_of(row.type)) + '\n'));
    }
}

TEST(Metrics, ExportNothingWithoutARow) {
  Metrics metrics("1");
  metrics.count({"cronlatch_other_total"}, {});
  metrics.set({"cronlatch_other"}, {}, 1);
  EXPECT_THAT(metrics.text(), Not(HasSubstr("cronlatch_other")));
}

}  // namespace
}  // namespace cronlatch::op
