// Failing: exceptions inside a class library, a status and a message outside of it.
//
// User code throws whatever it likes; at every entry from the engine the exception is caught, its text is given to the engine,
// and the job ends with it. std::bad_alloc becomes YT_NOMEM. Nothing ever unwinds into the engine.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "type.hpp"

namespace yunti {

// What user code throws to end the job with a message; any other exception does too, without our words.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Ends the job with this message: what is wrong, where, and what to do about it.
[[noreturn]] YUNTI_COLD inline void fail(std::string_view message) { throw Error(std::string(message)); }

namespace detail {

// The engine said stop (a full block that it could not take, a job that is being cancelled). Not a std::exception, so that
// a user's `catch (std::exception&)` lets it through.
struct Stopped {
  yt_status status;
};

inline void report(const yt_context* context, std::string_view message) noexcept {
  context->error(context->engine, str(message));
}

// Inside a catch block: the exception in flight as a status.
YUNTI_COLD inline yt_status caught(const yt_context* context) noexcept {
  try {
    throw;
  } catch (const Stopped& stopped) {
    return stopped.status;
  } catch (const std::bad_alloc&) {
    return YT_NOMEM;
  } catch (const std::exception& e) {
    report(context, e.what());
  } catch (...) {
    report(context, "unknown exception");
  }
  return YT_FAIL;
}

template <class F>
YUNTI_INLINE yt_status guard(const yt_context* context, F&& f) noexcept {
  try {
    f();
    return YT_OK;
  } catch (...) {
    return caught(context);
  }
}

}  // namespace detail
}  // namespace yunti
