#include "detector.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

static std::atomic<long> frames, alarms;

// Frames wait here between the camera and the detector.
class Belt {
public:
    void put(Frame f)
    {
        std::unique_lock<std::mutex> l(m_);
        room_.wait(l, [&] { return q_.size() < 8; });
        q_.push_back(std::move(f));
        some_.notify_one();
    }
    Frame take()
    {
        std::unique_lock<std::mutex> l(m_);
        some_.wait(l, [&] { return !q_.empty(); });
        Frame f = std::move(q_.front());
        q_.pop_front();
        room_.notify_one();
        return f;
    }

private:
    std::mutex m_;
    std::condition_variable some_, room_;
    std::deque<Frame> q_;
};

int main(int argc, char **argv)
{
    bool keep = argc > 1 && !std::strcmp(argv[1], "keep");
    Belt belt;
    std::thread camera([&] {
        for (int n = 0;; n++) {
            Frame f{n, std::vector<std::uint8_t>(320 * 180)};
            for (std::size_t i = 0; i < f.luma.size(); i++)
                f.luma[i] = static_cast<std::uint8_t>(i + (n / 8) * 3);
            belt.put(std::move(f));
        }
    });
    std::thread detector([&] {
        Detector d(keep);
        for (;;) {
            if (d.moved(belt.take()) > 1000)
                alarms++;
            frames++;
        }
    });
    std::puts("ready");
    for (;;) {
        std::fflush(stdout);
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        std::printf("total %ld\n", frames.load());
    }
}
