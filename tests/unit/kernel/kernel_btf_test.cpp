// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/kernel_btf.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>

#include <bpf/btf.h>
#include <gtest/gtest.h>

namespace evictd::kernel {
namespace {

// A kernel's types in small; each member is its id.
struct SmallKernel {
    SmallKernel() {
        (void)btf__add_func(types.get(), "task", BTF_FUNC_GLOBAL, prototype);
        (void)btf__add_typedef(types.get(), "beside", integer);
    }

    Btf types{btf__new_empty()};
    int integer = btf__add_int(types.get(), "int", 4, BTF_INT_SIGNED);
    int prototype = btf__add_func_proto(types.get(), 0);
    int other = add_struct("other", {{"field", integer}});
    int to_other = btf__add_ptr(types.get(), other);
    int element = add_struct("element", {{"field", integer}});
    int array = btf__add_array(types.get(), integer, element, 3);
    int constant = btf__add_const(types.get(), array);
    int named = btf__add_typedef(types.get(), "named", constant);
    int task = add_struct("task", {{"pointer", to_other}, {"inside", named}});
    int task_again = add_struct("task___other", {{"field", integer}});
    int last = btf__add_union(types.get(), "last", 4);

private:
    struct Member {
        const char* name;
        int type;
    };
    int add_struct(const char* name, std::initializer_list<Member> members) const {
        const int id = btf__add_struct(types.get(), name, 64);
        std::uint32_t at = 0;
        for (const auto& member : members) (void)btf__add_field(types.get(), member.name, member.type, at++ * 64, 0);
        return id;
    }
};

// A program's types: a struct of this name.
Btf program_with(const char* name) {
    Btf types(btf__new_empty());
    (void)btf__add_struct(types.get(), name, 8);
    (void)btf__add_struct(types.get(), nullptr, 8);
    return types;
}

const btf_type* type(const Btf& types, int id) { return btf__type_by_id(types.get(), static_cast<std::uint32_t>(id)); }

std::string name(const Btf& types, int id) { return btf__name_by_offset(types.get(), type(types, id)->name_off); }

bool is_left_out(const Btf& types, int id) { return btf_is_ptr(type(types, id)) && type(types, id)->type == 0; }

TEST(KernelBtf, AnExcerptHasTheTypesAndWhatTheyAreMadeOf) {
    const SmallKernel kernel;
    const auto excerpt = excerpt_for(program_with("task").get(), kernel.types.get());
    ASSERT_TRUE(excerpt);
    ASSERT_EQ(name(excerpt, kernel.task), "task");
    const btf_member* members = btf_members(type(excerpt, kernel.task));
    EXPECT_EQ(btf_vlen(type(excerpt, kernel.task)), 2);
    EXPECT_EQ(members[1].offset, 64U);
    EXPECT_EQ(members[1].type, static_cast<std::uint32_t>(kernel.named)) << "ids are the kernel's";
    EXPECT_EQ(name(excerpt, kernel.named), "named");
    EXPECT_TRUE(btf_is_const(type(excerpt, kernel.constant)));
    EXPECT_EQ(btf_array(type(excerpt, kernel.array))->nelems, 3U);
    EXPECT_EQ(name(excerpt, kernel.element), "element");
    EXPECT_EQ(name(excerpt, kernel.integer), "int");
}

TEST(KernelBtf, AnExcerptHasNothingElse) {
    const SmallKernel kernel;
    const auto excerpt = excerpt_for(program_with("task").get(), kernel.types.get());
    ASSERT_TRUE(excerpt);
    EXPECT_TRUE(is_left_out(excerpt, kernel.other)) << "a pointer to it is not followed";
    EXPECT_TRUE(is_left_out(excerpt, kernel.to_other));
    EXPECT_TRUE(is_left_out(excerpt, kernel.prototype));
    EXPECT_EQ(btf__type_cnt(excerpt.get()), static_cast<std::uint32_t>(kernel.task_again) + 1)
        << "neither the type after the last one nor the function called as the struct is";
}

// libbpf compares what is before the last three underscores.
TEST(KernelBtf, AnExcerptHasFlavours) {
    const SmallKernel kernel;
    for (const auto* called : {"task", "task___deep", "task___other"}) {
        const auto excerpt = excerpt_for(program_with(called).get(), kernel.types.get());
        ASSERT_TRUE(excerpt);
        EXPECT_EQ(name(excerpt, kernel.task), "task") << called;
        EXPECT_EQ(name(excerpt, kernel.task_again), "task___other") << called;
    }
}

TEST(KernelBtf, AnExcerptForTypesThatTheKernelDoesNotHaveIsEmpty) {
    const SmallKernel kernel;
    const auto excerpt = excerpt_for(program_with("unknown").get(), kernel.types.get());
    ASSERT_TRUE(excerpt);
    EXPECT_EQ(btf__type_cnt(excerpt.get()), 1U) << "void";
}

// Ids that lead nowhere and types that contain themselves are the kernel's fault, and no crash.
TEST(KernelBtf, AnExcerptOfNonsenseEnds) {
    const Btf types(btf__new_empty());
    const int task = btf__add_struct(types.get(), "task", 8);
    (void)btf__add_field(types.get(), "itself", task, 0, 0);
    (void)btf__add_field(types.get(), "nowhere", 1000, 0, 0);
    const auto excerpt = excerpt_for(program_with("task").get(), types.get());
    ASSERT_TRUE(excerpt);
    EXPECT_EQ(name(excerpt, task), "task");
}

}  // namespace
}  // namespace evictd::kernel
