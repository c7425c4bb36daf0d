// While one of these lives, this thread takes denormal numbers for zeros: they are a hundred times as slow as others, and
// products of small kernel values are full of them.
#pragma once
#include <cstdint>

class NoDenormals {
 public:
  NoDenormals() : before(control()) { control(before | ZEROS); }
  NoDenormals(const NoDenormals &) = delete;
  NoDenormals &operator=(const NoDenormals &) = delete;
  ~NoDenormals() { control(before); }

 private:
#if defined __x86_64__ || defined __SSE__
  using word = uint32_t;
  static constexpr word ZEROS = 0x8040;  // MXCSR: results (FTZ) and arguments (DAZ)
  static word control() { return __builtin_ia32_stmxcsr(); }
  static void control(word to) { __builtin_ia32_ldmxcsr(to); }
#elif defined __aarch64__
  using word = uint64_t;
  static constexpr word ZEROS = uint64_t(1) << 24;  // FPCR: FZ
  static word control() {
    word now;
    asm volatile("mrs %0, fpcr" : "=r"(now));
    return now;
  }
  static void control(word to) { asm volatile("msr fpcr, %0" ::"r"(to)); }
#else
  using word = uint32_t;
  static constexpr word ZEROS = 0;
  static word control() { return 0; }
  static void control(word) {}
#endif
  word before;
};
