// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// libmicrohttpd, loaded when evictd.httpAddress is set: with the TLS libraries that it needs it takes 2.2 MiB of
// memory. For http_server.cpp alone.
#pragma once

#include <microhttpd.h>

#include "evictd/model/result.hpp"

namespace evictd::publish {

// Its functions, under their names without "MHD_".
struct MicrohttpdLibrary {
    decltype(&MHD_add_response_header) add_response_header = nullptr;
    decltype(&MHD_create_response_from_buffer) create_response_from_buffer = nullptr;
    decltype(&MHD_destroy_response) destroy_response = nullptr;
    const MHD_ConnectionInfo* (*get_connection_info)(MHD_Connection* connection, MHD_ConnectionInfoType kind,
                                                     ...) = nullptr;
    const MHD_DaemonInfo* (*get_daemon_info)(MHD_Daemon* daemon, MHD_DaemonInfoType kind, ...) = nullptr;
    decltype(&MHD_get_timeout) get_timeout = nullptr;
    decltype(&MHD_queue_response) queue_response = nullptr;
    decltype(&MHD_run) run = nullptr;
    MHD_Daemon* (*start_daemon)(unsigned int flags, std::uint16_t port, MHD_AcceptPolicyCallback policy,
                                void* policy_data, MHD_AccessHandlerCallback handler, void* handler_data,
                                ...) = nullptr;
    decltype(&MHD_stop_daemon) stop_daemon = nullptr;
};

// Loads it at the first call; thread-safe. Error: it is not installed, or another version. It is never unloaded.
[[nodiscard]] Status load_microhttpd();
// Only after load_microhttpd() succeeded.
[[nodiscard]] const MicrohttpdLibrary& microhttpd();

}  // namespace evictd::publish
