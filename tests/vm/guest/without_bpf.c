// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Debian's kernels have no switch for BPF, so this makes the guest a machine whose kernel was built without it: bpf(2)
// answers ENOSYS to the program it starts and to everything that comes of that. Static, for it runs before anything
// else. Not for hiding BPF from the kernel itself: what is already loaded goes on, and /sys/kernel/btf stays.
//
// usage: without_bpf PROGRAM [ARGUMENT...]    without_bpf    (does bpf(2) work here? exit status 0 if it does)
#include <errno.h>
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FAILED 125  // as env(1) and timeout(1) have it: not the started program's own status

// BPF_PROG_GET_NEXT_ID asks for nothing but an answer: ENOENT where there is no program.
static int answered(void) {
    static union bpf_attr request;  // static, so that all of it is zero
    const long result = syscall(SYS_bpf, BPF_PROG_GET_NEXT_ID, &request, sizeof request);
    const int error = result < 0 ? errno : 0;
    printf("bpf(2): %s\n", error == 0 || error == ENOENT ? "answers" : strerror(error));
    return error == 0 || error == ENOENT;
}

static int install(void) {
    struct sock_filter filter[] = {
        // Another architecture's call with that number is another call, and a kernel without BPF has none of them: only
        // x86-64 programs run in this guest.
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    // Without no_new_privs, which root does not need for it: the programs keep every right but this one.
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int count, char** arguments) {
    if (count < 2) return answered() ? 0 : 1;
    if (install() != 0) {
        perror("without_bpf: seccomp");
        return FAILED;
    }
    execvp(arguments[1], arguments + 1);
    perror(arguments[1]);
    return FAILED;
}
