// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Any bytes as each answer of a container runtime: it is refused with a reason, or every entry has an ID that may be
// sent back, times and sizes that can be reckoned with, and a cgroup below the root. Two messages of a streamed list
// are read as one that has the entries of both.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "cri/messages.hpp"

namespace {

using evictd::WallTime;

void expect(bool holds) {
    if (!holds) std::abort();
}

void check_id(const std::string& id) {
    expect(!id.empty() && id.size() <= 256);
    expect(std::all_of(id.begin(), id.end(), [](char c) { return c > ' ' && c <= '~'; }));
}
void check_time(WallTime time) { expect(time >= WallTime{} && time < WallTime(std::chrono::hours(24 * 366 * 231))); }
void check_usage(const evictd::RuntimeUsage& usage) {
    expect(usage.used.value >= 0 && usage.inodes.value_or(0) >= 0);
    check_time(usage.at);
}
void check(const evictd::RuntimeSandbox& sandbox) {
    check_id(sandbox.id);
    check_time(sandbox.created);
}
void check(const evictd::RuntimeContainer& container) {
    check_id(container.id);
    check_time(container.created);
    if (container.layer) check_usage(*container.layer);
}
void check(const evictd::RuntimeImage& image) {
    check_id(image.id);
    expect(image.size.value >= 0);
}
void check(const evictd::RuntimeCondition& /*condition*/) {}
void check(const evictd::RuntimeFilesystem& filesystem) { check_usage(filesystem.usage); }
void check(const std::string& /*text*/) {}
void check(const evictd::RuntimeVersion& version) { expect(!version.name.empty()); }
void check(const evictd::RuntimeSandboxDetails& details) { check(details.sandbox); }
void check(const evictd::RuntimeContainerDetails& details) {
    check(details.container);
    check_time(details.started.value_or(WallTime{}));
    check_time(details.finished.value_or(WallTime{}));
    expect(details.pid >= 0);
    expect(details.cgroup.empty() || details.cgroup.front() == '/');
    expect((details.cgroup + "/").find("/../") == std::string::npos);
}
template <class Element>
void check(const std::vector<Element>& all) {
    for (const auto& one : all) check(one);
}
void check(const evictd::RuntimeFilesystems& all) {
    check(all.images);
    check(all.containers);
}

template <class Value>
void check_answer(const evictd::Result<Value>& answer) {
    if (!answer) return expect(answer.error().kind == evictd::ErrorKind::invalid && !answer.error().why.empty());
    check(*answer);
}

template <class Element>
void check_list(std::string_view message, evictd::Result<std::vector<Element>> (*read)(std::string_view)) {
    const auto list = read(message);
    check_answer(list);
    if (!list) return;
    const auto twice = read(std::string(message) + std::string(message));
    expect(twice && twice->size() == 2 * list->size());
    for (std::size_t i = 0; i < twice->size(); i++) expect((*twice)[i].id == (*list)[i % list->size()].id);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    namespace cri = evictd::cri;
    const std::string_view message(reinterpret_cast<const char*>(bytes), size);
    check_answer(cri::read_version(message));
    check_answer(cri::read_conditions(message));
    check_list(message, cri::read_sandboxes);
    check_list(message, cri::read_containers);
    check_list(message, cri::read_images);
    check_list(message, cri::read_layers);
    check_answer(cri::read_filesystems(message));
    check_answer(cri::read_sandbox(message));
    check_answer(cri::read_container(message));
    check_answer(cri::read_sandbox_image(message));
    check_answer(cri::read_image_of_sandbox(message));
    check_answer(cri::read_image_volumes(message));
    const auto layers = cri::read_layers(message);
    if (layers) expect(std::all_of(layers->begin(), layers->end(), [](const auto& one) { return one.layer; }));
    return 0;
}
