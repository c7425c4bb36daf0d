// What this CPU can run, in the words of levels.hpp.
#pragma once

inline bool runs_v3() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"); }

inline bool runs_v4() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

inline bool counts_bits() { return __builtin_cpu_supports("avx512vpopcntdq"); }
