# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# The front door. Every target does its own set-up on a Debian 12 machine; what each does is in tests/tools/.
# Not the build itself: that is CMakeLists.txt.

BUILD        ?= build
BUILD_TYPE   ?= RelWithDebInfo
JOBS         ?= $(shell nproc)
CMAKE_ARGS   ?=
SCENARIO     ?= spike
SUITES       ?=
FUZZ_SECONDS ?=
ROUNDS       ?=
SEED         ?=
PREFIX       ?= /usr/local
DESTDIR      ?=
PARTS        ?=
KEEP         ?=
EVERY        ?=
CASES        ?=
VM_BOOTS     ?=
KUBE_CASES   ?=
BASE         ?=

export BUILD BUILD_TYPE JOBS CMAKE_ARGS FUZZ_SECONDS ROUNDS SEED PARTS KEEP EVERY CASES VM_BOOTS KUBE_CASES
tools := tests/tools

.DEFAULT_GOAL := help
.PHONY: help demo test test-kube deps build bench bench-compare bench-disk bench-disk-pressure bench-reclaim vm peers check tidy lint fmt fuzz soak image image-arm64 install clean

help: ## this list
	@$(tools)/help.sh $(MAKEFILE_LIST)

demo: ## evict a real pod under real memory pressure on this machine (root); SCENARIO=spike|leak|pagecache|sockets|oomrace|thrash|disk|forkbomb|cluster
	@$(tools)/need_root.sh "make demo"
	@$(MAKE) --no-print-directory build
	@case "$(SCENARIO)" in \
	cluster) $(tools)/build.sh $(BUILD) vm_load && EVICTD=$(BUILD)/evictd tests/kube/demo.sh ;; \
	forkbomb) EVICTD=$(BUILD)/evictd tests/adversary/demo.sh ;; \
	disk) $(tools)/build.sh $(BUILD) cri_pods && EVICTD=$(BUILD)/evictd tests/cri/demo.sh ;; \
	*) $(BUILD)/evictd demo --scenario $(SCENARIO) ;; \
	esac

test: ## every test: unit with sanitizers, real kernel, command line, real containerd, attacks, fuzzers, VM; SUITES="lint unit ..." picks some
	@$(tools)/deps.sh build lint vm cri sanitize $(findstring kube,$(SUITES))
	@$(tools)/test.sh $(SUITES)

deps: ## install the Debian packages that are missing, for every target (root)
	@$(tools)/deps.sh build lint vm kube cri sanitize image

build: ## the program, as build/evictd, and build/evictd-demo
	@$(tools)/deps.sh build
	@$(tools)/build.sh $(BUILD) evictd evictd-demo

bench: ## the numbers in deploy/docs/numbers.md, taken on this machine (root), also as build/bench.json; PARTS="scale cost ..." picks some
	@$(tools)/need_root.sh "make bench"
	@$(tools)/deps.sh build
	@$(tools)/build.sh $(BUILD) all
	@tests/bench/run.sh

bench-compare: ## is the working tree slower than a commit? (root) BASE=COMMIT ROUNDS=10 PARTS="latency-110 ..."
	@$(tools)/need_root.sh "make bench-compare"
	@$(tools)/deps.sh build
	@$(tools)/build.sh $(BUILD) evictd evictd_bench evictd_node_bench evictd_bench_figures
	@tests/bench/compare.sh "$(BASE)"

bench-disk: ## a walk over all pods' files against du, on a filesystem of its own (root, 4 GiB of disk, 5 min)
	@$(tools)/need_root.sh "make bench-disk"
	@$(tools)/deps.sh build
	@$(tools)/build.sh $(BUILD) evictd_disk_bench
	@tests/bench/disk/run.sh

bench-disk-pressure: ## crossing of a disk threshold until the decision, beside a real kubelet (root, 3 GiB of disk, 12 min)
	@$(tools)/need_root.sh "make bench-disk-pressure"
	@$(tools)/deps.sh build kube
	@$(tools)/build.sh $(BUILD) evictd evictd_disk_bench vm_load
	@EVICTD=$(BUILD)/evictd tests/bench/disk/pressure.sh

bench-reclaim: ## how long a garbage collection takes, and what evictions for memory meanwhile do (root, 3 GiB of disk, 8 min)
	@$(tools)/need_root.sh "make bench-reclaim"
	@$(tools)/deps.sh build cri
	@$(tools)/build.sh $(BUILD) evictd cri_pods vm_load
	@EVICTD=$(BUILD)/evictd tests/bench/disk/reclaim.sh

vm: ## the cases of tests/vm on other kernels and cgroup layouts, in QEMU; BOOT="6.1-v1 ..." CASES="doctor ..." EVERY=1 VM_BOOTS=part
	@$(tools)/deps.sh build vm
	@$(tools)/build.sh $(BUILD) all
	@tests/vm/matrix.sh -b $(BUILD) -B "$(BOOT)" $(CASES)

test-kube: ## tests/kube on a real API server, kubelet and containerd, built on first use (root); CASES="node ..." picks some, KUBE_CASES=part
	@$(tools)/deps.sh build kube
	@$(tools)/test.sh kube

peers: ## side by side with earlyoom, oomd, systemd-oomd, nohang, a 10 s poller and the kernel, in QEMU (root, 65 min); QUICK=1
	@$(tools)/need_root.sh "make peers"
	@$(tools)/deps.sh build vm peers
	@$(tools)/build.sh $(BUILD) evictd peers_observer peers_poller vm_load
	@tests/bench/peers/run.sh -b $(BUILD) -k sid-v2 || { [ $$? -eq 75 ] && echo "peers: without the newest kernel"; }
	@tests/bench/peers/run.sh -b $(BUILD)

tidy: ## clang-tidy over the agent
	@$(tools)/deps.sh build lint
	@$(tools)/tidy.sh

check: ## before a commit: format, clang-tidy and unit tests of what changed since HEAD (or SINCE=COMMIT)
	@$(tools)/deps.sh build lint
	@$(tools)/check.sh $(SINCE)

lint: ## format, heads and layers of every file, in seconds (with shellcheck and the rest: make test SUITES=lint)
	@$(tools)/deps.sh lint
	@$(tools)/fmt.sh --check
	@$(tools)/heads.sh
	@$(tools)/layers.sh

fmt: ## clang-format, in place
	@$(tools)/deps.sh lint
	@$(tools)/fmt.sh

fuzz: ## run every fuzzer for FUZZ_SECONDS (60)
	@$(tools)/deps.sh build sanitize
	@$(tools)/fuzz.sh

soak: ## hostile pods at random against a real agent that is killed and restarted (root); ROUNDS=500 SEED=...
	@$(tools)/need_root.sh "make soak"
	@$(tools)/deps.sh build
	@$(tools)/build.sh $(BUILD) evictd attacker evictd_soak
	@$(BUILD)/evictd_soak --evictd $(BUILD)/evictd --attacker $(BUILD)/attacker --rounds $(or $(ROUNDS),500) $(if $(SEED),--seed $(SEED))

image: ## the container image as build/evictd-image.tar, without a container engine (with one: docker build -f deploy/Dockerfile .)
	@$(tools)/deps.sh build image
	@$(tools)/build.sh $(BUILD) evictd
	@deploy/image/make.sh $(BUILD)/evictd $(BUILD)/evictd-image.tar

image-arm64: ## the same for arm64, cross-built, as build/arm64/evictd-image.tar; its evictd is tried in QEMU (CASES="doctor ...")
	@$(tools)/deps.sh build image arm64
	@$(tools)/arm64.sh $(BUILD)/arm64

install: build ## into PREFIX (/usr/local), below DESTDIR: programs, systemd unit, example config, man page, completions
	@$(tools)/install.sh $(BUILD)/evictd "$(DESTDIR)" "$(PREFIX)"

clean: ## remove what was built here (not the kernels and Kubernetes kept in ~/.cache/evictd)
	@rm -rf -- $(BUILD)
