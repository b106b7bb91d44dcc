// CRC-32C (Castagnoli, RFC 3720) of blocks: by the instruction of x86-64 or ARMv8 where the machine has it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>

#include "../error.hpp"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace yunti {
namespace table {
namespace detail {

// Steps of one byte.
constexpr std::array<uint32_t, 256> checksum_steps() {
  std::array<uint32_t, 256> steps{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78u : 0);
    steps[i] = crc;
  }
  return steps;
}

inline constexpr std::array<uint32_t, 256> steps = checksum_steps();

inline uint32_t checksum_by_table(const char* p, size_t n) {
  uint32_t crc = UINT32_MAX;
  for (size_t i = 0; i < n; ++i) crc = crc >> 8 ^ steps[(crc ^ static_cast<uint8_t>(p[i])) & 0xff];
  return ~crc;
}

#if defined(__x86_64__)

__attribute__((target("sse4.2"))) inline uint32_t checksum_by_instruction(const char* p, size_t n) {
  uint64_t crc = UINT32_MAX;
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t bytes;
    std::memcpy(&bytes, p + i, 8);
    crc = __builtin_ia32_crc32di(crc, bytes);
  }
  uint32_t rest = static_cast<uint32_t>(crc);
  for (; i < n; ++i) rest = __builtin_ia32_crc32qi(rest, static_cast<unsigned char>(p[i]));
  return ~rest;
}

inline bool has_instruction() { return __builtin_cpu_supports("sse4.2"); }

#elif defined(__aarch64__) && defined(__linux__)

// The assembler takes the instruction for any target, so that compilers need no flag and agree on no builtin.
inline uint32_t checksum_by_instruction(const char* p, size_t n) {
  uint32_t crc = UINT32_MAX;
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t bytes;
    std::memcpy(&bytes, p + i, 8);
    __asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(crc) : "r"(bytes));
  }
  for (; i < n; ++i) {
    const uint32_t byte = static_cast<uint8_t>(p[i]);
    __asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"(byte));
  }
  return ~crc;
}

inline bool has_instruction() {
  constexpr unsigned long crc32 = 1ul << 7;  // HWCAP_CRC32
  return (getauxval(AT_HWCAP) & crc32) != 0;
}

#else

inline uint32_t checksum_by_instruction(const char* p, size_t n) { return checksum_by_table(p, n); }
inline bool has_instruction() { return false; }

#endif

inline uint32_t checksum_of(const char* p, size_t n) {
  static const bool by_instruction = has_instruction();
  return by_instruction ? checksum_by_instruction(p, n) : checksum_by_table(p, n);
}

}  // namespace detail
}  // namespace table
}  // namespace yunti
