#pragma once
#include <cstdint>
#include <memory>
#include <vector>

struct Frame {
    int number;
    std::vector<std::uint8_t> luma;   // a coarse picture, 320 x 180
};

class Detector {
public:
    explicit Detector(bool keep);
    int moved(const Frame &f);

private:
    static constexpr std::size_t work_size = 48u << 20;
    void mask(const Frame &f, std::uint8_t *work) const;
    bool keep_;
    std::unique_ptr<std::uint8_t[]> kept_;
    std::vector<std::uint8_t> before_;
};
