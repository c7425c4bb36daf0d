// The levels of this build, best first, and what each needs of the CPU.
#pragma once
#include <vector>
#include "loops.hpp"

struct Level {
  const Loops *loops;
  bool (*possible)();
  const char *needs;
};

extern const Loops loops_baseline;
#ifdef LEVELS_OF_X86
extern const Loops loops_v3, loops_v4, loops_v4_counting;
#endif

inline std::vector<Level> levels() {
  return {
#ifdef LEVELS_OF_X86
      {__builtin_cpu_supports("avx512vpopcntdq") ? &loops_v4_counting : &loops_v4,  // the same, counting bits by one instruction
       [] {
         return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
       },
       "AVX-512 (F, BW, CD, DQ, VL)"},
      {&loops_v3, [] { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"); }, "AVX2 and FMA"},
#endif
      {&loops_baseline, [] { return true; }, "nothing beyond the architecture itself"},
  };
}
