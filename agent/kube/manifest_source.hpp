// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Pods from a directory of manifests, watched. Used for evictd's own directory and for the kubelet's staticPodPath.
// Slow disks are its lane's trouble only.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "evictd/port/pod_source.hpp"
#include "kube/directory_watch.hpp"
#include "kube/manifest_directory.hpp"
#include "sys/lane.hpp"

namespace evictd::kube {

class ManifestSource final : public port::PodSource {
public:
    // A file that was begun and is not closed within this is read as it is. Writers that never close, and files linked
    // into place without having been written there, are rare; a pod in a half-written file is worse than a late one.
    static constexpr Duration default_writer_pause = std::chrono::seconds(1);

    // `origin` is every pod's, whatever it says of itself: static_file for the kubelet's staticPodPath. The directory
    // may not exist yet.
    explicit ManifestSource(const std::string& directory, std::optional<PodOrigin> origin = PodOrigin::api,
                            Duration writer_pause = default_writer_pause);

    Status start(OnChange on_change) override;
    [[nodiscard]] std::string describe() const override;

private:
    void begin();
    Status watch();
    void on_event();
    void absorb(const DirectoryWatch::Changes& changes);
    void look();
    void look_now();
    void look_soon();
    void publish(port::PodSet set);

    std::string directory_;
    std::optional<PodOrigin> origin_;
    Duration writer_pause_;
    OnChange on_change_;
    ManifestDirectory manifests_;
    std::optional<DirectoryWatch> watch_;
    std::set<std::string> unfinished_;
    std::optional<port::PodSet> published_;
    bool is_look_due_ = false;
    Duration rest_{0};  // between an event and the look it calls for
    sys::Source readable_;
    sys::Timer soon_;    // look again, a moment after an event
    sys::Timer settle_;  // read what was begun and never closed
    sys::Timer again_;   // look without an event: it cannot be watched, or not all of it can be read
    // The last member: its thread uses all of the above, and is gone before they are.
    std::unique_ptr<sys::Lane> lane_;
};

}  // namespace evictd::kube
