// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// vm_load: the load generator as a program of its own. Static, so that a thousand of it cost little in a guest. It
// measures nothing. Page cache and I/O of the cases are mostly busybox dd's.
#include <string>
#include <vector>

#include "load/load.hpp"

int main(int argc, char** argv) { evictd::load::run("vm_load", std::vector<std::string>(argv + 1, argv + argc)); }
