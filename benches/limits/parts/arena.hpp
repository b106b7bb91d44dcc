// Arena that keeps copies of byte strings until the program ends.
#pragma once
#include <algorithm>
#include <cstring>

#include "memory.hpp"

class Arena {
  public:
    const char* keep(const char* from, size_t bytes) {
        if (bytes > left_) at_ = (char*)map_memory(left_ = std::max<size_t>(bytes, 1 << 20));
        char* to = at_;
        memcpy(to, from, bytes);
        at_ += bytes;
        left_ -= bytes;
        return to;
    }

  private:
    char* at_ = nullptr;
    size_t left_ = 0;
};
