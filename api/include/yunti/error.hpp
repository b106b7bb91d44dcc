// Errors: exceptions inside a class library, a status and a message outside of it.
//
// User code may throw any exception. Every entry from the engine catches it and reports its text, and the job ends with
// that text. std::bad_alloc becomes YT_NOMEM. No exception unwinds into the engine.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "type.hpp"

namespace yunti {

// Exception that ends the job with its message, unchanged. Any other exception ends the job too.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Ends the job with this message, which states the fault, its position and the remedy.
[[noreturn]] YUNTI_COLD inline void fail(std::string_view message) { throw Error(std::string(message)); }

namespace detail {

// Stop request of the engine: a full block that it could not take, or a cancelled job. Not a std::exception, so a
// user's `catch (std::exception&)` does not stop it.
struct Stopped {
  yt_status status;
};

inline void report(const yt_context* context, std::string_view message) noexcept {
  context->error(context->engine, str(message));
}

// Returns the exception in flight as a status; call it inside a catch block.
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
