// CHECK: an assertion that stays on in every build and says what it saw.
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
