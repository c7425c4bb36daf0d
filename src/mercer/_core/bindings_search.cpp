// What Python sees of the loops for tuning. The rules are those of bindings.cpp.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include "blocks.hpp"

namespace nb = nanobind;
using namespace nb::literals;

template <class T, int N> using In = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
using Own = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
constexpr int64_t TERMS = 5, FOUND = 11;

static void require(bool fits, const char *what) {
  if (!fits) throw nb::value_error(what);
}

static Cell cell_of(const In<double, 3> &terms, const Own &beta, const Own &F, int64_t c) {
  const int64_t cells = int64_t(beta.shape(0)), n = int64_t(beta.shape(1));
  auto term = [&](int64_t k) { return terms.data() + (k * cells + c) * n; };
  double *own = beta.data() + c * n, *slopes = F.data() + c * n;
  return {term(0), {n, slopes, own, term(1), term(2), term(3), term(4)}, own, slopes};
}

static void write(const SettledByBlocks &s, double *to) {
  const double row[FOUND] = {double(s.done), double(s.steps), double(s.newton), double(s.rounds), double(s.free), s.dual, s.gap, s.top, s.bottom, s.travel, s.scale};
  std::copy(row, row + FOUND, to);
}

static void require_cells(const In<double, 3> &terms, const Own &beta, const Own &F, const Own &found) {
  const size_t cells = beta.shape(0), n = beta.shape(1);
  require(int64_t(terms.shape(0)) == TERMS && terms.shape(1) == cells && terms.shape(2) == n, "cells: terms must be q, r, eps, lo and hi of each cell and point");
  require(F.shape(0) == cells && F.shape(1) == n, "cells: F must be as large as beta");
  require(found.shape(0) == cells && int64_t(found.shape(1)) == FOUND, "cells: found must have a row of 11 for each cell");
}

void define_search(nb::module_ &m, const Loops &loops) {
  m.def("settle_cells", [&loops](In<float, 2> K, In<double, 3> terms, In<int64_t, 2> start, In<double, 2> goals, Own beta, Own F, Own found, bool bias, int64_t most) {
    const int64_t cells = int64_t(beta.shape(0)), n = int64_t(beta.shape(1)), width = int64_t(K.shape(0));
    require(width > n && width % CHUNK == 0 && int64_t(K.shape(1)) == width && width < int64_t(1) << 24, "settle_cells: K must be square, and padded to whole chunks with room for one more point");
    require_cells(terms, beta, F, found);
    require(int64_t(start.shape(0)) == cells && start.shape(1) == 2 && int64_t(goals.shape(0)) == cells && goals.shape(1) == 2, "settle_cells: start and goals must have two numbers for each cell");
    for (int64_t k = 0; k < 2 * cells; k++) require(start.data()[k] >= 0 && start.data()[k] <= k / 2, "settle_cells: a cell starts from itself or from one before it");
    nb::gil_scoped_release release;
    Block room;
    for (int64_t c = 0; c < cells; c++) {
      const int64_t smaller = start.data()[2 * c], other = start.data()[2 * c + 1];
      const bool again = other == c;
      const double part = smaller < c ? part_at_bounds(cell_of(terms, beta, F, smaller)) : 1;
      const int64_t from = part == 0 || (part < FEW_AT_BOUNDS && !again) ? smaller : other;
      ByBlocks problem(loops, K.data(), width, cell_of(terms, beta, F, c), bias, room);
      if (from < c) problem.start(cell_of(terms, beta, F, from));
      write(problem.run(goals.data()[2 * c], goals.data()[2 * c + 1], most, again), found.data() + c * FOUND);
    }
  }, "K"_a.noconvert(), "terms"_a.noconvert(), "start"_a.noconvert(), "goals"_a.noconvert(), "beta"_a.noconvert(), "F"_a.noconvert(), "found"_a.noconvert(), "bias"_a, "most"_a);
  m.def("judge_cells", [&loops](In<double, 3> terms, Own beta, Own F, Own found, bool bias) {
    require_cells(terms, beta, F, found);
    nb::gil_scoped_release release;
    Block room;
    for (int64_t c = 0; c < int64_t(beta.shape(0)); c++) write(ByBlocks(loops, nullptr, 0, cell_of(terms, beta, F, c), bias, room).run(0, 0, 0, false), found.data() + c * FOUND);
  }, "terms"_a.noconvert(), "beta"_a.noconvert(), "F"_a.noconvert(), "found"_a.noconvert(), "bias"_a);
}
