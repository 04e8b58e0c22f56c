// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a cgroup and everything below it is charged with, and of which kind it is. It outlives the processes: page cache
// and shared memory stay until their file is removed, slab until it is reclaimed.
#pragma once

#include "evictd/model/units.hpp"

namespace evictd {

// The kinds are the kernel's own counters. They were read after `total` and do not add up to it.
struct HeldMemory {
    Bytes total;
    Bytes anon;
    Bytes file;         // page cache, without `shmem`
    Bytes shmem;        // tmpfs, memfd, System V shared memory
    Bytes slab;         // dentries, inodes...; 0 on v1, which counts it in `kernel` alone
    Bytes page_tables;  // likewise
    Bytes kernel;       // all memory of the kernel's own: slab and page tables are part of it; 0 on v2 before 5.18
    friend bool operator==(const HeldMemory&, const HeldMemory&) = default;
};

}  // namespace evictd
