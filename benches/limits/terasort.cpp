// terasort IN_DIR OUT_DIR THREADS REDUCES: sorts 100-byte records by their first 10 bytes in total order over
// OUT_DIR/part-r-NNNNN, with equal keys in input order. The input is mapped, so each record moves only twice: into the
// staging buffer and into the page cache.
#include <atomic>
#include <memory>

#include "buckets.hpp"
#include "mapped_input.hpp"
#include "tera_records.hpp"
#include "threads.hpp"

// Prefixes from 1,024 places.
static std::vector<uint64_t> sample(const MappedInput& input) {
    std::vector<uint64_t> prefixes;
    auto& pieces = input.pieces();
    size_t places = std::min<size_t>(1024, input.bytes() / kRecord);
    for (size_t i = 0; i < places; i++) {
        auto& p = pieces[i * pieces.size() / places];
        size_t records = (p.end - p.begin) / kRecord;
        const char* r = p.begin + i * 7919 % records * kRecord;
        for (int n = 0; n < 32 && r < p.end; n++, r += kRecord) prefixes.push_back(key_prefix(r));
    }
    return prefixes;
}

int main(int argc, char** argv) {
    if (argc != 5) die("usage: terasort IN_DIR OUT_DIR THREADS REDUCES");
    const int threads = std::max(1, atoi(argv[3]));
    const size_t reduces = std::max(1, atoi(argv[4]));
    auto files = open_inputs(argv[1]);
    for (auto& f : files)
        if (f.size % kRecord) die(f.path + ": not a whole number of 100-byte records");
    MappedInput input(files, kRecord, 2500 * kRecord);
    const char* records = input.base();
    const uint64_t count = input.bytes() / kRecord;
    if (count + files.size() * 2048 > kPositionMask) die("too many records for 28 bits");
    const size_t per_reduce = std::max<size_t>(1, std::min<size_t>(1024, count / 4096 + 1) / reduces);
    const Splitters splitters(sample(input), reduces * per_reduce);
    OutputDir out(argv[2]);

    std::vector<std::unique_ptr<Buckets>> mine(threads);
    on_threads(threads, [&](int t) {
        mine[t] = std::make_unique<Buckets>(splitters.buckets(), count);
        while (auto* piece = input.claim()) {
            uint64_t position = (piece->begin - records) / kRecord;
            for (const char* r = piece->begin; r < piece->end; r += kRecord, position++) {
                uint64_t prefix = key_prefix(r);
                size_t b = splitters.bucket(prefix);
                mine[t]->add(b, make_entry(splitters.key(b, prefix), position));
            }
        }
    });

    struct Bucket { int fd; uint64_t offset, size; };
    std::vector<Bucket> buckets(splitters.buckets());
    uint64_t largest = 0;
    for (size_t b = 0; b < buckets.size(); b++) {
        for (auto& m : mine) buckets[b].size += m->size(b);
        largest = std::max(largest, buckets[b].size);
    }
    for (size_t r = 0; r < reduces; r++) {
        uint64_t size = 0;
        for (size_t b = r * per_reduce; b < (r + 1) * per_reduce; b++)
            buckets[b].offset = size, size += buckets[b].size * kRecord;
        int fd = out.create_part(r, size);
        for (size_t b = r * per_reduce; b < (r + 1) * per_reduce; b++) buckets[b].fd = fd;
    }

    // Threads take buckets of different reduces if possible, because writes to one file wait for each other.
    std::atomic<size_t> next{0};
    on_threads(threads, [&](int) {
        constexpr size_t kStage = 5000;  // records: half a MB
        char* stage = (char*)map_memory(kStage * kRecord + 64);
        uint64_t* entries = (uint64_t*)map_memory((largest + 16) * 8);
        uint64_t* scratch = (uint64_t*)map_memory((largest + 16) * 8);
        for (size_t i; (i = next.fetch_add(1)) < buckets.size();) {
            const Bucket& b = buckets[i % reduces * per_reduce + i / reduces];
            uint64_t* end = entries;
            for (auto& m : mine) end = m->copy(&b - &buckets[0], end);
            sort_entries(entries, b.size, records, scratch);
            for (uint64_t at = 0; at < b.size; at += kStage) {
                size_t n = std::min<size_t>(kStage, b.size - at);
                gather(entries + at, n, b.size - at, records, stage);
                write_at(b.fd, stage, n * kRecord, b.offset + at * kRecord);
            }
        }
    });
    out.commit();
    _exit(0);
}
