// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The manifests of one directory as pods. Remembers what it has read, so that looking again costs a stat for each file.
// It does not watch; manifest_source does.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <sys/stat.h>

#include "document/node.hpp"
#include "evictd/model/pod.hpp"
#include "evictd/port/pod_source.hpp"
#include "kube/manifest_text.hpp"
#include "sys/fd.hpp"

namespace evictd::kube {

inline constexpr std::size_t largest_manifest = document::manifest_limits.bytes;
// As many as the map "pods" has room for (bpf/pods.bpf.c): twenty times the pods of the densest node.
inline constexpr std::size_t most_manifests = 16'384;

// *.yaml, *.yml and *.json that are not hidden. What editors leave behind (a.yaml~, .a.yaml.swp, #a.yaml#) is none.
[[nodiscard]] bool is_manifest_name(std::string_view name);

class ManifestDirectory {
public:
    ManifestDirectory(std::string path, std::optional<PodOrigin> origin);

    // In the order of the files' names. Never blocks on what it finds. Of several pods with one uid, the one that the
    // last look found keeps it, else the first: a file that is added displaces no pod.
    // `unfinished` are being written: what was read of them before holds. So does what was read of a file or directory
    // that cannot be read now (PodSet::unread): any local user can take the last descriptor of the machine, and a pod
    // that is not known cannot be evicted. Only proof that there is no such manifest, or a text that is refused, drops
    // what is known of it.
    [[nodiscard]] port::PodSet look(const std::set<std::string>& unfinished);
    // To be read again, even if it looks unchanged: two writes may fall into one tick of the file's clock.
    void read_again(const std::string& name);
    void read_all_again();

private:
    struct Known {
        struct stat status {};
        Manifest manifest;
        bool read_again = false;
    };

    port::PodSet look_without_list(Error error);
    void read(int directory, const std::string& name, port::PodSet& set);
    void judge_unopened(int directory, const std::string& name, int error_number, port::PodSet& set);
    void reject(const std::string& name, std::string why, std::string remedy, port::PodSet& set);
    void keep(const std::string& name, const Error& error, port::PodSet& set);
    [[nodiscard]] std::string path_of(const std::string& name) const { return path_ + "/" + name; }
    [[nodiscard]] std::string shown(const std::string& name) const;  // its path, for messages
    void add(const Manifest& manifest, port::PodSet& set);
    void settle_uids(port::PodSet& set);

    std::string path_;
    std::optional<PodOrigin> origin_;
    std::map<std::string, Known> known_;
    // A pod of the look under way, and the line of its uid.
    struct Declared {
        PodPtr pod;
        std::string where;  // FILE:LINE
    };
    std::vector<Declared> declared_;
    std::map<PodUid, PodPtr> known_pods_;  // what the last look found
};

}  // namespace evictd::kube
