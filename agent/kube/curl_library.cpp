// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kube/curl_library.hpp"

#include <utility>

#include <dlfcn.h>

namespace evictd::kube {
namespace {

constexpr auto file = "libcurl.so.4";

struct Loaded {
    CurlLibrary library;
    Status status;
};

class Loader {
public:
    explicit Loader(void* handle) : handle_(handle) {}
    template <class Function>
    void find(const char* name, Function*& function) {
        // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): POSIX's way from dlsym() to a function
        function = reinterpret_cast<Function*>(dlsym(handle_, name));
        if (function == nullptr && missing_ == nullptr) missing_ = name;
    }
    [[nodiscard]] const char* missing() const { return missing_; }

private:
    void* handle_;
    const char* missing_ = nullptr;
};

const char* find_all(Loader loader, CurlLibrary& to) {
    loader.find("curl_global_init", to.global_init);
    loader.find("curl_free", to.free);
    loader.find("curl_easy_init", to.easy_init);
    loader.find("curl_easy_cleanup", to.easy_cleanup);
    loader.find("curl_easy_setopt", to.easy_setopt);
    loader.find("curl_easy_getinfo", to.easy_getinfo);
    loader.find("curl_easy_strerror", to.easy_strerror);
    loader.find("curl_multi_init", to.multi_init);
    loader.find("curl_multi_cleanup", to.multi_cleanup);
    loader.find("curl_multi_setopt", to.multi_setopt);
    loader.find("curl_multi_add_handle", to.multi_add_handle);
    loader.find("curl_multi_remove_handle", to.multi_remove_handle);
    loader.find("curl_multi_socket_action", to.multi_socket_action);
    loader.find("curl_multi_assign", to.multi_assign);
    loader.find("curl_multi_info_read", to.multi_info_read);
    loader.find("curl_slist_append", to.slist_append);
    loader.find("curl_slist_free_all", to.slist_free_all);
    loader.find("curl_url", to.url);
    loader.find("curl_url_cleanup", to.url_cleanup);
    loader.find("curl_url_set", to.url_set);
    loader.find("curl_url_get", to.url_get);
    return loader.missing();
}

Loaded load() {
    Loaded loaded;
    auto* handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        const char* why = dlerror();  // NOLINT(concurrency-mt-unsafe): of this thread, in glibc
        loaded.status = fail(ErrorKind::failed, file, why != nullptr ? why : "cannot be loaded", "install libcurl4");
    } else if (const auto* missing = find_all(Loader(handle), loaded.library); missing != nullptr) {
        loaded.status =
            fail(ErrorKind::failed, file, std::string("has no ") + missing, "install libcurl4 7.88 or later");
    } else if (loaded.library.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
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

}  // namespace evictd::kube
