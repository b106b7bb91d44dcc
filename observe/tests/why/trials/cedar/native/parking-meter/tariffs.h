#pragma once
#include <array>
#include <memory>

struct Tariff {
    std::array<int, 24> cents_per_hour;
    int most_per_day;
    int day;
};

// The tariff of the day; a clerk replaces it now and then.
class Tariffs {
public:
    Tariffs();
    std::shared_ptr<const Tariff> current() const;
    void replace(std::shared_ptr<const Tariff> t);

private:
    std::shared_ptr<const Tariff> tariff_;
};
