// extsort IN_DIR OUT_DIR THREADS MEM_BYTES: terasort with one reduce for inputs larger than memory. The order of equal
// keys is undefined.
//
//   pass 1   read, copy each record into the staging buffer of its key range, write full buffers to one file per range
//   pass 2   load a range, sort it in memory, gather it into the output
//
// All large transfers are O_DIRECT. Twice as many workers as THREADS overlap the disk with the sorting, so two passes
// over the disk are the bound. Limitation: a range with many equal keys may exceed its share of memory.
#include <atomic>
#include <memory>

#include "buckets.hpp"
#include "files.hpp"
#include "memory.hpp"
#include "tera_records.hpp"
#include "threads.hpp"

constexpr size_t kPage = 4096;
constexpr size_t kBlock = 10 * kPage * 25;  // 1,024,000: whole records and whole pages

struct Range {
    int direct, buffered;
    std::atomic<uint64_t> blocks_end{0};  // full blocks, written direct
    std::atomic<uint64_t> tail_bytes{0};  // partial last blocks, in a separate file
    uint64_t bytes() const { return blocks_end + tail_bytes; }
};

// Writes the page-aligned part with O_DIRECT and the unaligned ends through the page cache. Memory must be aligned like
// the offset.
class RaggedWriter {
  public:
    RaggedWriter(int direct, int buffered) : direct_(direct), buffered_(buffered) {}
    void write(const char* from, size_t bytes, uint64_t offset) const {
        size_t head = std::min<size_t>(bytes, round_up(offset, kPage) - offset),
               middle = (bytes - head) / kPage * kPage;
        if (head) write_at(buffered_, from, head, offset);
        if (middle) write_at(direct_, from + head, middle, offset + head);
        if (head + middle < bytes)
            write_at(buffered_, from + head + middle, bytes - head - middle, offset + head + middle);
    }

  private:
    int direct_, buffered_;
};

int main(int argc, char** argv) {
    if (argc != 5) die("usage: extsort IN_DIR OUT_DIR THREADS MEM_BYTES");
    const int workers = 2 * std::max(1, atoi(argv[3]));
    const uint64_t memory = strtoull(argv[4], nullptr, 10);
    auto files = open_inputs(argv[1], O_DIRECT);
    uint64_t bytes = 0;
    std::vector<uint64_t> sample;
    char* sector = (char*)map_memory(kBlock);
    for (auto& f : files) {
        if (f.size % kRecord) die(f.path + ": not a whole number of 100-byte records");
        bytes += f.size;
        for (uint64_t at = 0; at < f.size; at += std::max<uint64_t>(kBlock, f.size / 200 / kBlock * kBlock)) {
            size_t n = read_at(f.fd, sector, kPage * 25, at);
            for (size_t r = 0; r + kRecord <= n; r += kRecord) sample.push_back(key_prefix(sector + r));
        }
    }
    // A worker holds a range, its entries twice (chains and the current bucket), input and output buffers.
    const uint64_t fixed = (kBlock * 4 + kHugePage * 4) * workers;
    if (memory < 2 * fixed) die("needs at least " + std::to_string(2 * fixed) + " bytes of memory");
    const uint64_t range_bytes = (memory - fixed) / workers * 10 / 14;
    size_t ranges_wanted = bytes / range_bytes + 1;
    if (ranges_wanted * workers * kBlock > memory - fixed) die("more ranges than the memory has room to buffer");
    const Splitters splitters(std::move(sample), ranges_wanted);

    OutputDir out(argv[2]);
    const int output = out.create_part(0, bytes);
    const int output_direct = out.create_part(0, 0, O_DIRECT);
    std::vector<Range> ranges(ranges_wanted);
    auto scratch_file = [&](size_t i, const char* kind, int flags) {
        std::string path = out.temporary() + "/.range" + std::to_string(i) + kind;
        int fd = OutputDir::create_file(path, 0, flags);
        unlink(path.c_str());
        return fd;
    };
    for (size_t i = 0; i < ranges.size(); i++) {
        ranges[i].direct = scratch_file(i, ".blocks", O_DIRECT);
        ranges[i].buffered = scratch_file(i, ".tail", 0);
    }

    struct Piece { int fd; uint64_t at, bytes; };
    std::vector<Piece> pieces;
    for (auto& f : files)
        for (uint64_t at = 0; at < f.size; at += kBlock)
            pieces.push_back({f.fd, at, std::min<uint64_t>(kBlock, f.size - at)});
    std::atomic<size_t> next_piece{0};
    on_threads(workers, [&](int) {
        char* input = (char*)map_memory(kBlock);
        char* staging = (char*)map_memory(ranges.size() * kBlock);
        std::vector<uint32_t> filled(ranges.size());
        for (size_t i; (i = next_piece.fetch_add(1)) < pieces.size();) {
            auto& p = pieces[i];
            if (read_at(p.fd, input, round_up(p.bytes, kPage), p.at) < p.bytes) die("input shrank");
            for (const char* r = input; r < input + p.bytes; r += kRecord) {
                size_t b = splitters.bucket(key_prefix(r));
                char* to = staging + b * kBlock + filled[b];
                copy_64_to_128(to, r, kRecord);
                if ((filled[b] += kRecord) == kBlock) {
                    write_at(ranges[b].direct, staging + b * kBlock, kBlock, ranges[b].blocks_end.fetch_add(kBlock));
                    filled[b] = 0;
                }
            }
        }
        for (size_t b = 0; b < ranges.size(); b++)
            if (filled[b])
                write_at(ranges[b].buffered, staging + b * kBlock, filled[b],
                         ranges[b].tail_bytes.fetch_add(filled[b]));
        unmap_memory(staging, ranges.size() * kBlock);
        unmap_memory(input, kBlock);
    });

    std::vector<uint64_t> offset(ranges.size() + 1);
    for (size_t i = 0; i < ranges.size(); i++) offset[i + 1] = offset[i] + ranges[i].bytes();
    const RaggedWriter writer(output_direct, output);
    std::atomic<size_t> next_range{0};
    on_threads(workers, [&](int) {
        constexpr size_t kStage = kHugePage;
        char* stage = (char*)map_memory(kStage + 2 * kPage);
        for (size_t i; (i = next_range.fetch_add(1)) < ranges.size();) {
            Range& range = ranges[i];
            const uint64_t size = range.bytes(), count = size / kRecord;
            if (!count) continue;
            if (count > kPositionMask) die("range too large");
            char* records = (char*)map_memory(size + 64);
            for (uint64_t at = 0; at < range.blocks_end; at += kBlock) read_at(range.direct, records + at, kBlock, at);
            read_at(range.buffered, records + range.blocks_end, range.tail_bytes, 0);
            close(range.direct);
            close(range.buffered);

            std::vector<uint64_t> prefixes;
            for (uint64_t n = 0; n < count; n += 1 + count / 16384)
                prefixes.push_back(key_prefix(records + n * kRecord));
            const Splitters cells(std::move(prefixes), std::min<size_t>(1024, count / 8192 + 1));
            Buckets buckets(cells.buckets(), count);
            for (uint64_t n = 0; n < count; n++) {
                uint64_t prefix = key_prefix(records + n * kRecord);
                size_t b = cells.bucket(prefix);
                buckets.add(b, make_entry(cells.key(b, prefix), n));
            }
            uint64_t at = offset[i], largest = 0;
            size_t lead = at % kPage, fill = lead;  // the stage is aligned like the output
            for (size_t b = 0; b < cells.buckets(); b++) largest = std::max(largest, buckets.size(b));
            uint64_t* entries = (uint64_t*)map_memory((largest + 16) * 8);
            uint64_t* scratch = (uint64_t*)map_memory((largest + 16) * 8);
            for (size_t b = 0; b < cells.buckets(); b++) {
                const size_t n = buckets.copy(b, entries) - entries;
                sort_entries(entries, n, records, scratch);
                for (size_t done = 0; done < n;) {
                    size_t part = std::min(n - done, (kStage - fill) / kRecord);
                    gather(entries + done, part, n - done, records, stage + fill);
                    fill += part * kRecord, done += part;
                    if (kStage - fill >= kRecord) continue;
                    size_t whole = fill / kPage * kPage;  // the rest waits for its page to fill
                    writer.write(stage + lead, whole - lead, at);
                    at += whole - lead;
                    memmove(stage, stage + whole, fill - whole);
                    fill -= whole, lead = 0;
                }
            }
            writer.write(stage + lead, fill - lead, at);
            unmap_memory(entries, (largest + 16) * 8);
            unmap_memory(scratch, (largest + 16) * 8);
            unmap_memory(records, size + 64);
        }
    });
    out.commit();
    _exit(0);
}
