// SPDX-License-Identifier: Apache-2.0
// LookupCache: the entries of Lookup, in two parts: the images that CronJobs in the API server
// need, and those that only an admission review has named. The second part is small, and cannot
// evict an entry of the first.
#pragma once

#include <algorithm>
#include <string>

#include "base/lru.h"
#include "registry/lookup_entry.h"

namespace cronlatch::registry {

// Pointers and references are valid until the next get().
class LookupCache {
 public:
  explicit LookupCache(std::size_t size)
      : needed_(size), reviewed_(std::max<std::size_t>(size / 10, 1)) {}

  // nullptr: there is no entry.
  Entry* find(const std::string& key) {
    Entry* const entry = needed_.find(key);
    return entry == nullptr ? reviewed_.find(key) : entry;
  }
  // The entry, which is new if there was none. A needed one moves to the first part.
  Entry& get(const std::string& key, LookupRequest::Origin origin) {
    if (Entry* const entry = needed_.find(key)) return *entry;
    Entry* const reviewed = reviewed_.find(key);
    if (origin == LookupRequest::Origin::needed)
      return needed_.put(key, reviewed == nullptr ? Entry{} : *reviewed);
    return reviewed == nullptr ? reviewed_.put(key, Entry{}) : *reviewed;
  }

 private:
  Lru<Entry> needed_, reviewed_;
};

}  // namespace cronlatch::registry
