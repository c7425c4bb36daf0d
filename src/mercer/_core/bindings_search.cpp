// What Python sees of the loops for tuning. The rules are those of bindings.cpp.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include "blocks.hpp"
#include "denormals.hpp"
#include "left_open.hpp"

namespace nb = nanobind;
using namespace nb::literals;

template <class T, int N> using In = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
using Own = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using In1 = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
constexpr int64_t TERMS = 5, FOUND = 11, GOALS = 3;

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

// The coefficients of a cell that are not 0, and in which row of the panel each stands.
struct Sum {
  std::vector<int64_t> slots;
  std::vector<double> v;
};

// Columns that stand one behind the other: where in K, where in the panel, and how many.
struct Run {
  int64_t from, to, many;
};

static void find_runs(const int64_t *at, int64_t many, std::vector<Run> &runs) {
  runs.clear();
  for (int64_t t = 0; t < many; t++) {
    if (t > 0 && at[t] == at[t - 1] + 1) runs.back().many++;
    else runs.push_back({at[t], t, 1});
  }
}

// out[c, t] <- sum_k beta[c, k] K[rows[k], columns[t]]: panel by panel of columns, each gathered once for all cells. Who has the
// beta of the cell before has its sums. `twice`: as if with twice the digits.
static void sum_rows(const Loops &loops, const double *K, int64_t stride, const In1 &rows, const In1 &columns, const In<double, 2> &beta, bool twice, double *out) {
  const int64_t cells = int64_t(beta.shape(0)), m = int64_t(rows.shape(0)), width = int64_t(columns.shape(0));
  std::vector<Sum> sums(static_cast<size_t>(cells));
  std::vector<int64_t> used;
  std::vector<uint8_t> same(static_cast<size_t>(cells));
  for (int64_t c = 1; c < cells; c++) same[size_t(c)] = std::equal(beta.data() + c * m, beta.data() + (c + 1) * m, beta.data() + (c - 1) * m);
  for (int64_t k = 0; k < m; k++) {
    bool any = false;
    for (int64_t c = 0; c < cells; c++)
      if (const double own = beta.data()[c * m + k]; own != 0) any = true, sums[size_t(c)].slots.push_back(int64_t(used.size())), sums[size_t(c)].v.push_back(own);
    if (any) used.push_back(rows.data()[k]);
  }
  std::vector<double> panel(used.size() * SUMMED);
  std::vector<Run> runs;
  for (int64_t first = 0; first < width; first += SUMMED) {
    const int64_t many = std::min(SUMMED, width - first);
    find_runs(columns.data() + first, many, runs);
    for (size_t k = 0; k < used.size(); k++)
      for (const Run &run : runs) std::copy_n(K + used[k] * stride + run.from, run.many, panel.data() + int64_t(k) * SUMMED + run.to);
    for (int64_t c = 0; c < cells; c++) {
      if (same[size_t(c)]) {
        std::copy_n(out + (c - 1) * width + first, many, out + c * width + first);
        continue;
      }
      double found[SUMMED] = {};
      const int64_t *slots = sums[size_t(c)].slots.data(), count = int64_t(sums[size_t(c)].v.size());
      if (twice) loops.sum_panel(panel.data(), slots, sums[size_t(c)].v.data(), count, found);
      else loops.precise.add_rows(panel.data(), SUMMED, slots, sums[size_t(c)].v.data(), count, SUMMED, found);
      std::copy(found, found + many, out + c * width + first);
    }
  }
}

// The same numbers in float32, what is too small as 0.
static void rounded(const double *K, int64_t n, float *to, int64_t stride) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) to[i * stride + j] = float(K[i * n + j]);
}

void define_search(nb::module_ &m, const Loops &loops) {
  m.def("sum_rows", [&loops](In<double, 2> K, In1 rows, In1 columns, In<double, 2> beta, bool twice, Own out) {
    require(beta.shape(1) == rows.shape(0) && out.shape(0) == beta.shape(0) && out.shape(1) == columns.shape(0), "sum_rows: beta needs a column for each row of K, and out one for each column, with a row for each of beta");
    for (size_t k = 0; k < rows.shape(0); k++) require(rows.data()[k] >= 0 && rows.data()[k] < int64_t(K.shape(0)), "sum_rows: K has no such row");
    for (size_t k = 0; k < columns.shape(0); k++) require(columns.data()[k] >= 0 && columns.data()[k] < int64_t(K.shape(1)), "sum_rows: K has no such column");
    nb::gil_scoped_release release;
    const NoDenormals off;
    sum_rows(loops, K.data(), int64_t(K.shape(1)), rows, columns, beta, twice, out.data());
  }, "K"_a.noconvert(), "rows"_a.noconvert(), "columns"_a.noconvert(), "beta"_a.noconvert(), "twice"_a, "out"_a.noconvert());
  m.def("rounded", [](In<double, 2> K, nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu> out) {
    require(K.shape(0) == K.shape(1) && out.shape(0) >= K.shape(0) && out.shape(1) >= K.shape(0), "rounded: K must be square, and out no smaller");
    nb::gil_scoped_release release;
    const NoDenormals off;
    rounded(K.data(), int64_t(K.shape(0)), out.data(), int64_t(out.shape(1)));
  }, "K"_a.noconvert(), "out"_a.noconvert());
  m.def("settle_cells", [&loops](In<float, 2> K, In<double, 3> terms, In<int64_t, 2> start, In<double, 2> goals, Own beta, Own F, Own found, bool bias, int64_t most) {
    const int64_t cells = int64_t(beta.shape(0)), n = int64_t(beta.shape(1)), width = int64_t(K.shape(0));
    require(width > n && width % CHUNK == 0 && int64_t(K.shape(1)) == width && width < int64_t(1) << 24, "settle_cells: K must be square, and padded to whole chunks with room for one more point");
    require_cells(terms, beta, F, found);
    require(int64_t(start.shape(0)) == cells && start.shape(1) == 2 && int64_t(goals.shape(0)) == cells && int64_t(goals.shape(1)) == GOALS, "settle_cells: start must have two numbers for each cell, and goals three");
    for (int64_t k = 0; k < 2 * cells; k++) require(start.data()[k] >= 0 && start.data()[k] <= k / 2, "settle_cells: a cell starts from itself or from one before it");
    nb::gil_scoped_release release;
    const NoDenormals off;
    Block room;
    for (int64_t c = 0; c < cells; c++) {
      const int64_t smaller = start.data()[2 * c], other = start.data()[2 * c + 1];
      const bool again = other == c;
      const double part = smaller < c ? part_at_bounds(cell_of(terms, beta, F, smaller)) : 1;
      const int64_t from = part == 0 || (part < FEW_AT_BOUNDS && !again) ? smaller : other;
      ByBlocks problem(loops, K.data(), width, cell_of(terms, beta, F, c), bias, room);
      if (from < c) problem.start(cell_of(terms, beta, F, from), cell_of(terms, beta, F, smaller < c ? smaller : from));
      write(problem.run({goals.data()[GOALS * c], goals.data()[GOALS * c + 1], goals.data()[GOALS * c + 2]}, most, again), found.data() + c * FOUND);
    }
  }, "K"_a.noconvert(), "terms"_a.noconvert(), "start"_a.noconvert(), "goals"_a.noconvert(), "beta"_a.noconvert(), "F"_a.noconvert(), "found"_a.noconvert(), "bias"_a, "most"_a);
  m.def("left_open", [](In<double, 3> terms, In<double, 2> weights, In<double, 2> targets, Own beta, Own scores, In<double, 2> found, Own out, bool bias) {
    const int64_t cells = int64_t(beta.shape(0)), n = int64_t(beta.shape(1)), folds = int64_t(targets.shape(0)) - 1;
    require(int64_t(terms.shape(0)) == TERMS && terms.shape(1) == beta.shape(0) && terms.shape(2) == beta.shape(1), "left_open: terms must be q, r, eps, lo and hi of each cell and point");
    require(scores.shape(0) == beta.shape(0) && scores.shape(1) == beta.shape(1) && weights.shape(0) == beta.shape(0) && weights.shape(1) == beta.shape(1) && targets.shape(1) == beta.shape(1), "left_open: weights, scores and targets must be of the points of beta");
    require(folds > 0 && cells % folds == 0 && int64_t(found.shape(0)) == cells && found.shape(1) == 4 && int64_t(out.shape(0)) == cells && out.shape(1) == 5, "left_open: each fold needs y and as many cells, and each cell four numbers found and five to come");
    nb::gil_scoped_release release;
    for (int64_t c = 0; c < cells; c++) {
      const double *known = found.data() + 4 * c, *y = targets.data() + (1 + c / (cells / folds)) * n;
      auto row = [&](const double *first, int64_t number) { return first + number * n; };
      const Open open = left_open({n, y, row(weights.data(), c), row(terms.data(), 3 * cells + c), row(terms.data(), 4 * cells + c), row(beta.data(), c), row(scores.data(), c), targets.data(), known[0], known[1], known[2], known[3] != 0}, bias);
      const double to[] = {open.radius, open.least, open.most, open.b, open.lost};
      std::copy(to, to + 5, out.data() + 5 * c);
    }
  }, "terms"_a.noconvert(), "weights"_a.noconvert(), "targets"_a.noconvert(), "beta"_a.noconvert(), "scores"_a.noconvert(), "found"_a.noconvert(), "out"_a.noconvert(), "bias"_a);
  m.def("measure_cells", [&loops](In<double, 3> terms, Own beta, Own F, Own found, bool bias) {
    require_cells(terms, beta, F, found);
    nb::gil_scoped_release release;
    Block room;
    for (int64_t c = 0; c < int64_t(beta.shape(0)); c++) write(ByBlocks(loops, nullptr, 0, cell_of(terms, beta, F, c), bias, room).run({0, 0, 0}, 0, false), found.data() + c * FOUND);
  }, "terms"_a.noconvert(), "beta"_a.noconvert(), "F"_a.noconvert(), "found"_a.noconvert(), "bias"_a);
}
