// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What is removed before a pod is evicted for disk, under `evictd.gc`. The water marks and ages of images are the
// kubelet's own keys.
#pragma once

#include <string>
#include <vector>

#include "document/value.hpp"
#include "evictd/model/config.hpp"

namespace evictd::config {

using document::Value;

void read_gc_images(const Value& setting, Config& config);
[[nodiscard]] std::string show_gc_images(const Config& config);
void read_gc_keep_images(const Value& setting, Config& config);
[[nodiscard]] std::string show_gc_keep_images(const Config& config);
// A warning for each pattern that no full name or ID of an image can match.
[[nodiscard]] std::vector<std::string> keep_images_warnings(const Value& setting);
void read_gc_logs(const Value& setting, Config& config);
[[nodiscard]] std::string show_gc_logs(const Config& config);
void read_gc_routine(const Value& setting, Config& config);
[[nodiscard]] std::string show_gc_routine(const Config& config);
void read_gc_orphans(const Value& setting, Config& config);
[[nodiscard]] std::string show_gc_orphans(const Config& config);
void read_gc_orphan_quarantine(const Value& setting, Config& config);
[[nodiscard]] std::string show_gc_orphan_quarantine(const Config& config);
void read_gc_deadline(const Value& setting, Config& config);
[[nodiscard]] std::string show_gc_deadline(const Config& config);

}  // namespace evictd::config
