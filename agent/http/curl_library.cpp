// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "http/curl_library.hpp"

#include "sys/shared_library.hpp"

namespace evictd::http {
namespace {

constexpr auto file = "libcurl.so.4";

struct Loaded {
    CurlLibrary library;
    Status status;
};

Status find_all(sys::SharedLibrary& library, CurlLibrary& to) {
    library.find("curl_global_init", to.global_init);
    library.find("curl_free", to.free);
    library.find("curl_easy_init", to.easy_init);
    library.find("curl_easy_cleanup", to.easy_cleanup);
    library.find("curl_easy_setopt", to.easy_setopt);
    library.find("curl_easy_getinfo", to.easy_getinfo);
    library.find("curl_easy_strerror", to.easy_strerror);
    library.find("curl_multi_init", to.multi_init);
    library.find("curl_multi_cleanup", to.multi_cleanup);
    library.find("curl_multi_setopt", to.multi_setopt);
    library.find("curl_multi_add_handle", to.multi_add_handle);
    library.find("curl_multi_remove_handle", to.multi_remove_handle);
    library.find("curl_multi_socket_action", to.multi_socket_action);
    library.find("curl_multi_assign", to.multi_assign);
    library.find("curl_multi_info_read", to.multi_info_read);
    library.find("curl_slist_append", to.slist_append);
    library.find("curl_slist_free_all", to.slist_free_all);
    library.find("curl_url", to.url);
    library.find("curl_url_cleanup", to.url_cleanup);
    library.find("curl_url_set", to.url_set);
    library.find("curl_url_get", to.url_get);
    return library.check();
}

Loaded load() {
    Loaded loaded;
    auto library = sys::SharedLibrary::load(file, "install libcurl4 7.88 or later");
    loaded.status = library ? find_all(*library, loaded.library) : Status(tl::unexpected(library.error()));
    if (loaded.status && loaded.library.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        loaded.status = fail(ErrorKind::failed, file, "does not start");
    }
    return loaded;
}

const Loaded& loaded() {
    static const Loaded once = load();
    return once;
}

}  // namespace

Status load_curl() { return loaded().status; }

const CurlLibrary& curl() { return loaded().library; }

}  // namespace evictd::http
