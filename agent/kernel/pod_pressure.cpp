// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/pod_pressure.hpp"

#include <algorithm>
#include <utility>

#include <fcntl.h>

#include "sys/file.hpp"

namespace evictd::kernel {
namespace {

constexpr const char* file_name = "/memory.pressure";
// For each file the kernel adds up all CPUs: with 1,000 pods that takes milliseconds.
constexpr int at_most_a_fiftieth = 50;

}  // namespace

PodPressure::PodPressure(std::string mount, const sys::Clock& clock) : mount_(std::move(mount)), clock_(clock) {
    if (mount_.empty()) {
        return;
    }
    // With psi=0 the file opens, and cannot be read.
    if (auto file = sys::open(mount_ + file_name, O_RDONLY); file && sys::read_text(file->get(), text_)) {
        node_ = std::move(*file);
    }
}

PodPressure::File PodPressure::open(const std::string& path) const {
    auto file = sys::open(mount_ + path + file_name, O_RDONLY);
    return {.fd = file ? std::move(*file) : sys::Fd(), .totals = {}, .some = {}, .full = {}, .lost = {}};
}

// A task of a pod that stalls is a task of the node that stalls. So on a quiet node one file is read, and not each
// pod's.
bool PodPressure::node_stalled() {
    const auto total = sys::read_text(node_.get(), text_) ? parse_pressure(text_).some : std::nullopt;
    return std::exchange(node_total_, total) != total || !total;
}

void PodPressure::read(std::span<const port::StalledPod> pods) {
    const auto began = clock_.monotonic();
    if (!available() || began < next_) {
        return;
    }
    const bool moved = node_stalled();
    std::unordered_map<CgroupId, File> files;
    files.reserve(pods.size());
    for (const auto& pod : pods) {
        auto known = files_.extract(pod.cgroup.id());
        const bool fresh = known.empty();
        auto& file = fresh ? files.emplace(pod.cgroup.id(), open(pod.cgroup.path())).first->second
                           : files.insert(std::move(known)).position->second;
        if (file.fd && (fresh || moved) && sys::read_text(file.fd.get(), text_)) {
            file.totals = parse_pressure(text_);
        }
        if (file.totals.some) {
            file.some.add(began, *file.totals.some);
        }
        if (file.totals.full) {
            file.full.add(began, *file.totals.full);
        }
        file.lost = {file.some.lost(), file.full.lost()};
    }
    files_ = std::move(files);
    read_at_ = began;
    const auto took = clock_.monotonic() - began;
    next_ = began + std::max(length(StallWindow::tenth), at_most_a_fiftieth * took);
}

const PodPressure::Lost* PodPressure::lost(CgroupId pod) const {
    const auto file = files_.find(pod);
    return file == files_.end() ? nullptr : &file->second.lost;
}

}  // namespace evictd::kernel
