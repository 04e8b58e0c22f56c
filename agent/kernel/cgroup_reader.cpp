// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/cgroup_reader.hpp"

#include <cerrno>
#include <mutex>
#include <utility>

#include <sys/eventfd.h>

#include "sys/log.hpp"

namespace evictd::kernel {

CgroupReader::CgroupReader(std::unique_ptr<CgroupWatch> watch, OpenAhead open_ahead, sys::Fd has_news)
    : open_ahead_(std::move(open_ahead)), watch_(std::move(watch)), has_news_(std::move(has_news)) {}

Result<std::unique_ptr<CgroupReader>> CgroupReader::make(std::unique_ptr<CgroupWatch> watch, OpenAhead open_ahead,
                                                         int priority) {
    sys::Fd has_news(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!has_news) {
        return sys::fail_errno("eventfd", errno);
    }
    std::unique_ptr<CgroupReader> made(new CgroupReader(std::move(watch), std::move(open_ahead), std::move(has_news)));
    auto started = made->start(priority);
    return started ? Result<std::unique_ptr<CgroupReader>>(std::move(made)) : tl::unexpected(started.error());
}

CgroupReader::~CgroupReader() { lane_.reset(); }

Status CgroupReader::start(int priority) {
    auto lane = sys::Lane::make("evictd-cgroups");
    if (!lane) {
        return tl::unexpected(lane.error());
    }
    lane_ = std::move(*lane);
    const bool posted = lane_->post([this, priority] {
        lane_->be_urgent(priority);
        auto readable = lane_->loop().add_fd(watch_->fd(), [this] { read(); });
        if (readable) {
            readable_ = std::move(*readable);
        } else {
            sys::log::error("new pods are not seen: " + readable.error().text());
        }
    });
    return posted ? Status{} : fail(ErrorKind::failed, "evictd-cgroups", "its queue is full");
}

void CgroupReader::read() {
    std::vector<News> read;
    {
        const std::scoped_lock lock(watch_mutex_);
        if (!watch_->works()) {
            readable_.reset();
            return;
        }
        watch_->drain([&](const KernelEvent& event) {
            const auto* life = std::get_if<CgroupLife>(&event.kind);
            const bool made = life != nullptr && life->change == CgroupChange::made;
            read.push_back({event, made ? open_ahead_(life->path) : nullptr});
        });
        works_ = watch_->works();
        const std::scoped_lock news_lock(news_mutex_);
        news_.insert(news_.end(), std::make_move_iterator(read.begin()), std::make_move_iterator(read.end()));
    }
    (void)eventfd_write(has_news_.get(), 1);
}

void CgroupReader::follow(const std::optional<port::PodsRoot>& root) {
    const std::scoped_lock lock(watch_mutex_);
    watch_->follow(root);
    works_ = watch_->works();
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
    return watch_->rows();
}

}  // namespace evictd::kernel
