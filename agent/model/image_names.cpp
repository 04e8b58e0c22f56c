// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "evictd/model/image_names.hpp"

#include <algorithm>

namespace evictd {

namespace {

constexpr std::string_view default_domain = "docker.io";

// splitDockerDomain: what is in front of the first "/" is a host if it looks like one.
std::string with_domain(std::string_view repository) {
    const auto end = repository.find('/');
    const auto first = repository.substr(0, end);
    const bool has_capital = std::any_of(first.begin(), first.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
    const bool is_host = end != std::string_view::npos &&
                         (first.find_first_of(".:") != std::string_view::npos || first == "localhost" || has_capital);
    std::string_view domain = is_host ? first : default_domain;
    const std::string_view rest = is_host ? repository.substr(end + 1) : repository;
    if (domain == "index.docker.io") domain = default_domain;
    const bool is_official = domain == default_domain && rest.find('/') == std::string_view::npos;
    return std::string(domain) + (is_official ? "/library/" : "/") + std::string(rest);
}

struct ImageNameParts {
    std::string_view repository;
    std::string_view tag;
    std::string_view digest;  // "sha256:..."
};

ImageNameParts parts_of(std::string_view name) {
    ImageNameParts parts;
    const auto at = name.find('@');
    if (at != std::string_view::npos) parts.digest = name.substr(at + 1);
    name = name.substr(0, at);
    const auto colon = name.rfind(':');
    const bool has_tag = colon != std::string_view::npos && name.find('/', colon) == std::string_view::npos;
    if (has_tag) parts.tag = name.substr(colon + 1);
    parts.repository = has_tag ? name.substr(0, colon) : name;
    return parts;
}

}  // namespace

std::string_view digits_of_image(std::string_view id) {
    constexpr std::string_view prefix = "sha256:";
    return id.starts_with(prefix) ? id.substr(prefix.size()) : id;
}

std::string_view digits_of_content(std::string_view name) {
    constexpr std::size_t digits = 64;
    const auto text = digits_of_image(name);
    const bool is_id = text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
    return is_id ? text : std::string_view();
}

std::vector<std::string> spellings_of_image(std::string_view name) {
    if (name.empty()) return {};
    if (const auto digits = digits_of_content(name); !digits.empty()) return {std::string(digits)};
    std::vector<std::string> spellings{std::string(name)};
    const auto parts = parts_of(name);
    if (parts.repository.empty()) return spellings;
    std::string whole = with_domain(parts.repository);
    if (parts.digest.empty()) {
        whole += ":" + std::string(parts.tag.empty() ? "latest" : parts.tag);
    } else {
        whole += "@" + std::string(parts.digest);
    }
    if (whole != name) spellings.push_back(std::move(whole));
    if (const auto digits = digits_of_content(parts.digest); !digits.empty()) spellings.emplace_back(digits);
    return spellings;
}

bool may_be_named(const RuntimeImage& image, std::string_view name) {
    std::vector<std::string> wanted = spellings_of_image(name);
    if (const auto at = name.find('@'); at != std::string_view::npos && !parts_of(name).tag.empty()) {
        for (auto& tagged : spellings_of_image(name.substr(0, at))) wanted.push_back(std::move(tagged));
    }
    const auto is_wanted = [&wanted](const std::string& listed) {
        const auto spellings = spellings_of_image(listed);
        return std::find_first_of(spellings.begin(), spellings.end(), wanted.begin(), wanted.end()) != spellings.end();
    };
    return is_wanted(image.id) || (!name.empty() && image.spec == name) ||
           std::any_of(image.tags.begin(), image.tags.end(), is_wanted) ||
           std::any_of(image.digests.begin(), image.digests.end(), is_wanted);
}

}  // namespace evictd
