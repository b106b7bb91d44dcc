// Open-addressing table ordered by hash. The top bits of the hash select the slot, and collisions go to the next slot.
// Slack at the end replaces wrapping. So the table grows by one sequential pass, and the entries of a hash range are
// adjacent. Tables of several threads are therefore merged range by range inside the cache.
//
// A Slot has: bool used() const (zero bytes mean unused), uint64_t hash() const, bool same(const Slot&) const for equal
// keys, void fold(const Slot&), and bool commoner(const Slot&) const for a key that is requested much more often.
#pragma once
#include <utility>

#include "memory.hpp"

template <class Slot>
class FoldTable {
  public:
    explicit FoldTable(int bits) { allocate(bits); }
    FoldTable(const FoldTable&) = delete;

    Slot* home(uint64_t hash) const { return slots_ + (hash >> shift_); }
    size_t entries() const { return entries_; }
    Slot* begin() const { return slots_; }
    Slot* end() const { return end_; }

    // Folds the slot into its entry; keep() converts a new entry first.
    template <class Keep>
    void add(const Slot& slot, uint64_t hash, Keep keep) {
        Slot* first = home(hash);
        Slot* s = first;
        for (; s->used(); s++) {
            if (!s->same(slot)) continue;
            s->fold(slot);
            // Frequent entries move to the start of their search, so the caller's first branch is well predicted.
            if (s->commoner(*first)) std::swap(*s, *first);
            return;
        }
        if (entries_ >= limit_ || s + 1 >= end_) { grow(); return add(slot, hash, keep); }
        *s = keep(slot);
        entries_++;
    }

    // Calls use(slot, hash) for each entry with from <= hash <= last.
    template <class Use>
    void each_between(uint64_t from, uint64_t last, Use use) const {
        const Slot* beyond = home(last) + 1;
        for (const Slot* s = home(from); s < end_ && (s < beyond || s->used()); s++) {
            if (!s->used()) continue;
            uint64_t h = s->hash();
            if (h >= from && h <= last) use(*s, h);
        }
    }

    void clear() {
        memset((void*)slots_, 0, (char*)end_ - (char*)slots_);
        entries_ = 0;
    }

  private:
    void allocate(int bits) {
        size_t n = (size_t(1) << bits) + 256;
        slots_ = (Slot*)map_memory(n * sizeof(Slot));
        end_ = slots_ + n;
        shift_ = 64 - bits;
        bits_ = bits;
        limit_ = (size_t(1) << bits) / 8 * 5;
        entries_ = 0;
    }
    void grow() {
        Slot *old = slots_, *old_end = end_;
        size_t entries = entries_;
        allocate(bits_ + (bits_ < 18 ? 2 : 1));
        for (Slot* o = old; o < old_end; o++) {
            if (!o->used()) continue;
            Slot* s = home(o->hash());
            while (s->used()) s++;
            if (s >= end_) die("hash cluster longer than the slack");
            *s = *o;
        }
        entries_ = entries;
        unmap_memory(old, (char*)old_end - (char*)old);
    }
    Slot *slots_, *end_;
    size_t entries_, limit_;
    int shift_, bits_;
};
