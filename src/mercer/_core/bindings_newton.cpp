// What Python sees of the loops of Newton's method: no array is converted, and what a loop relies on is checked here.
#include "bindings_newton.hpp"
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <string>
#include "margins.hpp"
#include "proximal.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class T, int N> using In = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <class T, int N> using Out = nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;

int64_t length(const auto &array, size_t axis = 0) { return int64_t(array.shape(axis)); }

void require(bool fits, const char *function, const char *what) {
  if (!fits) throw nb::value_error((std::string(function) + ": " + what).c_str());
}

void require_rows(const char *function, const In<int64_t, 1> &rows, int64_t stop) {
  for (int64_t i = 0; i < length(rows); i++) require(rows.data()[i] >= 0 && rows.data()[i] < stop, function, "there is no such row");
}

Proximal proximal(const char *function, const In<double, 2> &terms, const In<double, 1> &centre, double sigma, int64_t n) {
  require(length(terms) == 5 && length(terms, 1) == n && length(centre) == n, function, "there must be five terms, and arrays of one length");
  const double *t = terms.data();
  return {n, t, t + n, t + 2 * n, t + 3 * n, t + 4 * n, centre.data(), sigma};
}

template <class Index, class Given> void define_squares(nb::module_ &m) {
  m.def("add_sparse_squares", [](In<Index, 1> begin, In<Index, 1> column, In<Given, 1> value, In<int64_t, 1> rows, In<double, 1> weight, Out<double, 2> out, Out<double, 1> ones) {
    const char *name = "add_sparse_squares";
    const int64_t d = length(ones), entries = length(column);
    require(length(out) == d && length(out, 1) == d && length(weight) == length(rows), name, "out must be square, and each row have a weight");
    require(length(begin) > 0 && length(value) == entries, name, "the parts of a sparse matrix do not fit together");
    nb::gil_scoped_release release;
    require_rows(name, rows, length(begin) - 1);
    Index outside = 0;  // the sign of any column that is not within the width
    for (int64_t k = 0; k < length(rows); k++) {
      const Index first = begin.data()[rows.data()[k]], last = begin.data()[rows.data()[k] + 1];
      require(first >= 0 && first <= last && last <= entries, name, "starts must not fall");
      for (Index e = first; e < last; e++) outside |= column.data()[e] | (Index(d - 1) - column.data()[e]);
    }
    require(outside >= 0, name, "there is no such column");
    add_sparse_squares(begin.data(), column.data(), value.data(), rows.data(), length(rows), weight.data(), out.data(), d, ones.data());
  }, "begin"_a.noconvert(), "column"_a.noconvert(), "value"_a.noconvert(), "rows"_a.noconvert(), "weight"_a.noconvert(), "out"_a.noconvert(), "ones"_a.noconvert());
}

template <class Given> void define_dense_squares(nb::module_ &m, const Loops &loops) {
  m.def("add_dense_squares", [&loops](In<Given, 2> X, In<int64_t, 1> rows, In<double, 1> weight, bool single, Out<double, 2> out, Out<double, 1> ones) {
    const char *name = "add_dense_squares";
    const int64_t d = length(ones), count = length(rows);
    require(length(X, 1) == d && length(out) == d && length(out, 1) == d && length(weight) == count, name, "out must be square and as wide as X, and each row have a weight");
    nb::gil_scoped_release release;
    require_rows(name, rows, length(X));
    if constexpr (sizeof(Given) == 4)
      (single ? loops.squares_single : loops.squares_mixed)(X.data(), d, rows.data(), count, weight.data(), out.data(), ones.data());
    else
      loops.squares_precise(X.data(), d, rows.data(), count, weight.data(), out.data(), ones.data());
  }, "X"_a.noconvert(), "rows"_a.noconvert(), "weight"_a.noconvert(), "single"_a, "out"_a.noconvert(), "ones"_a.noconvert());
}

}  // namespace

void define_newton(nb::module_ &m, const Loops &loops) {
  m.def("proximal_point", [&loops](In<double, 1> f, In<double, 2> terms, In<double, 1> centre, double sigma, Out<double, 1> beta, Out<double, 1> rate, Out<double, 1> slack) {
    const int64_t n = length(f);
    const Proximal p = proximal("proximal_point", terms, centre, sigma, n);
    require(length(beta) == n && length(rate) == n && length(slack) == n, "proximal_point", "all arrays must be of one length");
    nb::gil_scoped_release release;
    const Proxied s = loops.proximal_point(p, f.data(), beta.data(), rate.data(), slack.data());
    return std::make_tuple(s.total, s.conjugate, s.distance, s.reach);
  }, "f"_a.noconvert(), "terms"_a.noconvert(), "centre"_a.noconvert(), "sigma"_a, "beta"_a.noconvert(), "rate"_a.noconvert(), "slack"_a.noconvert());
  m.def("proximal_slope", [&loops](In<double, 1> f, In<double, 1> df, double step, In<double, 2> terms, In<double, 1> centre, double sigma) {
    const int64_t n = length(f);
    const Proximal p = proximal("proximal_slope", terms, centre, sigma, n);
    require(length(df) == n, "proximal_slope", "all arrays must be of one length");
    nb::gil_scoped_release release;
    return loops.proximal_slope(p, f.data(), df.data(), step);
  }, "f"_a.noconvert(), "df"_a.noconvert(), "step"_a, "terms"_a.noconvert(), "centre"_a.noconvert(), "sigma"_a);
  m.def("carry", [&loops](In<double, 1> s, In<double, 1> rate, In<double, 1> near, std::tuple<double, double, double, double> step, Out<double, 1> direction, Out<double, 1> residual, Out<double, 1> f) {
    const int64_t n = length(s);
    require(length(rate) == n && length(near) == n && length(direction) == n && length(residual) == n && length(f) == n, "carry", "all arrays must be of one length");
    const auto [part, turn, centre, near_centre] = step;
    nb::gil_scoped_release release;
    loops.carry(s.data(), rate.data(), near.data(), {part, turn, centre, near_centre}, n, direction.data(), residual.data(), f.data());
  }, "s"_a.noconvert(), "rate"_a.noconvert(), "near"_a.noconvert(), "step"_a, "direction"_a.noconvert(), "residual"_a.noconvert(), "f"_a.noconvert());
  m.def("logistic", [&loops](In<double, 1> margin, Out<double, 1> loss, Out<double, 1> other, Out<double, 1> curvature) {
    const int64_t n = length(margin);
    require(length(loss) == n && length(other) == n && length(curvature) == n, "logistic", "all arrays must be of one length");
    nb::gil_scoped_release release;
    loops.logistic(margin.data(), n, loss.data(), other.data(), curvature.data());
  }, "margin"_a.noconvert(), "loss"_a.noconvert(), "other"_a.noconvert(), "curvature"_a.noconvert());
  m.def("logistic_bends", [&loops](In<double, 1> y, In<double, 1> C, In<double, 1> f, In<double, 1> df, double part) {
    const int64_t n = length(y);
    require(length(C) == n && length(f) == n && length(df) == n, "logistic_bends", "all arrays must be of one length");
    nb::gil_scoped_release release;
    const Bends found = loops.logistic_bends(y.data(), C.data(), f.data(), df.data(), part, n);
    return std::make_tuple(found.slope, found.curvature);
  }, "y"_a.noconvert(), "C"_a.noconvert(), "f"_a.noconvert(), "df"_a.noconvert(), "part"_a);
  m.def("descend_margins", [&loops](In<double, 2> X, In<double, 1> y, In<double, 1> C, std::tuple<bool, bool> kind, std::tuple<double, int64_t> limits, Out<double, 1> w, Out<double, 1> f, Out<double, 1> found) {
    const int64_t n = length(X), d = length(X, 1);
    require(n > 0 && d > 0 && length(y) == n && length(C) == n && length(f) == n && length(w) == d, "descend_margins", "y, C and f must have a number for each row of X, and w for each column");
    require(length(found) == 4, "descend_margins", "found must have 4 numbers, of which the first is b");
    nb::gil_scoped_release release;
    const Margins problem{loops, {.value = X.data(), .width = d, .sparse = false, .single = false}, n, d, y.data(), C.data(), std::get<0>(kind), std::get<1>(kind)};
    MarginSteps(problem, w.data(), f.data()).run(std::get<0>(limits), std::get<1>(limits), found.data()[0], found.data());
  }, "X"_a.noconvert(), "y"_a.noconvert(), "C"_a.noconvert(), "kind"_a, "limits"_a, "w"_a.noconvert(), "f"_a.noconvert(), "found"_a.noconvert());
  m.def("entropies", [&loops](In<double, 1> p, Out<double, 1> out) {
    require(length(out) == length(p), "entropies", "both arrays must be of one length");
    nb::gil_scoped_release release;
    loops.entropies(p.data(), length(p), out.data());
  }, "p"_a.noconvert(), "out"_a.noconvert());
  m.def("add_symmetric", [&loops](In<double, 2> K, In<double, 2> V, Out<double, 2> out, int64_t start, int64_t stop) {
    const int64_t n = length(K), width = length(V, 1);
    require(length(K, 1) == n && length(V) == n && length(out) == n && length(out, 1) == width, "add_symmetric", "K must be square, and V and out have as many rows");
    require(width % 8 == 0, "add_symmetric", "the vectors must be a multiple of 8");
    require(0 <= start && start <= stop && stop <= n, "add_symmetric", "there are not as many rows");
    nb::gil_scoped_release release;
    loops.add_symmetric(K.data(), n, V.data(), width, out.data(), start, stop);
  }, "K"_a.noconvert(), "V"_a.noconvert(), "out"_a.noconvert(), "start"_a, "stop"_a);
  define_dense_squares<float>(m, loops);
  define_dense_squares<double>(m, loops);
  define_squares<int32_t, float>(m);
  define_squares<int32_t, double>(m);
  define_squares<int64_t, float>(m);
  define_squares<int64_t, double>(m);
}
