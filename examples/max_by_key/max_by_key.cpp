// Maximum by key as a class library.
// SPDX-License-Identifier: Apache-2.0
#include "max.hpp"
#include "parse.hpp"

YUNTI_LIBRARY("MaxByKey", "1.0",
              yunti::mapper<max_by_key::Parse>("MaxByKey.Parse"),
              yunti::folder<max_by_key::Max>("MaxByKey.Max"),
              yunti::folder<yunti::Max<int64_t>>("MaxByKey.KnownMax"),
              yunti::reducer<max_by_key::Max>("MaxByKey.MaxReducer"))
