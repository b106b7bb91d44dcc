// Word count as a class library: mapper, combiner and reducer as in MapReduce, or a folder, which is faster.
// SPDX-License-Identifier: Apache-2.0
#include "plain_tokenizer.hpp"
#include "sum_reducer.hpp"
#include "tokenizer.hpp"

YUNTI_LIBRARY("WordCount", "1.0",
              yunti::mapper<word_count::Tokenizer>("WordCount.Tokenizer"),
              yunti::mapper<word_count::PlainTokenizer>("WordCount.PlainTokenizer"),
              yunti::reducer<word_count::SumReducer>("WordCount.SumReducer"),
              yunti::combiner<word_count::SumReducer>("WordCount.SumCombiner"),
              yunti::folder<yunti::Count>("WordCount.Count"))
