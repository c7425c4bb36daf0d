// What Python sees of the loops over points one at a time. Rows come as a tuple: (X,), or (begin, column, value) of a CSR
// matrix. Everything that a loop relies on is checked here, and no array is ever converted.
#include "bindings_features.hpp"
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <string>

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class T, int N> using In = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <class T, int N> using Out = nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
using Numbers = In<double, 1>;
using Places = In<int64_t, 1>;
using Table = In<double, 2>;
using Tuple = nb::tuple;

int64_t length(const auto &array, size_t axis = 0) { return int64_t(array.shape(axis)); }
void require(bool fits, const char *function, const std::string &what) {
  if (!fits) throw nb::value_error((std::string(function) + ": " + what).c_str());
}
void require_within(const char *function, const Places &index, int64_t stop) {
  int64_t outside = 0;
  for (int64_t i = 0; i < length(index); i++) outside |= index.data()[i] | (stop - 1 - index.data()[i]);
  require(outside >= 0, function, "an index is not between 0 and " + std::to_string(stop - 1));
}

// The rows, and how many there are.
struct Given {
  AnyRows rows;
  int64_t n;
};
template <class Real> bool as_dense(nb::handle array, Given &out) {
  In<Real, 2> X;
  if (!nb::try_cast(array, X, false)) return false;
  out = {{.value = X.data(), .width = length(X, 1), .sparse = false, .single = sizeof(Real) == 4}, length(X)};
  return true;
}
// Where the rows begin is checked from start to stop; columns are by `require_columns`, or piece by piece on the way.
template <class Place> bool as_sparse(const char *function, const Tuple &parts, int64_t width, int64_t start, int64_t stop, Given &out) {
  In<Place, 1> begin, column;
  In<float, 1> single;
  In<double, 1> precise;
  if (!nb::try_cast(parts[0], begin, false) || !nb::try_cast(parts[1], column, false)) return false;
  const bool is_single = nb::try_cast(parts[2], single, false);
  if (!is_single && !nb::try_cast(parts[2], precise, false)) return false;
  const int64_t entries = is_single ? length(single) : length(precise), n = length(begin) - 1;
  stop = stop < 0 ? n : stop;
  require(n >= 0 && 0 <= start && start <= stop && stop <= n && length(column) == entries, function, "the parts of a sparse matrix do not fit together");
  const Place *first = begin.data();
  bool rising = first[start] >= 0 && first[stop] <= entries;
  for (int64_t i = start; i < stop; i++) rising &= first[i] <= first[i + 1];
  require(rising, function, "the parts of a sparse matrix do not fit together");
  out.rows = {.value = is_single ? (const void *)single.data() : precise.data(), .begin = first, .column = column.data(), .width = width, .sparse = true, .single = is_single, .wide = sizeof(Place) == 8};
  out.n = n;
  return true;
}
void require_columns(bool fit, const char *function, int64_t width) { require(fit, function, "a column of a sparse row is not between 0 and " + std::to_string(width - 1)); }
// Calls work(first, last) for the rows from start to stop, without the GIL. Columns of sparse rows are checked piece by
// piece, right before they are used: they are then read from memory once.
void in_pieces(const char *function, const FeatureLoops &loops, const AnyRows &rows, int64_t start, int64_t stop, auto work) {
  constexpr int64_t PIECE = 256;  // rows
  bool fit = true;
  {
    nb::gil_scoped_release release;
    if (!rows.sparse) work(start, stop);
    for (int64_t first = start; rows.sparse && fit && first < stop; first += PIECE) {
      const int64_t last = first + PIECE < stop ? first + PIECE : stop;
      fit = loops.within(rows, first, last);
      if (fit) work(first, last);
    }
  }
  require_columns(fit, function, rows.width);
}
Given unchecked_rows(const char *function, const Tuple &parts, int64_t width, int64_t start = 0, int64_t stop = -1) {
  Given given;
  if (parts.size() == 1 && (as_dense<float>(parts[0], given) || as_dense<double>(parts[0], given))) {
    require(given.rows.width == width, function, "rows must be as wide as the vector beside them");
    require(0 <= start && start <= stop + (stop < 0 ? given.n + 1 : 0) && stop <= given.n, function, "there are not as many rows");
    return given;
  }
  if (parts.size() == 3 && (as_sparse<int32_t>(function, parts, width, start, stop, given) || as_sparse<int64_t>(function, parts, width, start, stop, given))) return given;
  throw nb::type_error((std::string(function) + ": rows are (X,), or (begin, column, value) of a CSR matrix, in float32 or float64 and in C order").c_str());
}
Given rows_of(const char *function, const FeatureLoops &loops, const Tuple &parts, int64_t width) {
  const Given given = unchecked_rows(function, parts, width);
  bool fit = true;
  if (given.rows.sparse) {
    nb::gil_scoped_release release;
    fit = loops.within(given.rows, 0, given.n);
  }
  require_columns(fit, function, width);
  return given;
}
// Rows of K, one for each point of an order.
AnyRows kernel_rows(const char *function, nb::handle K, int64_t rows, int64_t width) {
  Given given;
  if (!as_dense<float>(K, given) && !as_dense<double>(K, given)) throw nb::type_error((std::string(function) + ": K must be float32 or float64, and in C order").c_str());
  require(given.n >= rows && given.rows.width == width, function, "K must have a row for each point, as wide as the scores");
  return given.rows;
}
const Term *terms_of(const char *function, const Table &points, int64_t n) {
  require(length(points) == n && length(points, 1) * 8 == int64_t(sizeof(Term)), function, "points must have a row of 8 numbers for each coefficient");
  return reinterpret_cast<const Term *>(points.data());
}

void define_products(nb::module_ &m, const FeatureLoops &loops) {
  m.def("dots", [&loops](Tuple rows, Numbers w, Out<double, 1> out, int64_t start, int64_t stop) {
    const Given given = unchecked_rows("dots", rows, length(w), start, stop);
    require(length(out) == given.n, "dots", "out must have a number for each row");
    in_pieces("dots", loops, given.rows, start, stop, [&](int64_t first, int64_t last) { loops.dots(given.rows, w.data(), out.data(), first, last); });
  }, "rows"_a, "w"_a.noconvert(), "out"_a.noconvert(), "start"_a, "stop"_a);
  m.def("combine", [&loops](Tuple rows, Numbers v, Out<double, 1> out, int64_t start, int64_t stop) {
    const Given given = unchecked_rows("combine", rows, length(out), start, stop);
    require(length(v) == given.n, "combine", "v must have a number for each row");
    in_pieces("combine", loops, given.rows, start, stop, [&](int64_t first, int64_t last) { loops.combine(given.rows, v.data(), out.data(), first, last); });
  }, "rows"_a, "v"_a.noconvert(), "out"_a.noconvert(), "start"_a, "stop"_a);
  m.def("weighted", [&loops](Tuple rows, Numbers w, double shift, Numbers rate, Out<double, 1> s, Out<double, 1> out, int64_t start, int64_t stop) {
    const Given given = unchecked_rows("weighted", rows, length(w), start, stop);
    require(length(rate) == given.n && length(s) == given.n && length(out) == length(w), "weighted", "rate and s must have a number for each row, and out be as long as w");
    in_pieces("weighted", loops, given.rows, start, stop, [&](int64_t first, int64_t last) { loops.weighted(given.rows, w.data(), shift, rate.data(), s.data(), out.data(), first, last); });
  }, "rows"_a, "w"_a.noconvert(), "shift"_a, "rate"_a.noconvert(), "s"_a.noconvert(), "out"_a.noconvert(), "start"_a, "stop"_a);
  m.def("squares", [&loops](Tuple rows, int64_t width, Out<double, 1> out, int64_t start, int64_t stop) {
    const Given given = unchecked_rows("squares", rows, width, start, stop);
    require(length(out) == given.n, "squares", "out must have a number for each row");
    nb::gil_scoped_release release;
    loops.squares(given.rows, out.data(), start, stop);  // columns do not matter
  }, "rows"_a, "width"_a, "out"_a.noconvert(), "start"_a, "stop"_a);
}

// Where a descent stands; `numbers` are constant, total, shift and margin.
DescentState descent_state(const char *function, const Table &points, const Out<double, 1> &beta, double *image, const Out<int64_t, 1> &order, const Out<double, 1> &numbers) {
  const int64_t n = length(beta);
  require(length(numbers) == 4, function, "numbers must be four: constant, total, shift, margin");
  require_within(function, Places(order), n);
  const double *x = numbers.data();
  return {terms_of(function, points, n), beta.data(), image, order.data(), length(order), x[0], x[1], x[2], x[3]};
}

void define_descent(nb::module_ &m, const FeatureLoops &loops) {
  m.def("descend", [&loops](Tuple rows, Table points, Out<double, 1> beta, Out<double, 1> image, Out<int64_t, 1> order, Out<double, 1> numbers) {
    const Given given = rows_of("descend", loops, rows, length(image));
    require(given.n == length(beta), "descend", "there must be a coefficient for each row");
    DescentState at = descent_state("descend", points, beta, image.data(), order, numbers);
    double worst;
    {
      nb::gil_scoped_release release;
      worst = loops.descend(given.rows, at);
    }
    numbers.data()[1] = at.total;
    return std::make_tuple(at.size, worst);
  }, "rows"_a, "points"_a.noconvert(), "beta"_a.noconvert(), "image"_a.noconvert(), "order"_a.noconvert(), "numbers"_a.noconvert());
  m.def("descend_passes", [&loops](Tuple rows, Table points, Out<double, 1> beta, Out<double, 1> image, Out<int64_t, 1> order, Out<double, 1> numbers, Out<uint64_t, 1> word, std::tuple<double, double, double, double> limits) {
    const Given given = rows_of("descend_passes", loops, rows, length(image));
    require(given.n == length(beta) && length(word) == 1, "descend_passes", "there must be a coefficient for each row, and one random word");
    DescentState at = descent_state("descend_passes", points, beta, image.data(), order, numbers);
    auto [most, least, enough, part] = limits;
    double visits;
    {
      nb::gil_scoped_release release;
      visits = loops.descend_passes(given.rows, at, word.data(), {most, least, enough, part});
    }
    numbers.data()[1] = at.total, numbers.data()[3] = at.margin;
    return std::make_tuple(at.size, visits);
  }, "rows"_a, "points"_a.noconvert(), "beta"_a.noconvert(), "image"_a.noconvert(), "order"_a.noconvert(), "numbers"_a.noconvert(), "word"_a.noconvert(), "limits"_a);
  m.def("descend_kernel", [&loops](nb::handle K, Table points, Out<double, 1> beta, Out<double, 1> scores, Out<int64_t, 1> order, Out<double, 1> numbers) {
    const AnyRows rows = kernel_rows("descend_kernel", K, length(order), length(scores));
    require(length(scores) == length(beta), "descend_kernel", "scores must be as long as beta");
    DescentState at = descent_state("descend_kernel", points, beta, scores.data(), order, numbers);
    at.margin = __builtin_inf();  // row k belongs to the k-th point: nobody leaves
    double worst;
    {
      nb::gil_scoped_release release;
      worst = loops.descend_kernel(rows, at);
    }
    numbers.data()[1] = at.total;
    return worst;
  }, "K"_a, "points"_a.noconvert(), "beta"_a.noconvert(), "scores"_a.noconvert(), "order"_a.noconvert(), "numbers"_a.noconvert());
  m.def("in_play", [&loops](Numbers f, Table points, Numbers beta, Out<int64_t, 1> order, double margin) {
    const int64_t n = length(beta);
    require(length(f) == n && length(order) == n, "in_play", "all arrays must be of one length");
    DescentState at{terms_of("in_play", points, n), const_cast<double *>(beta.data()), nullptr, order.data(), n, 0, 0, 0, margin};
    nb::gil_scoped_release release;
    const double worst = loops.in_play(at, f.data(), n);
    return std::make_tuple(at.size, worst);
  }, "f"_a.noconvert(), "points"_a.noconvert(), "beta"_a.noconvert(), "order"_a.noconvert(), "margin"_a);
  m.def("shuffle", [&loops](Out<int64_t, 1> order, Out<uint64_t, 1> word) {
    require(length(word) == 1, "shuffle", "there must be one random word");
    nb::gil_scoped_release release;
    loops.shuffle(order.data(), length(order), word.data());
  }, "order"_a.noconvert(), "word"_a.noconvert());
  m.def("draw", [&loops](Out<int64_t, 1> order, Out<uint64_t, 1> word) {
    require(length(word) == 1, "draw", "there must be one random word");
    nb::gil_scoped_release release;
    loops.draw(order.data(), length(order), word.data());
  }, "order"_a.noconvert(), "word"_a.noconvert());
}

constexpr int64_t SUMS = 5, STATE = 7;  // rows of `sums`, and numbers of the state of stochastic steps
StochasticState stochastic_state(const char *function, const Out<double, 2> &sums, const Out<double, 1> &image, const Out<double, 1> &numbers) {
  require(length(sums) == SUMS && length(numbers) == STATE, function, "sums must have 5 rows, and numbers be 7");
  const int64_t n = length(sums, 1);
  double *s = sums.data(), *x = numbers.data();
  return {n, length(image), s, s + n, s + 2 * n, s + 3 * n, s + 4 * n, image.data(), x[0], x[1], x[2], x[3], x[4], x[5], x[6]};
}
void tell(const StochasticState &at, const Out<double, 1> &numbers) {
  double *x = numbers.data();
  x[0] = at.scale, x[1] = at.passed, x[2] = at.steps, x[3] = at.bias, x[4] = at.total;
}

void define_stochastic(nb::module_ &m, const FeatureLoops &loops) {
  m.def("draws", [&loops](Tuple rows, Table points, Places order, Numbers steps, Out<double, 2> sums, Out<double, 1> image, Out<double, 1> numbers) {
    const Given given = rows_of("draws", loops, rows, length(image));
    StochasticState at = stochastic_state("draws", sums, image, numbers);
    require(given.n == at.n && length(order) == length(steps), "draws", "there must be a coefficient for each row, and a step for each point of the order");
    require_within("draws", order, at.n);
    const Term *terms = terms_of("draws", points, at.n);
    {
      nb::gil_scoped_release release;
      loops.draws(given.rows, terms, order.data(), steps.data(), length(order), at);
    }
    tell(at, numbers);
  }, "rows"_a, "points"_a.noconvert(), "order"_a.noconvert(), "steps"_a.noconvert(), "sums"_a.noconvert(), "image"_a.noconvert(), "numbers"_a.noconvert());
  m.def("draws_kernel", [&loops](nb::handle K, Table points, Places order, Numbers steps, Out<double, 2> sums, Out<double, 1> scores, Out<double, 1> numbers) {
    const AnyRows rows = kernel_rows("draws_kernel", K, length(order), length(scores));
    StochasticState at = stochastic_state("draws_kernel", sums, scores, numbers);
    require(length(scores) == at.n && length(order) == length(steps), "draws_kernel", "there must be a score for each point, and a step for each point of the order");
    require_within("draws_kernel", order, at.n);
    const Term *terms = terms_of("draws_kernel", points, at.n);
    {
      nb::gil_scoped_release release;
      loops.draws_kernel(rows, terms, order.data(), steps.data(), length(order), at);
    }
    tell(at, numbers);
  }, "K"_a, "points"_a.noconvert(), "order"_a.noconvert(), "steps"_a.noconvert(), "sums"_a.noconvert(), "scores"_a.noconvert(), "numbers"_a.noconvert());
  m.def("losses_and_conjugates", [&loops](Numbers f, Table points, Numbers beta) {
    const int64_t n = length(beta);
    require(length(f) == n, "losses_and_conjugates", "all arrays must be of one length");
    const Term *terms = terms_of("losses_and_conjugates", points, n);
    double losses, conjugates;
    nb::gil_scoped_release release;
    loops.losses_and_conjugates(f.data(), terms, beta.data(), n, &losses, &conjugates);
    return std::make_tuple(losses, conjugates);
  }, "f"_a.noconvert(), "points"_a.noconvert(), "beta"_a.noconvert());
  m.def("approach", [&loops](Out<double, 1> beta, Out<double, 1> scores, double b, Numbers target, Numbers target_scores, Table points, bool free_bias) {
    const int64_t n = length(beta);
    require(length(scores) == n && length(target) == n && length(target_scores) == n, "approach", "all arrays must be of one length");
    const Term *terms = terms_of("approach", points, n);
    nb::gil_scoped_release release;
    return loops.approach(beta.data(), scores.data(), b, target.data(), target_scores.data(), terms, n, free_bias);
  }, "beta"_a.noconvert(), "scores"_a.noconvert(), "b"_a, "target"_a.noconvert(), "target_scores"_a.noconvert(), "points"_a.noconvert(), "free_bias"_a);
}

Learners learners(const char *function, const Table &Y, const In<bool, 1> &active, const Out<bool, 2> &made, const Out<double, 2> &scores) {
  const int64_t machines = length(Y);
  require(length(active) == machines && length(made) == machines && length(scores) == machines && length(made, 1) == length(scores, 1), function, "Y, active, made and scores must have a row for each machine");
  return {machines, length(Y, 1), length(made, 1), Y.data(), active.data(), made.data(), scores.data()};
}

void define_perceptron(nb::module_ &m, const FeatureLoops &loops) {
  m.def("learn", [&loops](Tuple rows, Places index, Table Y, Out<double, 2> W, Out<double, 1> b, double eta, double bias, In<bool, 1> active, Out<bool, 2> made, Out<double, 2> scores) {
    const Given given = rows_of("learn", loops, rows, length(W, 1));
    const Learners at = learners("learn", Y, active, made, scores);
    require(length(W) == at.machines && length(b) == at.machines && at.points == given.n && at.shown == length(index), "learn", "each machine needs a w, a b and a label for each row, and `made` a column for each index");
    require_within("learn", index, given.n);
    nb::gil_scoped_release release;
    loops.learn(given.rows, index.data(), W.data(), b.data(), eta, bias, at);
  }, "rows"_a, "index"_a.noconvert(), "Y"_a.noconvert(), "W"_a.noconvert(), "b"_a.noconvert(), "eta"_a, "bias"_a, "active"_a.noconvert(), "made"_a.noconvert(), "scores"_a.noconvert());
  m.def("learn_block", [&loops](nb::handle K, double bias, Out<double, 2> F, Table Y, In<bool, 1> active, Out<bool, 1> fresh, Out<bool, 2> made, Out<double, 2> scores, int64_t start, int64_t room) {
    const Learners at = learners("learn_block", Y, active, made, scores);
    const int64_t n = at.points;
    const AnyRows rows = kernel_rows("learn_block", K, n, n);
    require(length(F) == at.machines && length(F, 1) == n && at.shown == n && length(fresh) == n, "learn_block", "F, Y, made and scores must have a column for each point of the block");
    require(0 <= start && start <= n && room >= 0, "learn_block", "start must be within the block, and room 0 or more");
    int64_t stop;
    {
      nb::gil_scoped_release release;
      stop = loops.learn_block(rows, bias, F.data(), fresh.data(), start, &room, at);
    }
    return std::make_tuple(stop, room);
  }, "K"_a, "bias"_a, "F"_a.noconvert(), "Y"_a.noconvert(), "active"_a.noconvert(), "fresh"_a.noconvert(), "made"_a.noconvert(), "scores"_a.noconvert(), "start"_a, "room"_a);
  m.def("cast_votes", [&loops](Table K, double bias, Places points, Numbers signs, Numbers votes, Out<double, 1> out) {
    require(length(signs) == length(points) && length(votes) == length(points) && length(out) == length(K), "cast_votes", "signs and votes must be as long as points, and out have a number for each row of K");
    require_within("cast_votes", points, length(K, 1));
    const AnyRows rows{.value = K.data(), .width = length(K, 1), .sparse = false, .single = false};
    nb::gil_scoped_release release;
    loops.cast_votes(rows, bias, points.data(), signs.data(), votes.data(), length(points), out.data(), length(out));
  }, "K"_a.noconvert(), "bias"_a, "points"_a.noconvert(), "signs"_a.noconvert(), "votes"_a.noconvert(), "out"_a.noconvert());
}

}  // namespace

void define_features(nb::module_ &m, const FeatureLoops &loops) {
  define_products(m, loops);
  define_descent(m, loops);
  define_stochastic(m, loops);
  define_perceptron(m, loops);
}
