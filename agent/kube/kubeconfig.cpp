// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A kubeconfig file (clientcmd/api/v1 Config): the cluster and user of its current context. What is secret is read as
// any scalar: a fault of its type would repeat it.
#include <array>
#include <cstdint>
#include <filesystem>
#include <utility>

#include "document/value.hpp"
#include "evictd/model/text.hpp"
#include "kube/api_access.hpp"

namespace evictd::kube {
namespace {

using document::Reading;
using document::Value;

// With certificates in it some 20 KiB; kubeconfig files of many clusters are larger.
constexpr document::Limits kubeconfig_limits{"a kubeconfig", std::size_t{1} << 20U, std::size_t{1} << 18U};

int value_of(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '+') return 62;
    return c == '/' ? 63 : -1;
}

// RFC 4648, with padding. Nothing: it is not.
std::optional<std::string> from_base64(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    while (text.ends_with('=')) text.remove_suffix(1);
    std::string bytes;
    std::uint32_t bits = 0;
    unsigned count = 0;
    for (const char c : text) {
        const int value = value_of(c);
        if (value < 0) return std::nullopt;
        bits = bits << 6U | static_cast<std::uint32_t>(value);
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes.push_back(static_cast<char>(bits >> count & 0xffU));
    }
    return bytes;
}

// In the list `list`, the entry that `reference` names; its field `field`. Nothing, and a fault: there is none.
std::optional<Value> named(const Value& list, const Value& reference, std::string_view field) {
    const auto name = reference.text().value_or("");
    for (const Value& entry : list.elements()) {
        if (!name.empty() && entry["name"].text() == name) return entry[field];
    }
    if (name.empty()) {
        reference.refuse("missing", "a name");
    } else {
        reference.refuse("no " + std::string(field) + " named " + in_quotes(name), "one that the file defines");
    }
    return std::nullopt;
}

class KubeconfigReader {
public:
    explicit KubeconfigReader(std::string path) : path_(std::move(path)) {}

    ApiAccess read(const Value& root) {
        const auto context = named(root["contexts"], root["current-context"], "context");
        ApiAccess access{.server = {}, .token_file = {}, .token = {}, .from = "kubeconfig " + path_};
        if (!context) return access;
        const auto cluster = named(root["clusters"], (*context)["cluster"], "cluster");
        const auto user = named(root["users"], (*context)["user"], "user");
        if (cluster) read_cluster(*cluster, access.server);
        if (user) read_user(*user, access);
        return access;
    }

private:
    [[nodiscard]] std::string absolute(const std::string& path) const {
        return (std::filesystem::path(path_).parent_path() / path).lexically_normal();
    }

    // NAME-data, or the file that NAME names.
    [[nodiscard]] std::string pem(const Value& of, std::string_view name) const {
        const Value data = of[std::string(name) + "-data"];
        if (const auto text = data.scalar(); text && !text->empty()) {
            auto decoded = from_base64(*text);
            if (!decoded) data.refuse("not base64", "PEM text in base64");
            return decoded.value_or("");
        }
        const auto file = of[name].text();
        if (!file || file->empty()) return {};
        auto read = read_trusted_file(absolute(*file));
        if (!read) of[name].refuse(read.error().text(), "a readable file with PEM text");
        return read.value_or("");
    }

    void read_cluster(const Value& cluster, http::ServerAddress& server) const {
        server.url = cluster["server"].text().value_or("");
        while (server.url.ends_with('/')) server.url.pop_back();
        if (!server.url.starts_with("https://") || server.url.find('@') != std::string::npos)
            cluster["server"].refuse("not an https address", "https://HOST:PORT: connections are always verified");
        if (cluster["insecure-skip-tls-verify"].boolean().value_or(false))
            cluster["insecure-skip-tls-verify"].refuse("not supported", "give the certificate-authority");
        if (!cluster["proxy-url"].text().value_or("").empty())
            cluster["proxy-url"].refuse("not supported", "a direct connection");
        server.tls.trusted = pem(cluster, "certificate-authority");
        server.tls.server_name = cluster["tls-server-name"].text().value_or("");
        if (cluster.reading().refusals() == 0 && server.tls.trusted.empty())
            cluster["certificate-authority"].refuse("missing", "the authority that signed the server's certificate");
    }

    void read_user(const Value& user, ApiAccess& access) const {
        for (const auto* name : {"exec", "auth-provider", "username", "as"})
            if (user[name].present()) user[name].refuse("not supported", "a token, tokenFile or client certificate");
        const auto file = user["tokenFile"].text().value_or("");
        access.token_file = file.empty() ? "" : absolute(file);
        access.token = user["token"].scalar().value_or("");
        access.server.tls.certificate = pem(user, "client-certificate");
        access.server.tls.key = pem(user, "client-key");
        if (access.server.tls.certificate.empty() != access.server.tls.key.empty())
            user.refuse("has a certificate without its key, or a key without its certificate", "give both");
        const bool anonymous =
            access.token_file.empty() && access.token.empty() && access.server.tls.certificate.empty();
        if (user.reading().refusals() == 0 && anonymous)
            user.refuse("has no credentials", "a token, tokenFile or client certificate");
    }

    std::string path_;
};

}  // namespace

Result<ApiAccess> access_from_kubeconfig(const std::string& path) {
    auto text = read_trusted_file(path);
    if (!text) return tl::unexpected(text.error());
    Reading reading(document::parse_one(*text, path, kubeconfig_limits), path);
    ApiAccess access = reading.is_full() ? ApiAccess{} : KubeconfigReader(path).read(reading.root());
    const auto faults = reading.take_faults();
    if (faults.empty()) return access;
    const auto& first = faults.front();
    return fail(ErrorKind::invalid, first.file + ":" + std::to_string(first.line),
                (first.key.empty() ? "" : first.key + ": ") + first.what, first.remedy);
}

}  // namespace evictd::kube
