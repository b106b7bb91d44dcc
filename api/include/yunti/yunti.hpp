// C++ API of Yunti: mappers, reducers, combiners, folders, partitioners, key orders, readers, writers and functions of
// queries in a class library (.so).
// Header-only, C++17, gcc and clang.
//
//   #include <yunti/yunti.hpp>
//
//   struct Tokenizer : yunti::Mapper<yunti::Bytes, int64_t> {
//     static constexpr bool keys_are_slices = true, value_is_one = true;
//     template <class Out>
//     void map_span(const yunti::Span& span, Out& out) {
//       yunti::words(span.text, [&](std::string_view word) { out.emit(word); });
//     }
//   };
//
//   YUNTI_LIBRARY("WordCount", "1.0",
//                 yunti::mapper<Tokenizer>("WordCount.Tokenizer"),
//                 yunti::folder<yunti::Count>("WordCount.Count"))
//
//   $ g++ -O2 -std=c++17 -fPIC -shared -fvisibility=hidden wc.cpp -o libwc.so
//   $ yunti run --lib ./libwc.so --mapper WordCount.Tokenizer --folder WordCount.Count --input books/ --output counts/
//
// An object serves one task; one thread at a time uses it. Any user function may throw. Headers, in reading order:
//   mapper.hpp  reducer.hpp  folder.hpp  partitioner.hpp     classes to write
//   key_order.hpp                                            orders, groups and composite keys
//   reader.hpp  writer.hpp                                   custom formats
//   query/{function,aggregate,column}.hpp                    functions and aggregates of `yunti sql`
//   text/{words,lines,fields,numbers}.hpp                    fast cutting of text: do not loop over the bytes yourself
//   out.hpp  named_output.hpp  values.hpp  type.hpp          outputs, inputs and their types
//   table.hpp                                                shared tables, as context.table(name) gives them
//   context.hpp  error.hpp  library.hpp                      settings, counters, errors, the table of classes
//   ../yunti.h                                               the C ABI under all of it
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "context.hpp"
#include "folder.hpp"
#include "key_order.hpp"
#include "library.hpp"
#include "mapper.hpp"
#include "named_output.hpp"
#include "partitioner.hpp"
#include "query/aggregate.hpp"
#include "query/function.hpp"
#include "reader.hpp"
#include "reducer.hpp"
#include "table/of_job.hpp"
#include "text/fields.hpp"
#include "text/lines.hpp"
#include "text/numbers.hpp"
#include "text/words.hpp"
#include "values.hpp"
#include "writer.hpp"
