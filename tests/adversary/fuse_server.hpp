// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A file system in user space with one file, "f" of 16 MiB, whose server takes pages to be written and does not answer:
// they stay under writeback for as long as it likes.
#pragma once

#include <functional>
#include <string>

// Mounts it at `directory` and serves it for ever. Calls `ready` when it is mounted; writes are answered from then on
// that `go` exists. False: /dev/fuse cannot be opened or mounted; errno says why.
[[nodiscard]] bool serve_unanswered_writes(const std::string& directory, const std::string& go,
                                           const std::function<void()>& ready);
