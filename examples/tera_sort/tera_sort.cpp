// TeraSort as a class library.
// SPDX-License-Identifier: Apache-2.0
#include "range_partitioner.hpp"
#include "records.hpp"

YUNTI_LIBRARY("TeraSort", "1.0",
              yunti::mapper<tera_sort::Records>("TeraSort.Records"),
              yunti::partitioner<tera_sort::RangePartitioner>("TeraSort.RangePartitioner"))
