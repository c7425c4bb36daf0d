// What Python sees: arrays and scalars in, nothing kept; serial, without the GIL. No array is ever converted: a copy would
// be written to in its place. Everything that a loop relies on is checked here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <string>
#include "ballots.hpp"
#include "bindings_features.hpp"
#include "bindings_newton.hpp"
#include "one_call.hpp"
#include "levels.hpp"
#include "packing.hpp"
#include "points.hpp"
#include "several.hpp"
#include "whole.hpp"

namespace nb = nanobind;
using namespace nb::literals;

template <class T, int N> using In = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <class T, int N> using Out = nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <class T> using Rows = nb::ndarray<T, nb::ndim<2>, nb::device::cpu>;  // entries of a row are neighbours
using Described = std::tuple<int, int, double, double, int64_t>;               // a Form, as Python has it

static int64_t length(const auto &array, size_t axis = 0) { return int64_t(array.shape(axis)); }

[[noreturn]] static void refuse(const char *function, const std::string &what) { throw nb::value_error((std::string(function) + ": " + what).c_str()); }
static void require(bool fits, const char *function, const char *what) {
  if (!fits) refuse(function, what);
}
static void require_within(const char *function, const char *name, const int64_t *index, int64_t count, int64_t least, int64_t stop) {
  for (int64_t i = 0; i < count; i++)
    if (index[i] < least || index[i] >= stop)
      refuse(function, std::string(name) + "[" + std::to_string(i) + "] is " + std::to_string(index[i]) + ", not between " + std::to_string(least) + " and " + std::to_string(stop - 1));
}
static Form as_form(const char *function, const Described &given) {
  auto [way, map, factor, offset, exponent] = given;
  require(way >= 0 && way <= int(Way::counts) && map >= 0 && map <= int(Map::matern52), function, "no such form");
  require(exponent >= 1, function, "an exponent must be 1 or more");
  return {Way(way), Map(map), factor, offset, exponent};
}
template <class T> static int64_t stride_of(const char *function, const Rows<T> &rows) {
  require(rows.shape(0) == 0 || rows.shape(1) < 2 || rows.stride(1) == 1, function, "the entries of a row must be neighbours in memory");
  return rows.shape(0) > 1 ? rows.stride(0) : length(rows, 1);
}
// `count` points in packs of `size`
template <class Real> static Packed<Real> packed(const char *function, const In<Real, 3> &values, const In<Real, 1> &levels, int64_t count, int64_t size) {
  require(length(values, 2) == size, function, "points are packed by groups (rows) or panels (columns)");
  require(levels.shape(0) == values.shape(0) * values.shape(2), function, "each packed point needs a level");
  require(count >= 0 && count <= length(levels), function, "there are not as many points");
  return {values.data(), levels.data(), count, length(values, 1)};
}
template <class Real> constexpr int64_t PANEL_OF = PANEL * 4 / int64_t(sizeof(Real));
template <class Given, class Real> static void define_pack(nb::module_ &m) {
  m.def("pack", [](In<Given, 2> X, In<int64_t, 1> index, In<double, 1> centre, double factor, Out<Real, 3> out, Out<Real, 1> levels) {
    const int64_t size = length(out, 2), d = length(out, 1), count = length(index), groups = length(out);
    require(length(X, 1) == d && length(centre) == d, "pack", "X, centre and out must have the same coordinates");
    require(groups * size >= count && length(levels) == groups * size, "pack", "out has no room for the points, or levels for theirs");
    require(size <= 64, "pack", "no more than 64 points are packed together");
    require_within("pack", "index", index.data(), count, 0, length(X));
    nb::gil_scoped_release release;
    pack(X.data(), index.data(), count, d, centre.data(), factor, out.data(), levels.data(), groups, size);
  }, "X"_a.noconvert(), "index"_a.noconvert(), "centre"_a.noconvert(), "factor"_a, "out"_a.noconvert(), "levels"_a.noconvert());
}

template <class Real> static void define_tiles(nb::module_ &m, const LoopsOf<Real> &loops) {
  using P = In<Real, 3>;
  using L = In<Real, 1>;
  m.def("fill", [&loops](P A, L a, P Z, L z, Described form, In<int64_t, 1> slots, Rows<Real> out) {
    const Form f = as_form("fill", form);
    auto rows = packed<Real>("fill", A, a, length(slots), GROUP), columns = packed<Real>("fill", Z, z, length(out, 1), PANEL_OF<Real>);
    require(rows.d == columns.d, "fill", "rows and columns must have the same coordinates");
    require_within("fill", "slots", slots.data(), rows.count, 0, length(out));
    const int64_t stride = stride_of("fill", out);
    nb::gil_scoped_release release;
    loops.fill(rows, columns, f, slots.data(), out.data(), stride);
  }, "A"_a.noconvert(), "a"_a.noconvert(), "Z"_a.noconvert(), "z"_a.noconvert(), "form"_a, "slots"_a.noconvert(), "out"_a.noconvert());
  m.def("square", [&loops](P A, L a, P Z, L z, Described form, int64_t count, Rows<Real> out) {
    const Form f = as_form("square", form);
    auto rows = packed<Real>("square", A, a, count, GROUP), columns = packed<Real>("square", Z, z, count, PANEL_OF<Real>);
    require(rows.d == columns.d, "square", "rows and columns must have the same coordinates");
    require(length(out) >= count && length(out, 1) >= count, "square", "out must have a row and a column for each point");
    const int64_t stride = stride_of("square", out);
    nb::gil_scoped_release release;
    loops.square(rows, columns, f, out.data(), stride);
  }, "A"_a.noconvert(), "a"_a.noconvert(), "Z"_a.noconvert(), "z"_a.noconvert(), "form"_a, "count"_a, "out"_a.noconvert());
  m.def("add", [&loops](P A, L a, P Z, L z, Described form, In<double, 2> V, Rows<double> out) {
    const Form f = as_form("add", form);
    auto rows = packed<Real>("add", A, a, length(V), GROUP), columns = packed<Real>("add", Z, z, length(out, 1), PANEL_OF<Real>);
    require(rows.d == columns.d, "add", "rows and columns must have the same coordinates");
    require(out.shape(0) == V.shape(1), "add", "out must have a row for each column of V");
    const int64_t stride = stride_of("add", out);
    nb::gil_scoped_release release;
    loops.add(rows, columns, f, V.data(), length(V, 1), out.data(), stride);
  }, "A"_a.noconvert(), "a"_a.noconvert(), "Z"_a.noconvert(), "z"_a.noconvert(), "form"_a, "V"_a.noconvert(), "out"_a.noconvert());
  m.def("add_both", [&loops](P A, L a, P Z, L z, Described form, In<double, 1> v, In<double, 1> w, Out<double, 1> below, Out<double, 1> above) {
    const Form f = as_form("add_both", form);
    auto rows = packed<Real>("add_both", A, a, length(v), GROUP), columns = packed<Real>("add_both", Z, z, length(w), PANEL_OF<Real>);
    require(rows.d == columns.d, "add_both", "rows and columns must have the same coordinates");
    require(below.shape(0) == w.shape(0) && above.shape(0) == v.shape(0), "add_both", "below is as long as w, and above as v");
    nb::gil_scoped_release release;
    loops.add_both(rows, columns, f, v.data(), w.data(), below.data(), above.data());
  }, "A"_a.noconvert(), "a"_a.noconvert(), "Z"_a.noconvert(), "z"_a.noconvert(), "form"_a, "v"_a.noconvert(), "w"_a.noconvert(), "below"_a.noconvert(), "above"_a.noconvert());
}

template <class Real> static void define_free_step(nb::module_ &m, const Loops &loops, const LoopsOf<Real> &own) {
  m.def("free_step", [&loops, &own](In<Real, 2> K, In<Real, 1> diag, Out<Real, 1> F, Out<double, 1> beta, In<double, 1> lo, In<double, 1> hi, In<double, 1> eps, std::tuple<bool, int64_t> how) {
    const int64_t n = length(F);
    require(length(K) == n && length(K, 1) == n && length(diag) == n && length(beta) == n && length(lo) == n && length(hi) == n && length(eps) == n, "free_step", "all arrays must be as long as F, and K square");
    const auto [bias, most] = how;
    FreeStep found;
    {
      nb::gil_scoped_release release;
      found = free_step<Real>(loops, own, {n, n, K.data(), diag.data(), F.data(), beta.data(), lo.data(), hi.data(), eps.data()}, bias, most);
    }
    return std::make_tuple(found.free, found.again);
  }, "K"_a.noconvert(), "diag"_a.noconvert(), "F"_a.noconvert(), "beta"_a.noconvert(), "lo"_a.noconvert(), "hi"_a.noconvert(), "eps"_a.noconvert(), "how"_a);
}

template <class Real> static void define_rows(nb::module_ &m, const LoopsOf<Real> &loops) {
  m.def("finish_rows", [&loops](Described form, In<Real, 1> own, In<Real, 1> levels, In<int64_t, 1> slots, Rows<Real> rows) {
    const Form f = as_form("finish_rows", form);
    const int64_t count = length(slots), n = length(rows, 1), stride = stride_of("finish_rows", rows);
    require(own.shape(0) == slots.shape(0), "finish_rows", "each row needs a level of its own");
    require(length(levels) >= (n + PANEL_OF<Real> - 1) / PANEL_OF<Real> * PANEL_OF<Real>, "finish_rows", "levels must be padded to whole panels");
    require_within("finish_rows", "slots", slots.data(), count, 0, length(rows));
    nb::gil_scoped_release release;
    loops.finish_rows(f, own.data(), levels.data(), slots.data(), count, rows.data(), stride, n);
  }, "form"_a, "own"_a.noconvert(), "levels"_a.noconvert(), "slots"_a.noconvert(), "rows"_a.noconvert());
  m.def("sparse_sums", [](In<int32_t, 1> start, In<int32_t, 1> place, In<Real, 1> value, In<int32_t, 1> by_start, In<int32_t, 1> by_place, In<Real, 1> by_value, int way, In<int64_t, 1> slots, Rows<Real> out) {
    const char *name = "sparse_sums";
    const int64_t count = length(slots), n = length(out, 1), d = length(by_start) - 1, stride = stride_of(name, out);
    require(way >= 0 && way <= int(Way::chi2_distances) && way != int(Way::squares), name, "no such way for sparse points");
    auto require_consistent = [&](const In<int32_t, 1> &s, const In<int32_t, 1> &p, const In<Real, 1> &v, int64_t stop) {
      require(s.shape(0) > 0 && p.shape(0) == v.shape(0) && s.data()[0] == 0 && s.data()[s.shape(0) - 1] <= length(p), name, "the parts of a sparse matrix do not fit together");
      for (size_t i = 0; i + 1 < s.shape(0); i++) require(s.data()[i] <= s.data()[i + 1], name, "starts must not fall");
      for (size_t i = 0; i < p.shape(0); i++) require(p.data()[i] >= 0 && p.data()[i] < stop, name, "no such coordinate or point");
    };
    require(length(start) == count + 1, name, "there must be a row for each slot");
    require_consistent(start, place, value, d);
    require_consistent(by_start, by_place, by_value, n);
    require_within(name, "slots", slots.data(), count, 0, length(out));
    nb::gil_scoped_release release;
    sparse_sums<Real>({start.data(), place.data(), value.data()}, {by_start.data(), by_place.data(), by_value.data()}, Way(way), slots.data(), count, out.data(), stride, n);
  }, "start"_a.noconvert(), "place"_a.noconvert(), "value"_a.noconvert(), "by_start"_a.noconvert(), "by_place"_a.noconvert(), "by_value"_a.noconvert(), "way"_a, "slots"_a.noconvert(), "out"_a.noconvert());
  m.def("add_rows", [&loops](Rows<const Real> rows, In<int64_t, 1> slots, In<double, 1> v, Out<double, 1> out) {
    const int64_t stride = stride_of("add_rows", rows);
    require(length(out) <= length(rows, 1) && slots.shape(0) == v.shape(0), "add_rows", "out is longer than the rows, or v not as long as slots");
    require_within("add_rows", "slots", slots.data(), length(slots), 0, length(rows));
    nb::gil_scoped_release release;
    loops.add_rows(rows.data(), stride, slots.data(), v.data(), length(v), length(out), out.data());
  }, "rows"_a.noconvert(), "slots"_a.noconvert(), "v"_a.noconvert(), "out"_a.noconvert());
  m.def("mirror", [&loops](Rows<Real> K, int64_t first, int64_t last) {
    const int64_t stride = stride_of("mirror", K);
    require(0 <= first && first <= last && last <= length(K) && last <= length(K, 1), "mirror", "rows must be within K");
    nb::gil_scoped_release release;
    loops.mirror(K.data(), stride, first, last);
  }, "K"_a.noconvert(), "first"_a, "last"_a);
  m.def("gather", [](Rows<const Real> rows, In<int64_t, 1> slots, In<int64_t, 1> W, Rows<const Real> own, Rows<Real> K) {
    const int64_t size = length(W), stride = stride_of("gather", rows), own_stride = stride_of("gather", own), width = stride_of("gather", K);
    require(slots.shape(0) == W.shape(0) && length(K) >= size && length(K, 1) >= size, "gather", "K must have a row and a column for each point");
    require_within("gather", "slots", slots.data(), size, -1, length(rows));
    require_within("gather", "W", W.data(), size, 0, length(rows, 1));
    int64_t others = 0;
    for (int64_t i = 0; i < size; i++) others += slots.data()[i] < 0;
    require(length(own) >= others && length(own, 1) >= others, "gather", "own must have a row and a column for each point without a slot");
    nb::gil_scoped_release release;
    gather(rows.data(), stride, slots.data(), W.data(), size, own.data(), own_stride, K.data(), width);
  }, "rows"_a.noconvert(), "slots"_a.noconvert(), "W"_a.noconvert(), "own"_a.noconvert(), "K"_a.noconvert());
  m.def("pair_descent", [&loops](In<Real, 2> K, In<Real, 1> diag, Out<Real, 1> F, Out<double, 1> beta, In<double, 1> lo, In<double, 1> hi, In<double, 1> eps, double tol, int64_t most) {
    const int64_t n = length(F);
    require(n > 0 && n % CHUNK == 0, "pair_descent", "arrays must be padded to whole chunks");
    require(n < int64_t(1) << 24, "pair_descent", "a working set must be smaller than 2^24");
    require(length(K) == n && length(K, 1) == n && length(diag) == n && length(beta) == n && length(lo) == n && length(hi) == n && length(eps) == n, "pair_descent", "all arrays must be as long as F, and K square");
    require(most >= 0, "pair_descent", "most must be 0 or more");
    double violation;
    int64_t steps;
    {
      nb::gil_scoped_release release;
      steps = loops.pair_descent({n, n, K.data(), diag.data(), F.data(), beta.data(), lo.data(), hi.data(), eps.data()}, tol, most, &violation);
    }
    return std::make_tuple(steps, violation);
  }, "K"_a.noconvert(), "diag"_a.noconvert(), "F"_a.noconvert(), "beta"_a.noconvert(), "lo"_a.noconvert(), "hi"_a.noconvert(), "eps"_a.noconvert(), "tol"_a, "most"_a);
  m.def("settle", [&loops](In<Real, 2> K, In<double, 1> r, In<double, 1> eps, In<double, 1> lo, In<double, 1> hi, Out<double, 1> beta, Out<double, 1> F, bool bias, double dual, double goal, int64_t most) {
    const int64_t n = length(beta), width = length(K);
    require(width > n && width % CHUNK == 0 && length(K, 1) == width && width < int64_t(1) << 24, "settle", "K must be square, and padded to whole chunks with room for one more point");
    require(length(r) == n && length(eps) == n && length(lo) == n && length(hi) == n && length(F) == n, "settle", "all arrays must be of one length");
    Settled s;
    {
      nb::gil_scoped_release release;
      s = settle(loops, K.data(), width, {n, F.data(), beta.data(), r.data(), eps.data(), lo.data(), hi.data()}, beta.data(), F.data(), bias, dual, goal, most);
    }
    return std::make_tuple(s.done, s.steps, s.free, s.dual, s.gap, s.top, s.bottom, s.travel);
  }, "K"_a.noconvert(), "r"_a.noconvert(), "eps"_a.noconvert(), "lo"_a.noconvert(), "hi"_a.noconvert(), "beta"_a.noconvert(), "F"_a.noconvert(), "bias"_a, "dual"_a, "goal"_a, "most"_a);
}

using Vector64 = In<double, 1>;
static Points points(const char *function, const Vector64 &F, const Vector64 &beta, const Vector64 &r, const Vector64 &eps, const Vector64 &lo, const Vector64 &hi) {
  const size_t n = beta.shape(0);
  require(F.shape(0) == n && r.shape(0) == n && eps.shape(0) == n && lo.shape(0) == n && hi.shape(0) == n, function, "all arrays must be of one length");
  return {int64_t(n), F.data(), beta.data(), r.data(), eps.data(), lo.data(), hi.data()};
}

static void define_points(nb::module_ &m, const Loops &loops) {
  m.def("solve_definite", [&loops](Out<double, 2> H, Out<double, 2> B) {
    const int64_t n = length(H);
    require(n > 0 && length(H, 1) == n && length(B) == n, "solve_definite", "H must be square, and B have a row for each of H");
    nb::gil_scoped_release release;
    if (!loops.precise.factor(H.data(), n)) return false;
    loops.precise.substitute(H.data(), n, B.data(), length(B, 1));
    return true;
  }, "H"_a.noconvert(), "B"_a.noconvert());
  m.def("extremes", [](Vector64 F, Vector64 beta, Vector64 eps, Vector64 lo, Vector64 hi) {
    const Points p = points("extremes", F, beta, beta, eps, lo, hi);
    nb::gil_scoped_release release;
    const Extremes e = extremes(p);
    return std::make_tuple(e.top, e.bottom, e.free);
  }, "F"_a.noconvert(), "beta"_a.noconvert(), "eps"_a.noconvert(), "lo"_a.noconvert(), "hi"_a.noconvert());
  m.def("shares", [](Vector64 F, Vector64 beta, Vector64 r, Vector64 eps, Vector64 lo, Vector64 hi, double b) {
    const Points p = points("shares", F, beta, r, eps, lo, hi);
    nb::gil_scoped_release release;
    return shares(p, b);
  }, "F"_a.noconvert(), "beta"_a.noconvert(), "r"_a.noconvert(), "eps"_a.noconvert(), "lo"_a.noconvert(), "hi"_a.noconvert(), "b"_a);
  m.def("choose", [](Vector64 F, Vector64 beta, Vector64 eps, Vector64 lo, Vector64 hi, double top, double bottom, Out<uint8_t, 1> taken, Out<int64_t, 1> chosen) {
    const Points p = points("choose", F, beta, beta, eps, lo, hi);
    require(length(taken) == p.n, "choose", "taken must be as long as beta");
    const int64_t half = length(chosen) / 2;
    nb::gil_scoped_release release;
    const int64_t size = choose_largest(p, 1.0, bottom, top - bottom, taken.data(), chosen.data(), 0, half);
    return choose_largest(p, -1.0, -top, top - bottom, taken.data(), chosen.data(), size, half);
  }, "F"_a.noconvert(), "beta"_a.noconvert(), "eps"_a.noconvert(), "lo"_a.noconvert(), "hi"_a.noconvert(), "top"_a, "bottom"_a, "taken"_a.noconvert(), "chosen"_a.noconvert());
  m.def("account", [](Vector64 q, Vector64 r, Vector64 eps, Vector64 lo, Vector64 hi, Vector64 beta, Vector64 dual_scores, Vector64 scores, double b, Out<double, 1> share) {
    const Points p = points("account", dual_scores, beta, r, eps, lo, hi);
    require(length(q) == p.n && length(scores) == p.n && length(share) == p.n, "account", "all arrays must be of one length");
    nb::gil_scoped_release release;
    const Account a = account(p, q.data(), dual_scores.data(), scores.data(), b, share.data());
    return std::make_tuple(a.loss, a.conjugate, a.norm, a.top, a.bottom, a.outside, a.total, a.largest);
  }, "q"_a.noconvert(), "r"_a.noconvert(), "eps"_a.noconvert(), "lo"_a.noconvert(), "hi"_a.noconvert(), "beta"_a.noconvert(), "dual_scores"_a.noconvert(), "scores"_a.noconvert(), "b"_a, "share"_a.noconvert());
}

// Several problems: the terms of all, the rows of each up to its end, and what is found.
using Described64 = std::tuple<Described, Vector64, double>;  // a form, the centre and the factor of the levels
using How = std::tuple<bool, double, double, int64_t>;        // a Goal
using Terms64 = std::tuple<Vector64, Vector64, Vector64, Vector64, Vector64>;
using Found = std::tuple<Out<double, 1>, Out<double, 1>, Out<double, 2>>;
using Counted = std::tuple<Out<double, 2>, Out<double, 2>>;  // votes and margins
template <class Settle> static void for_parts(const char *name, const In<int64_t, 1> &ends, const In<int64_t, 1> &rows, int64_t points_there, const Terms64 &terms, const Found &found, Settle settle) {
  const auto &[q, r, eps, lo, hi] = terms;
  const auto &[beta, share, sums] = found;
  const int64_t many = length(ends), total = length(rows);
  points(name, q, q, r, eps, lo, hi);
  require(length(q) == total && length(beta) == total && length(share) == total, name, "each row needs its terms, beta and share");
  require(length(sums) == many && length(sums, 1) == 10, name, "sums must have ten columns, and a row for each part");
  for (int64_t k = 0; k < many; k++) require((k ? ends.data()[k - 1] : 0) < ends.data()[k] && ends.data()[k] <= total, name, "ends must rise, up to the number of rows");
  require_within(name, "rows", rows.data(), total, 0, points_there);
  nb::gil_scoped_release release;
  std::vector<double> room;
  for (int64_t k = 0; k < many; k++) {
    const int64_t first = k ? ends.data()[k - 1] : 0, n = ends.data()[k] - first;
    const Points p{n, nullptr, nullptr, r.data() + first, eps.data() + first, lo.data() + first, hi.data() + first};
    settle(rows.data() + first, Part{p, q.data() + first, beta.data() + first, share.data() + first, sums.data() + k * 10}, room);
  }
}
static Goal as_goal(const char *name, const How &how) {
  const auto &[bias, gap, violation, most] = how;
  require(most >= 0, name, "the most steps must be 0 or more");
  return {bias, gap, violation, most};
}
static Tiled as_tiled(const char *name, const Described64 &given, int64_t d) {
  const auto &[form, centre, factor] = given;
  require(length(centre) == d, name, "a centre has the coordinates of the points");
  return {as_form(name, form), centre.data(), factor};
}
template <class Given> static void define_points_of(nb::module_ &m, const Loops &loops) {
  m.def("settle_points", [&loops](In<Given, 2> X, Described64 single, Described64 precise, In<int64_t, 1> ends, In<int64_t, 1> rows, Terms64 terms, Found found, How how) {
    const char *name = "settle_points";
    const int64_t d = length(X, 1);
    const Tiled coarse = as_tiled(name, single, d), fine = as_tiled(name, precise, d);
    const Goal goal = as_goal(name, how);
    for_parts(name, ends, rows, length(X), terms, found, [&](const int64_t *own, const Part &part, std::vector<double> &room) { settle_points(loops, X.data(), d, coarse, fine, own, part, goal, room); });
  }, "X"_a.noconvert(), "single"_a, "precise"_a, "ends"_a.noconvert(), "rows"_a.noconvert(), "terms"_a.noconvert(), "found"_a.noconvert(), "how"_a);
}
// Kernel values of few points in one call, which packs them too.
template <class Given> static void define_one_call(nb::module_ &m, const Loops &all) {
  const LoopsOf<double> &loops = all.precise;
  m.def("square_points", [&loops](In<Given, 2> X, Described64 precise, Rows<double> out) {
    const char *name = "square_points";
    const int64_t n = length(X), d = length(X, 1), stride = stride_of(name, out);
    const Tiled tiled = as_tiled(name, precise, d);
    require(length(out) >= n && length(out, 1) >= n, name, "out must have a row and a column for each point");
    nb::gil_scoped_release release;
    square_points(loops, X.data(), n, d, tiled, out.data(), stride);
  }, "X"_a.noconvert(), "precise"_a, "out"_a.noconvert());
  m.def("sum_points", [&loops](In<Given, 2> Z, In<Given, 2> X, Described64 precise, In<double, 2> V, In<int64_t, 1> ends, Out<double, 3> out) {
    const char *name = "sum_points";
    const int64_t d = length(X, 1), parts = length(ends);
    const Tiled tiled = as_tiled(name, precise, d);
    require(length(Z, 1) == d && length(V) == length(Z), name, "Z must have the coordinates of X, and V a row for each of its points");
    require(length(out) == parts && length(out, 1) == length(V, 1) && length(out, 2) == length(X), name, "out must be parts x columns of V x points of X");
    for (int64_t k = 0; k < parts; k++) require((k ? ends.data()[k - 1] : 0) <= ends.data()[k] && ends.data()[k] <= length(Z), name, "ends must not fall, nor pass the points of Z");
    nb::gil_scoped_release release;
    sum_points(loops, Z.data(), X.data(), length(X), d, tiled, V.data(), length(V, 1), ends.data(), parts, out.data());
  }, "Z"_a.noconvert(), "X"_a.noconvert(), "precise"_a, "V"_a.noconvert(), "ends"_a.noconvert(), "out"_a.noconvert());
  m.def("vote_points", [&all](In<Given, 2> Z, In<Given, 2> X, Described64 precise, In<double, 2> V, In<int64_t, 1> ends, In<double, 1> biases, bool ties, Counted found) {
    const char *name = "vote_points";
    const int64_t n = length(X), d = length(X, 1), k = length(ends);
    const Tiled tiled = as_tiled(name, precise, d);
    const auto &[won, margin] = found;
    require(length(Z, 1) == d && length(V) == length(Z), name, "Z must have the coordinates of X, and V a row for each of its points");
    require(k > 1 && length(V, 1) == k - 1 && length(biases) == k * (k - 1) / 2, name, "V must have a column less than there are classes, and biases one for each pair");
    require(length(won) == n && length(won, 1) == k && length(margin) == n && length(margin, 1) == k, name, "won and margin must be points x classes");
    for (int64_t c = 0; c < k; c++) require((c ? ends.data()[c - 1] : 0) <= ends.data()[c] && ends.data()[c] <= length(Z), name, "ends must not fall, nor pass the points of Z");
    nb::gil_scoped_release release;
    vote_points(all, Z.data(), X.data(), n, d, tiled, V.data(), ends.data(), k, biases.data(), ties, won.data(), margin.data());
  }, "Z"_a.noconvert(), "X"_a.noconvert(), "precise"_a, "V"_a.noconvert(), "ends"_a.noconvert(), "biases"_a.noconvert(), "ties"_a, "found"_a);
}
static void define_several(nb::module_ &m, const Loops &loops) {
  m.def("settle_parts", [&loops](Rows<const double> K, In<int64_t, 1> ends, In<int64_t, 1> rows, Terms64 terms, Found found, How how) {
    const int64_t stride = stride_of("settle_parts", K), there = length(K, 1) == stride ? length(K) : 0;
    const Goal goal = as_goal("settle_parts", how);
    for_parts("settle_parts", ends, rows, std::min(length(K), length(K, 1)), terms, found, [&](const int64_t *own, const Part &part, std::vector<double> &room) { settle_part(loops, K.data(), there, stride, own, part, goal, room); });
  }, "K"_a.noconvert(), "ends"_a.noconvert(), "rows"_a.noconvert(), "terms"_a.noconvert(), "found"_a.noconvert(), "how"_a);
  m.def("votes", [&loops](In<double, 3> sums, In<double, 1> biases, bool ties, Out<double, 2> won, Out<double, 2> margin) {
    const int64_t k = length(sums), n = length(sums, 2);
    require(k > 1 && length(sums, 1) == k - 1 && length(biases) == k * (k - 1) / 2, "votes", "sums must be k x k - 1 x points, and biases one for each pair");
    require(length(won) == n && length(won, 1) == k && length(margin) == n && length(margin, 1) == k, "votes", "won and margin must be points x classes");
    nb::gil_scoped_release release;
    count_votes(loops, sums.data(), k, n, biases.data(), ties, won.data(), margin.data());
  }, "sums"_a.noconvert(), "biases"_a.noconvert(), "ties"_a, "won"_a.noconvert(), "margin"_a.noconvert());
  define_points_of<float>(m, loops);
  define_points_of<double>(m, loops);
}
void define_search(nb::module_ &m, const Loops &loops);  // bindings_search.cpp

// One submodule for each level that this CPU can run, best first; every one has all functions.
NB_MODULE(_native, m) {
  m.attr("GROUP") = GROUP;
  m.attr("PANEL") = PANEL;
  m.attr("SPAN") = SPAN;
  m.attr("CHUNK") = CHUNK;
  m.attr("COMPILER") = COMPILER;
  nb::list names, impossible;
  for (const Level &level : levels()) {
    if (!level.possible()) {
      impossible.append(nb::make_tuple(level.loops->name, level.needs));
      continue;
    }
    names.append(nb::make_tuple(level.loops->name, level.needs));
    nb::module_ functions = m.def_submodule(level.loops->name);
    define_pack<float, float>(functions);
    define_pack<double, float>(functions);
    define_pack<float, double>(functions);
    define_pack<double, double>(functions);
    define_tiles<float>(functions, level.loops->single);
    define_tiles<double>(functions, level.loops->precise);
    define_rows<float>(functions, level.loops->single);
    define_rows<double>(functions, level.loops->precise);
    define_points(functions, *level.loops);
    define_several(functions, *level.loops);
    define_free_step<float>(functions, *level.loops, level.loops->single);
    define_free_step<double>(functions, *level.loops, level.loops->precise);
    define_one_call<float>(functions, *level.loops);
    define_one_call<double>(functions, *level.loops);
    define_newton(functions, *level.loops);
    define_features(functions, level.loops->features);
    define_search(functions, *level.loops);
  }
  m.attr("LEVELS") = names;
  m.attr("IMPOSSIBLE") = impossible;
}
