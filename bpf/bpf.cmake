# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# bpf/evictd.bpf.c, which includes the others, compiled with clang and turned into a skeleton header by bpftool. The kernel
# types come from bpf/lib/kernel_types.h (CO-RE relocates them), so the build host needs no BTF of its own.
find_program(BPF_CLANG NAMES clang REQUIRED)
find_program(BPFTOOL NAMES bpftool PATHS /usr/sbin /sbin REQUIRED)
find_program(LLVM_STRIP NAMES llvm-strip llvm-strip-14 REQUIRED)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(bpf_arch x86)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(bpf_arch arm64)
else()
  message(FATAL_ERROR "no BPF target architecture known for ${CMAKE_SYSTEM_PROCESSOR}")
endif()

set(bpf_out ${CMAKE_BINARY_DIR}/bpf)
file(MAKE_DIRECTORY ${bpf_out}/evictd)
file(GLOB bpf_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bpf/*.bpf.c)
file(GLOB bpf_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bpf/lib/*.h ${CMAKE_SOURCE_DIR}/include/evictd/abi/*.h)
add_custom_command(OUTPUT ${bpf_out}/evictd.bpf.o
  COMMAND ${BPF_CLANG} -g -O2 -mcpu=v3 -target bpf -D__TARGET_ARCH_${bpf_arch} -Wall -Wextra -Wno-unused-parameter -Werror
          -I${CMAKE_SOURCE_DIR}/include -I${CMAKE_SOURCE_DIR}/bpf -idirafter ${CMAKE_SYSROOT}/usr/include/${CMAKE_LIBRARY_ARCHITECTURE}
          -c ${CMAKE_SOURCE_DIR}/bpf/evictd.bpf.c -o ${bpf_out}/evictd.bpf.o
  # Relocations of type information: nothing reads them, and they are a fourth of the object.
  COMMAND ${LLVM_STRIP} -g -R .rel.BTF -R .rel.BTF.ext ${bpf_out}/evictd.bpf.o
  DEPENDS ${bpf_sources} ${bpf_headers}
  COMMENT "BPF programs" VERBATIM)

add_library(evictd_skeleton INTERFACE)
# The analyzer follows our calls into the generated header and reports what it supposes there as ours.
add_custom_command(OUTPUT ${bpf_out}/evictd/skeleton.h
  COMMAND ${CMAKE_COMMAND} -E echo "// NOLINTBEGIN" > ${bpf_out}/evictd/skeleton.h
  COMMAND ${BPFTOOL} gen skeleton ${bpf_out}/evictd.bpf.o name evictd_bpf >> ${bpf_out}/evictd/skeleton.h
  COMMAND ${CMAKE_COMMAND} -E echo "// NOLINTEND" >> ${bpf_out}/evictd/skeleton.h
  DEPENDS ${bpf_out}/evictd.bpf.o COMMENT "BPF skeleton" VERBATIM)
add_custom_target(evictd_bpf_skeleton DEPENDS ${bpf_out}/evictd/skeleton.h)
target_include_directories(evictd_skeleton SYSTEM INTERFACE ${bpf_out})
get_target_property(kernel_type evictd_kernel TYPE)
if(NOT kernel_type STREQUAL "INTERFACE_LIBRARY")
  add_dependencies(evictd_kernel evictd_bpf_skeleton)
  target_link_libraries(evictd_kernel PRIVATE evictd_skeleton)
endif()
