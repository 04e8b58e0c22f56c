// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// evictd-demo: a program of its own, so that the privileged agent contains neither its stage nor a load generator.
#include "demo/program.hpp"

int main(int argc, char** argv) { return evictd::demo::run_program(argc, argv); }
