// The levels of this build, best first, and what each needs of the CPU.
#pragma once
#include <vector>
#include "cpu.hpp"
#include "loops.hpp"

struct Level {
  const Loops *loops;
  bool (*possible)();
  const char *needs;
};

extern const Loops loops_baseline, loops_v3, loops_v4, loops_v4_counting;

inline std::vector<Level> levels() {
  return {
#if defined LEVEL_v4 && defined LEVEL_v4_counting
      {counts_bits() ? &loops_v4_counting : &loops_v4, runs_v4, "AVX-512 (F, BW, CD, DQ, VL)"},  // the same, counting bits by one instruction
#elif defined LEVEL_v4
      {&loops_v4, runs_v4, "AVX-512 (F, BW, CD, DQ, VL)"},
#elif defined LEVEL_v4_counting
      {&loops_v4_counting, [] { return runs_v4() && counts_bits(); }, "AVX-512 (F, BW, CD, DQ, VL, VPOPCNTDQ)"},
#endif
#ifdef LEVEL_v3
      {&loops_v3, runs_v3, "AVX2 and FMA"},
#endif
      {&loops_baseline, [] { return true; }, "nothing beyond the architecture itself"},
  };
}
