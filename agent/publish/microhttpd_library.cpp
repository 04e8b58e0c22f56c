// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "publish/microhttpd_library.hpp"

#include "sys/shared_library.hpp"

namespace evictd::publish {
namespace {

struct LoadedMicrohttpd {
    MicrohttpdLibrary library;
    Status status;
};

Status find_all(sys::SharedLibrary& library, MicrohttpdLibrary& to) {
    library.find("MHD_add_response_header", to.add_response_header);
    library.find("MHD_create_response_from_buffer", to.create_response_from_buffer);
    library.find("MHD_destroy_response", to.destroy_response);
    library.find("MHD_get_connection_info", to.get_connection_info);
    library.find("MHD_get_daemon_info", to.get_daemon_info);
    library.find("MHD_get_timeout", to.get_timeout);
    library.find("MHD_queue_response", to.queue_response);
    library.find("MHD_run", to.run);
    library.find("MHD_start_daemon", to.start_daemon);
    library.find("MHD_stop_daemon", to.stop_daemon);
    return library.check();
}

LoadedMicrohttpd load() {
    LoadedMicrohttpd loaded;
    auto library = sys::SharedLibrary::load("libmicrohttpd.so.12", "install libmicrohttpd12");
    loaded.status = library ? find_all(*library, loaded.library) : Status(tl::unexpected(library.error()));
    return loaded;
}

const LoadedMicrohttpd& loaded_microhttpd() {
    static const LoadedMicrohttpd once = load();
    return once;
}

}  // namespace

Status load_microhttpd() { return loaded_microhttpd().status; }

const MicrohttpdLibrary& microhttpd() { return loaded_microhttpd().library; }

}  // namespace evictd::publish
