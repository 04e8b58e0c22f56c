// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kube/api_access.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/fd.hpp"

namespace evictd::kube {
namespace {

// A bundle of all public authorities is some 200 KiB; a token or key some KiB.
constexpr std::size_t most_of_a_secret = std::size_t{1} << 20U;

std::string variable(const char* name) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before there are threads
    return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

PodEnvironment pod_environment() {
    return {.host = variable("KUBERNETES_SERVICE_HOST"), .port = variable("KUBERNETES_SERVICE_PORT")};
}

std::optional<std::function<Result<ApiAccess>()>> find_access(const ClusterConfig& cluster) {
    if (cluster.api_server == ApiServerUse::off) return std::nullopt;
    if (!cluster.kubeconfig.empty()) return [path = cluster.kubeconfig] { return access_from_kubeconfig(path); };
    if (auto pod = pod_environment(); !pod.host.empty() && !pod.port.empty()) {
        return [pod = std::move(pod)] { return access_from_pod(pod); };
    }
    return std::nullopt;
}

Result<std::string> read_trusted_file(const std::string& path) {
    const auto fd = sys::open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (!fd) return tl::unexpected(fd.error());
    struct stat status {};
    if (::fstat(fd->get(), &status) != 0) return sys::fail_errno(path, errno);
    if (!S_ISREG(status.st_mode)) return fail(ErrorKind::invalid, path, "not a regular file", "name a plain file");
    const bool is_owned = status.st_uid == 0 || status.st_uid == geteuid();
    if (!is_owned || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return fail(ErrorKind::invalid, path, "others may write to it", "chown root, chmod go-w");
    }
    auto text = sys::read_all(fd->get(), most_of_a_secret);
    if (!text) return fail(text.error().kind, path, text.error().why, text.error().remedy);
    return text;
}

Result<const ApiAccess*> AccessSource::get() {
    if (is_stale_) {
        auto loaded = load_();
        if (!loaded) return tl::unexpected(loaded.error());
        if (!loaded_ || *loaded_ != *loaded) generation_++;
        loaded_ = std::move(*loaded);
        is_stale_ = false;
    }
    return &*loaded_;
}

Result<ApiAccess> access_from_pod(const PodEnvironment& environment) {
    auto trusted = read_trusted_file(environment.account + "/ca.crt");
    if (!trusted) return tl::unexpected(trusted.error());
    const bool is_v6 = environment.host.find(':') != std::string::npos;
    const auto host = is_v6 ? "[" + environment.host + "]" : environment.host;
    ApiAccess access{.server = {.url = "https://" + host + ":" + environment.port, .tls = {}},
                     .token_file = environment.account + "/token",
                     .token = {},
                     .from = "service account"};
    access.server.tls.trusted = std::move(*trusted);
    return access;
}

// A line break would end the header that it is sent in.
Result<std::string> current_token(const ApiAccess& access) {
    auto text = access.token;
    if (!access.token_file.empty()) {
        auto read = read_trusted_file(access.token_file);
        if (!read) return read;
        text = std::move(*read);
        while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
        if (text.empty()) return fail(ErrorKind::invalid, access.token_file, "is empty", "a bearer token");
    }
    const bool is_plain = std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
    if (is_plain) return text;
    return fail(ErrorKind::invalid, access.token_file.empty() ? access.from : access.token_file,
                "holds something else than a bearer token", "one line without blanks");
}

}  // namespace evictd::kube
