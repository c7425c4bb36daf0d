// Prints the best level of this machine, for a build that is to be quick (MERCER_LEVELS=here in CMakeLists.txt).
#include <cstdio>
#include "cpu.hpp"

int main() {
  std::printf("%s", runs_v4() ? (counts_bits() ? "v4_counting" : "v4") : runs_v3() ? "v3" : "");
}
