// CHECK: an assertion that is active in every build and prints its place and its condition.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                                   \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);       \
      std::exit(1);                                                                        \
    }                                                                                      \
  } while (0)
