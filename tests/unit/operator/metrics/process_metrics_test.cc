// SPDX-License-Identifier: Apache-2.0
// Compares the metrics of the process with values of the kernel.
#include "operator/metrics/process_metrics.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <ctime>
#include <vector>

namespace cronlatch::op {
namespace {

double value_of(const std::string& metric) {
  std::string page = "\n";
  append_process_metrics(page);
  const std::string start = "\n" + metric + " ";
  const std::size_t at = page.find(start);
  EXPECT_NE(at, std::string::npos) << metric << " is not in" << page;
  return at == std::string::npos ? -1 : std::stod(page.substr(at + start.size()));
}

TEST(ProcessMetrics, AreDeclared) {
  std::string page;
  append_process_metrics(page);
  EXPECT_NE(page.find("# TYPE process_cpu_seconds_total counter\n"), std::string::npos) << page;
  EXPECT_NE(page.find("# TYPE process_open_fds gauge\n"), std::string::npos) << page;
}

TEST(ProcessMetrics, CountEachOpenDescriptor) {
  const double before = value_of("process_open_fds");
  std::vector<int> files;
  for (int i = 0; i < 5; ++i) files.push_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(value_of("process_open_fds"), before + 5);
  for (const int file : files) ::close(file);
  EXPECT_EQ(value_of("process_open_fds"), before);
}

TEST(ProcessMetrics, ExportTheLimitOfDescriptors) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(value_of("process_max_fds"), static_cast<double>(limit.rlim_cur));
}

TEST(ProcessMetrics, CountTheMemoryInUse) {
  const double before = value_of("process_resident_memory_bytes");
  const std::vector<char> more(std::size_t{64} << 20, 'x');
  asm volatile("" : : "r"(more.data()) : "memory");  // clang removes an unused vector
  EXPECT_GE(value_of("process_resident_memory_bytes"), before + (48 << 20));
}

TEST(ProcessMetrics, CountTheProcessorTime) {
  const double before = value_of("process_cpu_seconds_total");
  const std::clock_t start = std::clock();
  while (std::clock() - start < CLOCKS_PER_SEC / 20) {
  }
  EXPECT_GE(value_of("process_cpu_seconds_total"), before + 0.04);
}

TEST(ProcessMetrics, ExportTheStartTimeOfTheProcess) {
  // One second: the kernel reports the boot time in whole seconds.
  const double start = value_of("process_start_time_seconds");
  EXPECT_LE(start, static_cast<double>(std::time(nullptr)) + 1);
  EXPECT_GT(start, static_cast<double>(std::time(nullptr)) - 3600);
  EXPECT_EQ(value_of("process_start_time_seconds"), start);
}

}  // namespace
}  // namespace cronlatch::op
