// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/bpf_links.hpp"

#include <cerrno>
#include <cstddef>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

namespace evictd::kernel {

void FreeLink::operator()(bpf_link* link) const { bpf_link__destroy(link); }

Link attach_cgroup_iterator(bpf_program* program, const sys::Fd& directory, bpf_cgroup_iter_order order) {
    bpf_iter_link_info info{};
    info.cgroup.cgroup_fd = static_cast<std::uint32_t>(directory.get());
    info.cgroup.order = order;
    bpf_iter_attach_opts options{};
    options.sz = sizeof(options);
    options.link_info = &info;
    options.link_info_len = sizeof(info);
    return Link(bpf_program__attach_iter(program, &options));
}

Link attach_own_task_iterator(bpf_program* program) {
    bpf_iter_link_info info{};
    info.task.tid = static_cast<std::uint32_t>(::getpid());  // the main thread, which is there to the end
    bpf_iter_attach_opts options{};
    options.sz = sizeof(options);
    options.link_info = &info;
    options.link_info_len = sizeof(info);
    return Link(bpf_program__attach_iter(program, &options));
}

Status run_iterator(const bpf_link* link, const char* what) {
    const sys::Fd iterator(bpf_iter_create(bpf_link__fd(link)));
    if (!iterator) {
        return sys::fail_errno(what, errno);
    }
    ssize_t got = 0;
    do {
        std::byte nothing{};
        got = ::read(iterator.get(), &nothing, sizeof(nothing));
    } while (got < 0 && (errno == EINTR || errno == EAGAIN));
    return got < 0 ? Status(sys::fail_errno(what, errno)) : Status{};
}

}  // namespace evictd::kernel
