// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What decide() was given and what it decided, on a tape in rotating files, each complete in itself. Looks that a full
// disk or a full queue took are counted and reported, and the tape continues with a part that does not need them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "codec/tape_json.hpp"
#include "evictd/port/publisher.hpp"
#include "publish/rotating_file.hpp"

namespace evictd::publish {

struct TapeOptions {
    std::string path;
    // A look at 110 pods is some 15 KB, so this is half a day of them at their quietest. Half of it would lose the
    // evening before a bad night.
    Bytes max_size = 64_MiB;
    int max_files = 2;
};

class TapeRecorder final : public port::Publisher {
public:
    TapeRecorder(const TapeOptions& options, std::string version, std::string node, WallTime started);

    // An Error if the file cannot be written at all, which is better known at the start.
    [[nodiscard]] static Result<std::unique_ptr<TapeRecorder>> make(const TapeOptions& options, std::string version,
                                                                    std::string node, WallTime started);

    void publish(const RecordPtr& record) override;
    // Any thread.
    [[nodiscard]] std::uint64_t lost_looks() const { return lost_; }

private:
    Status write(const Tick& tick);
    void lose(const Error& error);

    RotatingFile file_;
    codec::TapeWriter writer_;
    bool begin_part_ = true;  // nothing written before is of use for what comes
    std::uint64_t last_look_ = 0;
    std::shared_ptr<const EvictionConfig> config_;  // of the last look
    std::atomic<std::uint64_t> lost_ = 0;
    std::uint64_t losing_ = 0;  // in a row
};

}  // namespace evictd::publish
