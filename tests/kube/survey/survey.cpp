// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Surveys the pods' directories as evictd does, and prints what it found, for comparison with the kubelet's own figures
// (cases/disk_survey.sh).
// usage: kube_survey PODS-DIRECTORY    prints "POD KIND NAME BYTES INODES" for each tree; exit 1: not all was measured
// within 30 s
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "disk/surveyor.hpp"

namespace {

using namespace evictd;

bool is_whole(const Survey& survey) {
    return survey.listed != MonotonicTime{} && survey.trouble.empty() &&
           std::all_of(survey.pods.begin(), survey.pods.end(), [](const SurveyedPod& pod) {
               return std::all_of(pod.trees.begin(), pod.trees.end(),
                                  [](const SurveyedTree& tree) { return tree.usage && tree.usage->complete; });
           });
}

void print(const Survey& survey) {
    for (const auto& pod : survey.pods) {
        for (const auto& tree : pod.trees) {
            std::printf("%s %s %s %lld %lld%s\n", pod.uid.value.c_str(), std::string(name(tree.kind)).c_str(),
                        tree.name.empty() ? "-" : tree.name.c_str(),
                        static_cast<long long>(tree.usage ? tree.usage->used.value : -1),
                        static_cast<long long>(tree.usage ? tree.usage->inodes : -1),
                        tree.trouble.empty() ? "" : (" " + tree.trouble).c_str());
        }
    }
}

}  // namespace

int main(int count, char** arguments) {
    static const sys::SystemClock clock;
    disk::Surveyor::Options options;
    if (count > 1) options.directories.pods = arguments[1];
    const auto surveyor = disk::Surveyor::make(clock, std::move(options));
    if (!surveyor) {
        std::fprintf(stderr, "kube_survey: %s\n", surveyor.error().text().c_str());
        return 1;
    }
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!is_whole(*(*surveyor)->newest()) && std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    const auto survey = (*surveyor)->newest();
    print(*survey);
    if (!survey->trouble.empty()) std::fprintf(stderr, "kube_survey: %s\n", survey->trouble.c_str());
    return is_whole(*survey) ? 0 : 1;
}
