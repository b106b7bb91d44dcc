// Geo: functions and aggregates of places for `yunti sql`.
//
//   Geo.cell(lat, lon)                   number of the cell of a grid of 0.01 degrees
//   Geo.distance(lat, lon, lat, lon)     kilometres on a sphere
//   Geo.label(name, lat, lon)            text; a place without a name is "?"
//   Geo.box(lat, lon)                    aggregate: the least rectangle of all places, as text
//   Geo.center(lat, lon)                 aggregate: the mean place, as text
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>

#include <yunti/yunti.hpp>

namespace {

constexpr double kRadians = 3.14159265358979323846 / 180;

void check(double lat, double lon) {
  if (!(std::fabs(lat) <= 90 && std::fabs(lon) <= 180))
    yunti::fail("no place has the latitude " + std::to_string(lat) + " and the longitude " + std::to_string(lon));
}

std::string pair(double a, double b) {
  char text[64];
  std::snprintf(text, sizeof text, "%.4f %.4f", a, b);
  return text;
}

struct Cell : yunti::ScalarFunction<int64_t(double, double)> {
  int64_t call(double lat, double lon) {
    check(lat, lon);
    return static_cast<int64_t>(std::floor((lat + 90) * 100)) * 36001 + static_cast<int64_t>(std::floor((lon + 180) * 100));
  }
};

struct Distance : yunti::ScalarFunction<double(double, double, double, double)> {
  double call(double lat1, double lon1, double lat2, double lon2) {
    const double dlat = (lat2 - lat1) * kRadians / 2, dlon = (lon2 - lon1) * kRadians / 2;
    const double h = std::sin(dlat) * std::sin(dlat) +
        std::cos(lat1 * kRadians) * std::cos(lat2 * kRadians) * std::sin(dlon) * std::sin(dlon);
    return 2 * 6371.0088 * std::asin(std::sqrt(std::min(1.0, h)));
  }
};

struct Label : yunti::ScalarFunction<std::string(std::optional<std::string_view>, double, double)> {
  std::string call(std::optional<std::string_view> name, double lat, double lon) {
    return std::string(name.value_or("?")) + " " + pair(lat, lon);
  }
};

struct BoxState {
  double south, west, north, east;
};

struct Box : yunti::Aggregate<BoxState, std::optional<std::string>(double, double)> {
  static constexpr bool exact = true;
  void init(BoxState& s) { s = {INFINITY, INFINITY, -INFINITY, -INFINITY}; }
  void add(BoxState& s, double lat, double lon) { merge(s, {lat, lon, lat, lon}); }
  void merge(BoxState& s, const BoxState& o) {
    s = {std::min(s.south, o.south), std::min(s.west, o.west), std::max(s.north, o.north), std::max(s.east, o.east)};
  }
  std::optional<std::string> finish(const BoxState& s) {
    if (s.south > s.north) return std::nullopt;
    return pair(s.south, s.west) + " " + pair(s.north, s.east);
  }
};

// Sums of millionths of degrees are exact, whatever the order; sums of doubles are not.
struct CenterState {
  int64_t lat, lon, n;
};

struct Center : yunti::Aggregate<CenterState, std::optional<std::string>(double, double)> {
  static constexpr bool exact = true;
  void init(CenterState& s) { s = {0, 0, 0}; }
  void add(CenterState& s, double lat, double lon) {
    check(lat, lon);
    merge(s, {std::llround(lat * 1e6), std::llround(lon * 1e6), 1});
  }
  void merge(CenterState& s, const CenterState& o) { s = {s.lat + o.lat, s.lon + o.lon, s.n + o.n}; }
  std::optional<std::string> finish(const CenterState& s) {
    if (s.n == 0) return std::nullopt;
    const double n = static_cast<double>(s.n) * 1e6;
    return pair(static_cast<double>(s.lat) / n, static_cast<double>(s.lon) / n);
  }
};

}  // namespace

YUNTI_LIBRARY("Geo", "1.0",
              yunti::function<Cell>("Geo.cell"),
              yunti::function<Distance>("Geo.distance"),
              yunti::function<Label>("Geo.label"),
              yunti::aggregate<Box>("Geo.box"),
              yunti::aggregate<Center>("Geo.center"))
