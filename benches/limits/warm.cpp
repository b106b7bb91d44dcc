// warm BYTES: touches and frees this much memory, so that a virtual machine has it before a timed series.
#include "memory.hpp"
#include "threads.hpp"

int main(int argc, char** argv) {
    if (argc != 2) die("usage: warm BYTES");
    size_t bytes = strtoull(argv[1], nullptr, 10);
    char* p = (char*)map_memory(bytes);
    on_threads(2, [&](int t) {
        for (size_t i = bytes / 2 * t; i < bytes / 2 * (t + 1); i += 4096) p[i] = 1;
    });
}
