// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The memory that loading BPF takes for a moment: the kernel's types (BTF) are copied by us and again by libbpf.
#pragma once

namespace evictd::kernel {

// Call before the kernel's types are read, from one thread; more than once does no harm. Changes malloc
// for the whole process: freed memory stays with it until release_load_memory(). Where enough memory is free it also
// touches 14 MiB as huge pages (madvise(2), MADV_HUGEPAGE). It begins no page after 40 ms, as the kernel may have to
// compact memory. PR_SET_THP_DISABLE is lifted meanwhile, for all threads, and then set again. On some virtual machines
// a page fault takes 12 us, and loading has 4,000 of them. Cannot fail: without huge pages, loading takes longer.
void prepare_load_memory();

// When BPF is loaded, and before memory is locked. Gives freed memory back (malloc_trim(3)) and splits the huge pages
// that are left. Also without prepare_load_memory() before.
void release_load_memory();

}  // namespace evictd::kernel
