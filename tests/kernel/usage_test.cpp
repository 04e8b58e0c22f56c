// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The usage iterator against the kernel's own control files.
#include <algorithm>
#include <cstdlib>
#include <set>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "evictd/abi/event.h"
#include "kernel/bpf_fixture.hpp"
#include "kernel/cgroup_dirs.hpp"
#include "kernel/node_files.hpp"
#include "kernel/proc_files.hpp"
#include "kernel/usage_files.hpp"
#include "kernel/usage_iter.hpp"
#include "sys/clock.hpp"

namespace evictd::kernel_test {
namespace {

class Usage : public WithBpf {
protected:
    [[nodiscard]] port::CgroupUsage row(const std::string& name) const {
        for (const auto& each : usage()) {
            if (each.id == cgroups_.id(name)) return each;
        }
        ADD_FAILURE() << "no row for " << name;
        return {};
    }
    // Pages on their way to a list (31 folios a CPU) and counters not yet folded up (64 pages a CPU) differ.
    static bool near(std::int64_t a, std::int64_t b) { return near(a, b, {std::max<std::int64_t>(b / 20, 2 << 20)}); }
    static bool near(std::int64_t a, std::int64_t b, Bytes tolerance) { return std::abs(a - b) <= tolerance.value; }
    [[nodiscard]] std::int64_t anon(const std::string& name) const {
        return cgroups_.total(name, "inactive_anon") + cgroups_.total(name, "active_anon");
    }
};

const PodProcess::Body with_four_threads = [](const Line& line) {
    for (int i = 0; i < 4; i++) std::thread([] { ::pause(); }).detach();
    line.say('t');
    line.hear();
};

TEST_F(Usage, AgreesWithTheControlFilesOfALeaf) {
    const ColdFile file(24_MiB);
    make_pods_root(256_MiB);
    cgroups_.make("kubepods/burstable/poda/container");
    cgroups_.limit_memory("kubepods/burstable/poda", 128_MiB);
    PodProcess pod(cgroups_, "kubepods/burstable/poda/container", [&](const Line& line) {
        read_once(file.path(), 24_MiB);
        read_once(file.path(), 8_MiB);  // the second time makes them active
        touch(40_MiB);
        line.say('d');
        line.hear();
    });
    ASSERT_TRUE(pod.hear());
    const std::string leaf = "kubepods/burstable/poda/container";
    EXPECT_TRUE(eventually([&] {
        const auto read = row(leaf);
        return near(read.usage.value, cgroups_.usage(leaf)) &&
               near(read.inactive_file.value, cgroups_.total(leaf, "inactive_file")) &&
               near(read.active_file.value, cgroups_.total(leaf, "active_file")) && near(read.anon.value, anon(leaf));
    }));
    const auto read = row(leaf);
    EXPECT_FALSE(read.limit);
    EXPECT_GE(read.anon, 39_MiB) << "all but what still waits in a CPU's batch for its LRU list";
    EXPECT_GE(read.inactive_file + read.active_file, 22_MiB);
    EXPECT_EQ(row("kubepods/burstable/poda").limit, 128_MiB);
    EXPECT_EQ(row("kubepods").limit, 256_MiB);
    EXPECT_TRUE(near(row("kubepods").usage.value, cgroups_.usage("kubepods")));
}

TEST_F(Usage, AddedUpTheRowsComeToTheWholeTreesCounts) {
    const ColdFile file(16_MiB), other(16_MiB);
    make_pods_root(std::nullopt);
    const auto read_and_touch = [](const ColdFile& from) {
        return [&from](const Line& line) {
            read_once(from.path(), 16_MiB);
            touch(16_MiB);
            line.say('d');
            line.hear();
        };
    };
    cgroups_.make("kubepods/poda/one");
    cgroups_.make("kubepods/poda/two");
    PodProcess first(cgroups_, "kubepods/poda/one", read_and_touch(file));
    PodProcess second(cgroups_, "kubepods/poda/two", read_and_touch(other));
    ASSERT_TRUE(first.hear());
    ASSERT_TRUE(second.hear());
    EXPECT_TRUE(eventually([&] {
        port::CgroupUsage sum;
        for (const auto& each : usage()) {
            sum.inactive_file += each.inactive_file;
            sum.anon += each.anon;
        }
        return near(sum.inactive_file.value, cgroups_.total("kubepods", "inactive_file")) &&
               near(sum.anon.value, anon("kubepods"));
    }));
}

TEST_F(Usage, AgreesWithTheFallbackThatReadsFiles) {
    make_pods_root(256_MiB);
    cgroups_.make("kubepods/pod11111111/container");
    PodProcess pod(cgroups_, "kubepods/pod11111111/container", [](const Line& line) {
        touch(32_MiB);
        line.say('d');
        line.hear();
    });
    ASSERT_TRUE(pod.hear());
    kernel::CgroupDirs dirs(hierarchies(), cgroups_.root());
    const sys::SystemClock clock;
    kernel::UsageFiles files(hierarchies(), dirs, clock);
    std::vector<port::CgroupUsage> rows;
    const auto read = files.read(rows, port::Pass::with_processes);
    ASSERT_TRUE(read) << read.error().text();
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].id, row("kubepods").id);
    EXPECT_EQ(rows[0].limit, 256_MiB);
    EXPECT_EQ(rows[1].id, row("kubepods/pod11111111").id);
    EXPECT_TRUE(near(rows[1].usage.value, row("kubepods/pod11111111").usage.value));
    EXPECT_EQ(rows[1].processes, 1);
    EXPECT_TRUE(eventually([&] {
        return files.read(rows, port::Pass::with_processes) && rows.size() == 2 &&
               near(rows[1].anon.value, row("kubepods/pod11111111/container").anon.value);
    })) << "memory.stat";
}

TEST_F(Usage, TheNodesMemoryIsThatOfTheNodesFiles) {
    make_pods_root(256_MiB);
    auto files = kernel::ProcFiles::open();
    ASSERT_TRUE(files);
    EXPECT_TRUE(eventually([&] {
        (void)usage();
        const auto counted = bpf_->node_memory();
        const auto available = available_on_nodes();
        const auto file = (*files)->read(false);
        EXPECT_TRUE(counted && file);
        const auto more_than_the_kubelet = file->reclaimable.value - file->available.value;
        return counted && near(counted->available.value, available, 4_MiB) &&
               near(counted->reclaimable.value - counted->available.value, more_than_the_kubelet, 4_MiB);
    }));
}

TEST_F(Usage, WithoutAPodsRootTheNodesMemoryIsNotThatOfAnEarlierPass) {
    make_pods_root(256_MiB);
    (void)usage();
    EXPECT_TRUE(bpf_->node_memory());
    cgroups_.remove("kubepods");
    std::vector<port::CgroupUsage> rows;
    EXPECT_FALSE(kernel::UsageIter(*bpf_).read(rows, port::Pass::with_processes));
    EXPECT_FALSE(bpf_->node_memory());
}

TEST_F(Usage, CountsProcessesAndNotThreadsEachInItsOwnCgroup) {
    make_pods_root(std::nullopt);
    cgroups_.make("kubepods/podmany/one");
    cgroups_.make("kubepods/podmany/two");
    cgroups_.make("kubepods/podempty");
    std::vector<PodProcess> processes;
    for (int i = 0; i < 5; i++) processes.emplace_back(cgroups_, "kubepods/podmany/one");
    PodProcess threads(cgroups_, "kubepods/podmany/two", with_four_threads);
    ASSERT_TRUE(threads.hear());
    EXPECT_EQ(row("kubepods/podmany/one").processes, 5);
    EXPECT_EQ(row("kubepods/podmany/two").processes, 1);
    EXPECT_EQ(row("kubepods/podmany").processes, 0) << "those of its children are theirs";
    EXPECT_EQ(row("kubepods/podempty").processes, 0);
    EXPECT_EQ(cgroups_.processes("kubepods/podmany/one").size(), 5U);
    processes.pop_back();
    EXPECT_EQ(row("kubepods/podmany/one").processes, 4);
}

// The main thread ends, its process lives on in another one.
const PodProcess::Body without_its_main_thread = [](const Line& line) {
    std::thread([&line] {
        touch(8_MiB);
        line.say('t');
        line.hear();
    }).detach();
    (void)::syscall(SYS_exit, 0);  // as pthread_exit() does, without the exception
};

TEST_F(Usage, AProcessWithoutItsMainThreadIsOneAndPopulatesItsPod) {
    make_pods_root(std::nullopt);
    cgroups_.make("kubepods/podheadless/container");
    cgroups_.make("kubepods/podempty");
    PodProcess process(cgroups_, "kubepods/podheadless/container", without_its_main_thread);
    ASSERT_TRUE(process.hear());
    EXPECT_TRUE(eventually([&] {  // until its main thread has ended
        return cgroups_.processes("kubepods/podheadless/container").size() == 1 &&
               row("kubepods/podheadless/container").processes == 1;
    }));
    EXPECT_TRUE(row("kubepods/podheadless").populated) << "by what is below it";
    EXPECT_TRUE(row("kubepods").populated);
    EXPECT_FALSE(row("kubepods/podempty").populated);
    EXPECT_EQ(row("kubepods/podheadless").processes, 0);
}

TEST_F(Usage, APodIsEmptyWhenItsLastProcessHasEnded) {
    make_pods_root(std::nullopt);
    cgroups_.make("kubepods/podends/container");
    {
        PodProcess process(cgroups_, "kubepods/podends/container");
        EXPECT_TRUE(row("kubepods/podends").populated);
    }
    EXPECT_TRUE(eventually([&] { return !row("kubepods/podends").populated; }));
    EXPECT_FALSE(row("kubepods").populated);
}

// Whether the kernel of this machine leaves page cache with removed cgroups: Linux 7.x gives it to the parent.
TEST_F(Usage, ThePageCacheOfRemovedCgroupsIsCountedInTheLookAsInTheTimer) {
    const ColdFile file(32_MiB), other(16_MiB);
    make_pods_root(256_MiB);
    cgroups_.make("kubepods/podrestarts/first");
    cgroups_.make("kubepods/podremoved");
    const auto reads = [](const ColdFile& from, Bytes amount) {
        return [&from, amount](const Line& line) {
            read_once(from.path(), amount);
            line.say('d');
            line.hear();
        };
    };
    CgroupId removed = cgroups_.id("kubepods/podremoved");
    {
        PodProcess restarted(cgroups_, "kubepods/podrestarts/first", reads(file, 32_MiB));
        PodProcess job(cgroups_, "kubepods/podremoved", reads(other, 16_MiB));
        ASSERT_TRUE(restarted.hear());
        ASSERT_TRUE(job.hear());
    }
    cgroups_.remove("kubepods/podrestarts/first");
    cgroups_.remove("kubepods/podremoved");
    EXPECT_TRUE(eventually([&] {
        std::int64_t inactive = 0;
        for (const auto& each : usage()) inactive += each.inactive_file.value;
        return inactive >= (44_MiB).value && near(inactive, cgroups_.total("kubepods", "inactive_file"));
    })) << "of the whole tree";
    std::int64_t of_pod = 0, of_removed = 0;
    bool in_pod = false;
    for (const auto& each : usage()) {
        if (each.level <= row("kubepods/podrestarts").level) in_pod = each.id == cgroups_.id("kubepods/podrestarts");
        if (in_pod) of_pod += each.inactive_file.value;
        if (each.dying && each.id == removed) of_removed = each.inactive_file.value;
    }
    if (of_removed > 0) {
        EXPECT_GE(of_removed, (14_MiB).value) << "under the id that it had";
        EXPECT_GE(of_pod, (30_MiB).value) << "a container that restarted is still its pod's";
    }
    kernel::UsageIter iterator(*bpf_);
    EXPECT_TRUE(eventually([&] {
        const auto timer = iterator.timer_count();
        return timer && near(timer->inactive_file.value, cgroups_.total("kubepods", "inactive_file"));
    })) << "the timer";
    const auto controller = iterator.controller_count();
    ASSERT_TRUE(controller) << controller.error().text();
    EXPECT_TRUE(near((*controller)->inactive_file.value, cgroups_.total("kubepods", "inactive_file")));
    EXPECT_TRUE(eventually([&] {
        const auto count = iterator.controller_count();
        return count && *count && (*count)->accounted && near((*count)->accounted->value, usage().front().usage.value);
    })) << "all of it has a kind";
    EXPECT_TRUE(eventually([&] { return iterator.uncounted_cache() <= 4_MiB; }))
        << "the page cache of the node is that of its root memory cgroup";
}

TEST_F(Usage, APodWithTooManyCgroupsIsCountedAsAWholeAndCostsNoMoreThanOne) {
    const ColdFile file(24_MiB);
    make_pods_root(512_MiB);
    const std::string crowd = "kubepods/podcrowd";
    cgroups_.make(crowd);
    cgroups_.make("kubepods/podquiet/container");
    for (int i = 0; i <= EVICTD_MAX_POD_CGROUPS; i++) cgroups_.make(crowd + "/" + std::to_string(i));
    PodProcess process(cgroups_, crowd + "/700", [&](const Line& line) {
        read_once(file.path(), 24_MiB);
        line.say('d');
        line.hear();
    });
    ASSERT_TRUE(process.hear());
    EXPECT_EQ(usage().size(), std::size_t{EVICTD_MAX_POD_CGROUPS} + 5) << "which of them are pods was not said yet";
    ASSERT_TRUE(bpf_->show_pods({{cgroups_.id(crowd), {}}, {cgroups_.id("kubepods/podquiet"), {}}}));
    EXPECT_EQ(usage().size(), 4U);
    const auto whole = [&] { return row(crowd); };
    EXPECT_TRUE(whole().whole);
    EXPECT_TRUE(whole().populated);
    EXPECT_FALSE(row("kubepods/podquiet").whole);
    EXPECT_TRUE(eventually([&] {
        return whole().inactive_file >= 20_MiB &&
               near(whole().inactive_file.value, cgroups_.total(crowd, "inactive_file"));
    })) << "the kernel adds up every 2 s";
    kernel::UsageIter iterator(*bpf_);
    EXPECT_TRUE(eventually([&] {
        const auto timer = iterator.timer_count();
        return timer && near(timer->inactive_file.value, cgroups_.total("kubepods", "inactive_file"));
    }));
    ASSERT_TRUE(bpf_->show_pods({}));
}

TEST_F(Usage, ReadsAThousandCgroupsParentsBeforeChildren) {
    // More than fit the 32 KiB that a cgroup iterator may hand out, and more than are mapped at first.
    make_pods_root(std::nullopt);
    std::set<std::uint64_t> expected{cgroups_.id("kubepods").value};
    for (int pod = 0; pod < 400; pod++) {
        const std::string name = "kubepods/pod" + std::to_string(pod);
        for (const auto& each : {name, name + "/a", name + "/b"}) {
            cgroups_.make(each);
            expected.insert(cgroups_.id(each).value);
        }
    }
    const auto rows = usage();
    std::set<std::uint64_t> seen;
    int level = static_cast<int>(cgroups_.pods_root("kubepods").level);
    EXPECT_EQ(rows.front().level, level);
    for (const auto& each : rows) {
        EXPECT_LE(each.level, level + 1) << "a child came before its parent";
        level = each.level;
        EXPECT_TRUE(seen.insert(each.id.value).second) << "twice";
    }
    EXPECT_EQ(seen, expected);
}

TEST_F(Usage, APassThatDoesNotCountKeepsWhatWasCountedAndCountsWhatIsNew) {
    make_pods_root(std::nullopt);
    const auto waits = [](const Line& line) { line.hear(); };
    cgroups_.make("kubepods/poda");
    const PodProcess first(cgroups_, "kubepods/poda", waits);
    const auto row_of = [&](const std::string& cgroup, port::Pass pass) {
        std::vector<port::CgroupUsage> rows;
        EXPECT_TRUE(kernel::UsageIter(*bpf_).read(rows, pass));
        const auto is_it = [&](const port::CgroupUsage& row) { return row.id == cgroups_.id(cgroup); };
        const auto found = std::find_if(rows.begin(), rows.end(), is_it);
        return found == rows.end() ? port::CgroupUsage{} : *found;
    };
    EXPECT_EQ(row_of("kubepods/poda", port::Pass::with_processes).processes, 1);
    const PodProcess second(cgroups_, "kubepods/poda", waits);
    EXPECT_EQ(row_of("kubepods/poda", port::Pass::all_rows).processes, 1);
    EXPECT_EQ(row_of("kubepods/poda", port::Pass::with_processes).processes, 2);

    cgroups_.make("kubepods/podb");
    const PodProcess third(cgroups_, "kubepods/podb", waits);
    EXPECT_EQ(row_of("kubepods/podb", port::Pass::all_rows).processes, 1);
    EXPECT_TRUE(row_of("kubepods/podb", port::Pass::all_rows).populated);
    EXPECT_EQ(row_of("kubepods/poda", port::Pass::all_rows).processes, 2);
}

// A cgroup that comes before another one moves it to a row that was its own long ago.
TEST_F(Usage, ACountOfAPassBeforeTheLastIsNotKept) {
    make_pods_root(std::nullopt);
    const auto waits = [](const Line& line) { line.hear(); };
    for (const char* cgroup : {"kubepods/poda", "kubepods/podb", "kubepods/poda/before"}) cgroups_.make(cgroup);
    const auto count_of_last = [&](port::Pass pass) {
        std::vector<port::CgroupUsage> rows;
        EXPECT_TRUE(kernel::UsageIter(*bpf_).read(rows, pass));
        EXPECT_EQ(rows.back().id, cgroups_.id("kubepods/podb"));
        return rows.back().processes;
    };
    const PodProcess first(cgroups_, "kubepods/podb", waits);
    EXPECT_EQ(count_of_last(port::Pass::with_processes), 1);
    cgroups_.remove("kubepods/poda/before");
    const PodProcess second(cgroups_, "kubepods/podb", waits);
    EXPECT_EQ(count_of_last(port::Pass::with_processes), 2);
    cgroups_.make("kubepods/poda/again");
    EXPECT_EQ(count_of_last(port::Pass::all_rows), 2);
}

// What is kept is seen by limits, which change without usage.
TEST_F(Usage, APassOfChangedRowsKeepsThoseWithTheSameUsage) {
    make_pods_root(std::nullopt);
    for (const char* cgroup : {"kubepods/poda", "kubepods/podb", "kubepods/podc"}) cgroups_.make(cgroup);
    const auto row_of = [&](const char* cgroup, port::Pass pass) {
        std::vector<port::CgroupUsage> rows;
        EXPECT_TRUE(kernel::UsageIter(*bpf_).read(rows, pass));
        const auto found =
            std::find_if(rows.begin(), rows.end(), [&](const auto& each) { return each.id == cgroups_.id(cgroup); });
        return found == rows.end() ? port::CgroupUsage{} : *found;
    };
    PodProcess grows(cgroups_, "kubepods/poda", [](const Line& line) {
        line.say('r');
        line.hear();
        touch(8_MiB);
        line.say('t');
        line.hear();
    });
    ASSERT_TRUE(grows.hear());
    const auto before = row_of("kubepods/poda", port::Pass::all_rows);
    cgroups_.limit_memory("kubepods/poda", 256_MiB);
    cgroups_.limit_memory("kubepods/podb", 128_MiB);
    grows.say('g');
    ASSERT_TRUE(grows.hear());
    const auto grown = row_of("kubepods/poda", port::Pass::changed_rows);
    EXPECT_GE(grown.anon, before.anon + 7_MiB);
    EXPECT_EQ(grown.limit, 256_MiB);
    EXPECT_FALSE(row_of("kubepods/podb", port::Pass::changed_rows).limit) << "read in the pass before";
    EXPECT_EQ(row_of("kubepods/podb", port::Pass::all_rows).limit, 128_MiB);

    // Another cgroup of the same usage, in the same row.
    cgroups_.remove("kubepods/podc");
    cgroups_.make("kubepods/podd");
    EXPECT_EQ(row_of("kubepods/podd", port::Pass::changed_rows).id, cgroups_.id("kubepods/podd"));

    // One row less at the end.
    cgroups_.limit_memory("kubepods/podb", 96_MiB);
    EXPECT_EQ(row_of("kubepods/podb", port::Pass::changed_rows).limit, 128_MiB);
    cgroups_.remove("kubepods/podd");
    EXPECT_EQ(row_of("kubepods/podb", port::Pass::changed_rows).limit, 96_MiB);
}

// That takes no rights, changes no usage, and may be what crossed the threshold. mlock(2) does it with every kind of
// LRU; to read the pages again, with the classic one.
TEST_F(Usage, APassOfChangedRowsReadsAllWherePagesAreOnAnotherList) {
    make_pods_root(std::nullopt);
    cgroups_.make("kubepods/poda");
    constexpr Bytes size = 64_MiB;
    const ColdFile file(size);
    PodProcess pod(cgroups_, "kubepods/poda", [&](const Line& line) {
        read_once(file.path(), size);
        const int fd = ::open(file.path().c_str(), O_RDONLY | O_CLOEXEC);
        void* memory = ::mmap(nullptr, size.value, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
        line.say('r');
        line.hear();
        if (::mlock(memory, size.value) != 0) ::_exit(95);
        line.say('l');
        line.hear();
    });
    ASSERT_TRUE(pod.hear());
    ASSERT_TRUE(bpf_->count_memory(MemoryAvailable::reclaimable));  // active pages, as these are with some kinds, too
    const auto listed = [&](port::Pass pass) {
        std::vector<port::CgroupUsage> rows;
        EXPECT_TRUE(kernel::UsageIter(*bpf_).read(rows, pass));
        return rows.at(1).inactive_file + rows.at(1).active_file;
    };
    EXPECT_GT(listed(port::Pass::all_rows), 48_MiB);
    pod.say('l');
    ASSERT_TRUE(pod.hear());
    EXPECT_LT(listed(port::Pass::changed_rows), 16_MiB);
    EXPECT_LT(listed(port::Pass::all_rows), 16_MiB) << "without kept rows";
}

// The pages stay with it, or go to the cgroup above (Linux 7.x), whose usage is the same as before. What is less than
// 1 MiB has no row.
TEST_F(Usage, WhatIsLeftOfARemovedCgroupIsCountedOnceInAPassOfChangedRows) {
    make_pods_root(std::nullopt);
    const auto cache_in = [&](port::Pass pass) {
        std::vector<port::CgroupUsage> rows;
        EXPECT_TRUE(kernel::UsageIter(*bpf_).read(rows, pass));
        Bytes sum{0};
        for (const auto& each : rows) sum += each.inactive_file + each.active_file;
        return sum;
    };
    for (const Bytes size : {768_KiB, 8_MiB}) {
        const ColdFile file(size);
        const std::string pod = "kubepods/pod" + std::to_string(size.value);
        cgroups_.make(pod + "/container");
        {
            PodProcess reads(cgroups_, pod + "/container", [&](const Line& line) {
                read_once(file.path(), size);
                line.say('d');
                line.hear();
            });
            ASSERT_TRUE(reads.hear());
        }
        Bytes all{-1};
        ASSERT_TRUE(eventually([&] { return std::exchange(all, cache_in(port::Pass::all_rows)) == all; }));
        cgroups_.remove(pod + "/container");
        EXPECT_EQ(cache_in(port::Pass::changed_rows), all) << "the tree is another one";
        for (int i = 0; i < 50; i++) {
            EXPECT_EQ(cache_in(port::Pass::changed_rows), all)
                << "the kept row of the pod includes the removed cgroup's pages";
            std::this_thread::sleep_for(std::chrono::milliseconds(1));  // meanwhile the kernel takes it offline
        }
        EXPECT_EQ(cache_in(port::Pass::all_rows), all);
    }
}

TEST_F(Usage, ARemovedRootIsVanishedAndSoIsNone) {
    make_pods_root(std::nullopt);
    cgroups_.remove("kubepods");
    std::vector<port::CgroupUsage> rows;
    kernel::UsageIter iterator(*bpf_);
    auto read = iterator.read(rows, port::Pass::with_processes);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().kind, ErrorKind::vanished);
    ASSERT_TRUE(events_->follow(std::nullopt));
    read = iterator.read(rows, port::Pass::with_processes);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().kind, ErrorKind::vanished);
}

}  // namespace
}  // namespace evictd::kernel_test
