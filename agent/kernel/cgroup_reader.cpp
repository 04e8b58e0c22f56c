// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/cgroup_reader.hpp"

#include <cerrno>
#include <mutex>
#include <utility>

#include <sys/eventfd.h>

#include "sys/log.hpp"

namespace evictd::kernel {

CgroupReader::CgroupReader(std::unique_ptr<CgroupWatch> watch, OpenAhead open_ahead, int priority, sys::Fd has_news)
    : open_ahead_(std::move(open_ahead)),
      priority_(priority),
      watch_(std::move(watch)),
      has_news_(std::move(has_news)) {}

Result<std::unique_ptr<CgroupReader>> CgroupReader::make(std::unique_ptr<CgroupWatch> watch, OpenAhead open_ahead,
                                                         int priority) {
    sys::Fd has_news(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!has_news) {
        return sys::fail_errno("eventfd", errno);
    }
    return std::unique_ptr<CgroupReader>(
        new CgroupReader(std::move(watch), std::move(open_ahead), priority, std::move(has_news)));
}

Status CgroupReader::start() {
    auto lane =
        sys::Lane::make("evictd-cgroups", sys::Loop::default_queue, sys::Lane::default_drain, sys::Duty::may_block);
    if (!lane) {
        return tl::unexpected(lane.error());
    }
    lane_ = std::move(*lane);
    const bool posted = lane_->post([this] {
        lane_->be_urgent(priority_);
        if (auto listening = listen(); !listening) {
            give_up(listening.error());
        }
    });
    return posted ? Status{} : fail(ErrorKind::failed, "evictd-cgroups", "its queue refused the first task");
}

Status CgroupReader::listen() {
    const std::scoped_lock lock(watch_mutex_);
    auto readable = lane_->loop().add_fd(watch_->fd(), [this] { read(); });
    if (!readable) {
        return tl::unexpected(readable.error());
    }
    readable_ = std::move(*readable);
    return {};
}

void CgroupReader::refuse(std::string why) {
    const std::scoped_lock lock(watch_mutex_);
    refusal_ = std::move(why);
    note_works();
}

void CgroupReader::note_works() { works_ = refusal_.empty() && watch_->works(); }

void CgroupReader::give_up(const Error& error) {
    refuse(error.text());
    sys::log::error("cannot watch the pods' cgroups, listing them at each look: " + error.text());
}

void CgroupReader::read() {
    const std::scoped_lock lock(watch_mutex_);
    watch_->drain([&](const KernelEvent& event) {
        const auto* life = std::get_if<CgroupLife>(&event.kind);
        const bool made = life != nullptr && life->change == CgroupChange::made;
        tell({event, made ? open_ahead_(life->path) : nullptr});
    });
    note_works();
    if (!works_) {
        readable_.reset();
    }
}

// One by one: a lookup may take long, and what was found before it is not to wait.
void CgroupReader::tell(News news) {
    {
        const std::scoped_lock lock(news_mutex_);
        news_.push_back(std::move(news));
    }
    (void)eventfd_write(has_news_.get(), 1);
}

void CgroupReader::follow(const std::optional<port::PodsRoot>& root) {
    if (!lane_) {
        refuse({});
        if (auto started = start(); !started) {
            give_up(started.error());
        }
    }
    const std::scoped_lock lock(watch_mutex_);
    watch_->follow(root);
    note_works();
    follows_++;
    const std::scoped_lock news_lock(news_mutex_);
    news_.clear();
}

void CgroupReader::drain(const Sink& sink) {
    eventfd_t count = 0;
    (void)eventfd_read(has_news_.get(), &count);
    {
        const std::scoped_lock lock(news_mutex_);
        told_.swap(news_);
    }
    const auto follows = follows_;
    for (const auto& news : told_) {
        if (follows != follows_) {
            break;  // of what was followed before
        }
        sink(news.event);
    }
    told_.clear();
}

std::vector<SourceRow> CgroupReader::rows() const {
    const std::scoped_lock lock(watch_mutex_);
    return refusal_.empty() ? watch_->rows() : cgroup_rows(false, refusal_);
}

}  // namespace evictd::kernel
