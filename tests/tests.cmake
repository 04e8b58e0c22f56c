# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# unit_<folder>: tests/unit/<folder>/*_test.cpp, no root, sleep or network. kernel_tests: tests/kernel/*_test.cpp on the
# running kernel, as root. fuzz_*: tests/fuzz/*.cpp under libFuzzer. evictd_bench: tests/bench/*.cpp.
find_package(GTest REQUIRED)
enable_testing()

# What the benchmarks measured: statistics and JSON. In front of its unit tests, which link it.
file(GLOB figures_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/bench/figures/*.cpp)
list(FILTER figures_sources EXCLUDE REGEX /main\\.cpp$)
add_library(evictd_figures STATIC EXCLUDE_FROM_ALL ${figures_sources})
target_link_libraries(evictd_figures PUBLIC evictd_options nlohmann_json::nlohmann_json)
add_executable(evictd_bench_figures ${CMAKE_SOURCE_DIR}/tests/bench/figures/main.cpp)
target_link_libraries(evictd_bench_figures PRIVATE evictd_figures)

# Folders where threads meet: their unit tests run under TSan too.
set(threaded_folders sys app publish http cri kube reconcile)
add_custom_target(unit_tests)      # what is built with ASan and UBSan, and is not part of `all`
add_custom_target(threaded_tests)  # what is built with TSan

# Tests are compiled far more often than they run: -O1 takes half of the time that -O2 takes.
set(test_options $<$<CONFIG:RelWithDebInfo>:-O1>)

function(evictd_unit folder)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/unit/${folder}/*_test.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(unit_${folder} EXCLUDE_FROM_ALL ${sources})
  target_include_directories(unit_${folder} PRIVATE ${CMAKE_SOURCE_DIR}/agent ${CMAKE_SOURCE_DIR}/tests)
  if(folder STREQUAL "policy" OR folder STREQUAL "codec")
    target_include_directories(unit_${folder} PRIVATE ${CMAKE_SOURCE_DIR}/agent/${folder})
  endif()
  target_compile_definitions(unit_${folder} PRIVATE EVICTD_FIXTURES="${CMAKE_SOURCE_DIR}/tests/fixtures"
    EVICTD_GOLDEN="${CMAKE_SOURCE_DIR}/tests/golden")
  target_compile_options(unit_${folder} PRIVATE ${test_options})
  target_link_libraries(unit_${folder} PRIVATE evictd_${folder} ${ARGN} GTest::gmock GTest::gtest_main)
  evictd_unity(unit_${folder} 8)
  evictd_precompile_tests(unit_${folder})
  add_dependencies(unit_tests unit_${folder})
  if(folder IN_LIST threaded_folders)
    add_dependencies(threaded_tests unit_${folder})
  endif()
  add_test(NAME unit_${folder} COMMAND unit_${folder})
endfunction()

evictd_unit(model)
evictd_unit(policy)
evictd_unit(codec)
evictd_unit(sys)
evictd_unit(document)
evictd_unit(config)
evictd_unit(http)
evictd_unit(cri)
evictd_unit(kube)
evictd_unit(kernel evictd_skeleton PkgConfig::LIBBPF)
evictd_unit(disk)
evictd_unit(observe)
evictd_unit(act)
evictd_unit(reconcile)
evictd_unit(publish)
evictd_unit(app)
evictd_unit(doctor)
evictd_unit(cli)
evictd_unit(replay evictd_publish)
evictd_unit(load)
evictd_unit(demo evictd_config evictd_kube)
evictd_unit(figures)

# For tests/tools/test.sh: the programs of each, a line each.
foreach(target unit_tests threaded_tests)
  get_target_property(programs ${target} MANUALLY_ADDED_DEPENDENCIES)
  list(JOIN programs "\n" lines)
  file(CONFIGURE OUTPUT ${target}.txt CONTENT "${lines}\n" @ONLY)
endforeach()

file(GLOB kernel_tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/kernel/*.cpp)
if(kernel_tests)
  add_executable(kernel_tests ${kernel_tests})
  target_include_directories(kernel_tests PRIVATE ${CMAKE_SOURCE_DIR}/agent ${CMAKE_SOURCE_DIR}/tests)
  target_compile_options(kernel_tests PRIVATE ${test_options})
  target_link_libraries(kernel_tests PRIVATE evictd_app evictd_disk evictd_skeleton GTest::gmock GTest::gtest)
  evictd_unity(kernel_tests 8)
  add_test(NAME kernel_tests COMMAND kernel_tests)
  set_tests_properties(kernel_tests PROPERTIES LABELS kernel SKIP_RETURN_CODE 77 RUN_SERIAL ON TIMEOUT 600)
endif()

if(EVICTD_FUZZ)
  file(GLOB fuzzers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fuzz/*.cpp)
  foreach(source ${fuzzers})
    get_filename_component(name ${source} NAME_WE)
    add_executable(fuzz_${name} ${source})
    target_include_directories(fuzz_${name} PRIVATE ${CMAKE_SOURCE_DIR}/agent)
    target_link_libraries(fuzz_${name} PRIVATE evictd_app evictd_cri evictd_replay)
    target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer-no-link)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  endforeach()
endif()

file(GLOB bench_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/bench/*.cpp)
if(bench_sources)
  find_package(benchmark REQUIRED)
  add_executable(evictd_bench ${bench_sources})
  target_include_directories(evictd_bench PRIVATE ${CMAKE_SOURCE_DIR}/agent ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(evictd_bench PRIVATE evictd_app evictd_replay benchmark::benchmark benchmark::benchmark_main)
endif()

# What has to be measured on a whole node, with the real agent and real processes; as root.
file(GLOB node_bench_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/bench/node/*.cpp)
if(node_bench_sources)
  add_executable(evictd_node_bench ${node_bench_sources})
  target_include_directories(evictd_node_bench PRIVATE ${CMAKE_SOURCE_DIR}/agent ${CMAKE_SOURCE_DIR}/tests/bench)
  target_link_libraries(evictd_node_bench PRIVATE evictd_app evictd_figures)
endif()

# What a walk over all pods' files takes: tests/bench/disk/run.sh.
add_executable(evictd_disk_bench EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/bench/disk/main.cpp)
target_include_directories(evictd_disk_bench PRIVATE ${CMAKE_SOURCE_DIR}/agent)
target_link_libraries(evictd_disk_bench PRIVATE evictd_disk)

# For tests/bench/where/slowest.sh.
add_executable(evictd_slow_memory ${CMAKE_SOURCE_DIR}/tests/bench/where/slow_memory.cpp)

# From SIGKILL until the memory is free, by several ways: tests/bench/memory_back.md.
file(GLOB memory_back_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/bench/memory_back/*.cpp)
add_executable(evictd_memory_back ${memory_back_sources})
target_include_directories(evictd_memory_back PRIVATE ${CMAKE_SOURCE_DIR}/agent ${CMAKE_SOURCE_DIR}/tests/bench)
target_link_libraries(evictd_memory_back PRIVATE evictd_sys evictd_figures)

# cri_tests: the client of the container runtime on a real one, which tests/cri/run.sh starts.
file(GLOB cri_tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/cri/*.cpp)
add_executable(cri_tests EXCLUDE_FROM_ALL ${cri_tests})
target_include_directories(cri_tests PRIVATE ${CMAKE_SOURCE_DIR}/agent ${CMAKE_SOURCE_DIR}/tests)
target_compile_options(cri_tests PRIVATE ${test_options})
target_link_libraries(cri_tests PRIVATE evictd_cri evictd_disk evictd_http evictd_kernel evictd_observe evictd_policy evictd_reconcile evictd_sys GTest::gmock GTest::gtest)
evictd_unity(cri_tests 8)

# cri_pods: pods on a container runtime, for scripts without a kubelet (tests/cri/demo.sh).
add_executable(cri_pods EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/cri/pods/pods.cpp)
target_include_directories(cri_pods PRIVATE ${CMAKE_SOURCE_DIR}/agent)
target_link_libraries(cri_pods PRIVATE evictd_cri evictd_http fmt::fmt)

# kube_agents: many agents' traffic with one API server, for tests/kube/cases/many_agents.sh.
add_executable(kube_agents EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/kube/agents/agents.cpp)
target_include_directories(kube_agents PRIVATE ${CMAKE_SOURCE_DIR}/agent)
target_link_libraries(kube_agents PRIVATE evictd_kube evictd_reconcile)

# kube_protobuf: pods in protobuf and in JSON, from a real API server, for tests/kube/cases/pod_sources.sh.
add_executable(kube_protobuf EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/kube/protobuf/protobuf.cpp)
target_include_directories(kube_protobuf PRIVATE ${CMAKE_SOURCE_DIR}/agent ${CMAKE_SOURCE_DIR}/tests)
target_link_libraries(kube_protobuf PRIVATE evictd_kube)

# kube_survey: what pods keep on disk as evictd surveys it, for tests/kube/cases/disk_survey.sh.
add_executable(kube_survey EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/kube/survey/survey.cpp)
target_include_directories(kube_survey PRIVATE ${CMAKE_SOURCE_DIR}/agent)
target_link_libraries(kube_survey PRIVATE evictd_disk)

# vm_load: what runs in the pods of tests/vm's guests. Static, because a thousand of them are started where the CPU is
# emulated; hence not where sanitizers are, which need their shared library.
if(NOT sanitizers)
  add_executable(vm_load ${CMAKE_SOURCE_DIR}/tests/vm/guest_tools/vm_load.cpp)
  target_include_directories(vm_load PRIVATE ${CMAKE_SOURCE_DIR}/agent)
  target_link_libraries(vm_load PRIVATE evictd_load)
  target_link_options(vm_load PRIVATE -static)
  # attacker: the hostile pods of tests/adversary.
  add_executable(attacker ${CMAKE_SOURCE_DIR}/tests/adversary/attacker.cpp
    ${CMAKE_SOURCE_DIR}/tests/adversary/fuse_server.cpp)
  target_include_directories(attacker PRIVATE ${CMAKE_SOURCE_DIR}/agent)
  target_link_libraries(attacker PRIVATE evictd_load Threads::Threads)
  target_link_options(attacker PRIVATE -static)
  # evictd_soak: hostile pods at random; make soak.
  file(GLOB soak_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/soak/*.cpp)
  add_executable(evictd_soak ${soak_sources})
  target_link_libraries(evictd_soak PRIVATE evictd_options)
  add_custom_target(vm_tools DEPENDS vm_load attacker)
endif()

# Makes of the virtual machine one without BPF; static, because there it runs before anything else.
add_executable(without_bpf ${CMAKE_SOURCE_DIR}/tests/vm/guest/without_bpf.c)
set_target_properties(without_bpf PROPERTIES C_STANDARD 11)  # with glibc's syscall(), so not strict
target_compile_options(without_bpf PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Werror)
target_link_options(without_bpf PRIVATE -static)

# make peers: its witness, and one of those compared. Static, as they run in another root.
if(NOT sanitizers)
  foreach(program observer poller)
    add_executable(peers_${program} ${CMAKE_SOURCE_DIR}/tests/bench/peers/${program}.cpp)
    target_link_libraries(peers_${program} PRIVATE evictd_options)
    target_link_options(peers_${program} PRIVATE -static)
  endforeach()
endif()
