// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// libcurl, loaded when the first server is talked to: with what it needs it takes 3 MiB of memory, which hosts without
// a cluster save. For client*.cpp alone.
#pragma once

#include <curl/curl.h>

#include "evictd/model/result.hpp"

namespace evictd::http {

// Its functions, under their names without "curl_".
struct CurlLibrary {
    decltype(&curl_global_init) global_init = nullptr;
    decltype(&curl_free) free = nullptr;
    decltype(&curl_easy_init) easy_init = nullptr;
    decltype(&curl_easy_cleanup) easy_cleanup = nullptr;
    CURLcode (*easy_setopt)(CURL* easy, CURLoption option, ...) = nullptr;
    CURLcode (*easy_getinfo)(CURL* easy, CURLINFO info, ...) = nullptr;
    decltype(&curl_easy_strerror) easy_strerror = nullptr;
    decltype(&curl_multi_init) multi_init = nullptr;
    decltype(&curl_multi_cleanup) multi_cleanup = nullptr;
    CURLMcode (*multi_setopt)(CURLM* multi, CURLMoption option, ...) = nullptr;
    decltype(&curl_multi_add_handle) multi_add_handle = nullptr;
    decltype(&curl_multi_remove_handle) multi_remove_handle = nullptr;
    decltype(&curl_multi_socket_action) multi_socket_action = nullptr;
    decltype(&curl_multi_assign) multi_assign = nullptr;
    decltype(&curl_multi_info_read) multi_info_read = nullptr;
    decltype(&curl_slist_append) slist_append = nullptr;
    decltype(&curl_slist_free_all) slist_free_all = nullptr;
    decltype(&curl_url) url = nullptr;
    decltype(&curl_url_cleanup) url_cleanup = nullptr;
    decltype(&curl_url_set) url_set = nullptr;
    decltype(&curl_url_get) url_get = nullptr;
};

// Loads it at the first call; thread-safe. Error: it is not installed, or another version. It is never unloaded.
[[nodiscard]] Status load_curl();
// Only after load_curl() succeeded.
[[nodiscard]] const CurlLibrary& curl();

}  // namespace evictd::http
