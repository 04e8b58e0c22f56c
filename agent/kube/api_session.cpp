// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kube/api_session.hpp"

namespace evictd::kube {

Result<std::unique_ptr<ApiSession>> ApiSession::make(AccessSource::Load access) {
    std::unique_ptr<ApiSession> session(new ApiSession(std::move(access)));
    auto lane =
        sys::Lane::make("evictd-kube", sys::Loop::default_queue, sys::Lane::default_drain, sys::Duty::may_block);
    if (!lane) return tl::unexpected(lane.error());
    session->lane_ = std::move(*lane);
    session->lane_->post([self = session.get()] {
        self->connection_.emplace(*self->lane_, self->access_, self->server_.counters());
        self->server_.open(*self->lane_, *self->connection_);
    });
    return session;
}

ApiSession::~ApiSession() {
    server_.close();
    if (lane_) lane_->close();  // not reset(): what runs in it uses the pointer
    server_.drop();
}

}  // namespace evictd::kube
