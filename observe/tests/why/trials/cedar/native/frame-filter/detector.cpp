#include "detector.h"

#include <cstdlib>

Detector::Detector(bool keep) : keep_(keep), before_(320 * 180)
{
    if (keep_)
        kept_.reset(new std::uint8_t[work_size]);
}

// Spreads the coarse picture over the pyramid of the work buffer.
void Detector::mask(const Frame &f, std::uint8_t *work) const
{
    std::size_t n = f.luma.size();
    std::size_t step = work_size / n;
    for (std::size_t i = 0; i < n; i++) {
        int d = std::abs(f.luma[i] - before_[i]);
        work[i * step] = static_cast<std::uint8_t>(d > 16 ? d : 0);
    }
}

int Detector::moved(const Frame &f)
{
    std::unique_ptr<std::uint8_t[]> own;
    if (!keep_)
        own.reset(new std::uint8_t[work_size]);
    std::uint8_t *work = keep_ ? kept_.get() : own.get();
    mask(f, work);
    std::size_t step = work_size / f.luma.size();
    int points = 0;
    for (std::size_t i = 0; i < f.luma.size(); i++)
        points += work[i * step] != 0;
    before_ = f.luma;
    return points;
}
