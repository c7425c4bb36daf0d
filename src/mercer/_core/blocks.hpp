// Problems on one K that is held (cells: folds and values of C), by blocks that stay in cache: all free points and the
// worst violators. In a block, pair descent (SMO) in float32 and Newton steps of the free coefficients take turns; then
// one sum over rows of K brings F of all points up to date, in float64. K itself is float32: whoever needs more digits
// computes F anew from a float64 K, and calls again; what moves then is little, and so is what rounding does to it.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "block_newton.hpp"

constexpr int64_t OTHERS = 384;       // a block has half as many violators, or as many points in all
constexpr int64_t LARGEST_BLOCK = 2000;
constexpr double WORTH_BLOCKS = 0.4;  // of all points; larger blocks are everything, without a copy
constexpr int64_t BESIDE = 16;  // unused numbers of each row, so that rows do not meet in the same places of the cache
constexpr int64_t SMALL_PROBLEM = 768;
constexpr double BLOCK_PART = 0.1, ALL_PART = 0.01;  // a round ends when its violation is this part of what it was
constexpr double LEAST_BURST = 8, MOST_BURST = 64;  // steps of pairs for each point of a block, before Newton steps:
constexpr double NEWTON_COST = 0.01;  // as many as cost about what a Newton step of m free ones does, m^3 / width times this
constexpr int64_t CHEAP_NEWTON = 200;  // free coefficients: Newton steps come first; always, where who is free is mostly known
constexpr double WORTH_NEWTON = 0.1;  // of violations that do not halve: they are small, and pairs drag
constexpr double ROUNDING = 64 * std::numeric_limits<double>::epsilon();  // of sums of many numbers, in parts of their sizes
constexpr int MOST_BLOCKS = 400, MOST_CYCLES = 30;
constexpr double LEAST_VIOLATION = 1e-13;  // of the largest slope

constexpr double NO_LESS = 1e-9;  // of the objective: by values of K in float32, no gap is known to be smaller

// The gap of a cell is to be this part of the objective, and, where `sure` is not 0, no more than so much of f^2 at all points
// that cannot move; or no more than `least`.
struct Goal {
  double part, least, sure;
};

class ByBlocks {
 public:
  ByBlocks(const Loops &given, const float *K32, int64_t padded, const Cell &cell, bool with_bias, Block &room)
      : loops(given), K(K32), width(padded), q(cell.q), p(cell.p), beta(cell.beta), F(cell.F), bias(with_bias), hinge(with_bias), block(room), newton(given, room, with_bias) {
    for (int64_t t = 0; t < p.n; t++) {
      if (!(p.lo[t] < p.hi[t])) continue;
      movable++;
      hinge = hinge && p.eps[t] == 0 && p.r[t] == 0 && (q[t] == 1 ? p.lo[t] == 0 : q[t] == -1 && p.hi[t] == 0);
    }
  }

  // `again`: from an answer that is nearly right, with Newton steps first.
  SettledByBlocks run(const Goal &goal, int64_t most, bool again) {
    double old = std::numeric_limits<double>::infinity();
    measure(goal);
    for (; s.rounds < MOST_BLOCKS && !s.done && s.steps < most; s.rounds++) {
      const double violation = s.top - s.bottom;
      if (!(violation > LEAST_VIOLATION * largest_slope())) break;
      const bool slow = violation > 0.5 * old && violation < WORTH_NEWTON;
      old = violation;
      choose();
      if (!descend(violation, slow, (again || s.free <= CHEAP_NEWTON) && violation < WORTH_NEWTON, again)) break;
      measure(goal);
      again = again || s.gap <= goal.part * size_of_objective();
    }
    s.newton = newton.taken;
    return s;
  }

  // From the answer `other` of another cell, and, for points that could not move there, from that for a smaller C: those at
  // a bound go to the new one; then the sum is repaired by as few as will do, those first whose slope asks for it.
  void start(const Cell &other, const Cell &smaller) {
    std::vector<double> change(size_t(p.n), 0.0);
    double excess = 0;
    for (int64_t t = 0; t < p.n; t++) {
      const Cell &from = other.p.lo[t] < other.p.hi[t] ? other : smaller;
      const double own = from.beta[t], lo = from.p.lo[t], hi = from.p.hi[t], old = other.beta[t];
      const double to = own >= hi && hi > 0 ? p.hi[t] : own <= lo && lo < 0 ? p.lo[t] : own;
      beta[t] = to < p.lo[t] ? p.lo[t] : to > p.hi[t] ? p.hi[t] : to;
      change[size_t(t)] = beta[t] - old, excess += change[size_t(t)];
      F[t] = q[t] - (other.q[t] - other.F[t] - other.p.r[t] * old);
    }
    if (bias && excess != 0) repair(excess, change);
    std::vector<int64_t> moved;
    std::vector<double> delta;
    for (int64_t t = 0; t < p.n; t++) {
      F[t] -= p.r[t] * beta[t];
      if (change[size_t(t)] != 0) moved.push_back(t), delta.push_back(-change[size_t(t)]);
    }
    loops.single.add_rows(K, width, moved.data(), delta.data(), int64_t(moved.size()), p.n, F);
  }

 private:
  const Loops &loops;
  const float *K;
  int64_t width;
  const double *q;
  Points p;
  double *beta, *F;
  bool bias, hinge, whole = false, fresh = false;  // fresh: F of the block is float64, of the coefficients as they are
  double middle = 0;
  int64_t movable = 0;
  Block &block;
  NewtonSteps newton;
  SettledByBlocks s;

  void repair(double excess, std::vector<double> &change) {
    const double sign = excess > 0 ? 1 : -1;
    std::vector<int64_t> may;
    for (int64_t t = 0; t < p.n; t++)
      if (sign > 0 ? beta[t] > p.lo[t] : beta[t] < p.hi[t]) may.push_back(t);
    std::stable_sort(may.begin(), may.end(), [&](int64_t a, int64_t b) { return sign * F[a] < sign * F[b]; });
    double left = std::fabs(excess);
    for (size_t k = 0; k < may.size() && left > 0; k++) {
      const int64_t t = may[k];
      const double end = sign > 0 ? p.lo[t] : p.hi[t], room = std::fabs(beta[t] - end), step = left < room ? left : room, old = beta[t];
      beta[t] = step == room ? end : old - sign * step;
      change[size_t(t)] += beta[t] - old, left -= step;
    }
  }

  double largest_slope() const {
    const double top = s.top < 0 ? -s.top : s.top, bottom = s.bottom < 0 ? -s.bottom : s.bottom;
    return 1 + (top > bottom ? top : bottom);
  }

  double size_of_objective() const { return std::fmax(std::fabs(s.dual), std::fabs(s.dual + s.gap)); }

  // dual = 1/2 sum beta (q + F) - sum eps |beta|; done: the gap is small, see Goal.
  void measure(const Goal &goal) {
    const Extremes e = extremes(p);
    s.top = bias || e.top > 0 ? e.top : 0, s.bottom = bias || e.bottom < 0 ? e.bottom : 0, s.free = e.free;
    s.dual = 0;
    for (int64_t t = 0; t < p.n; t++) s.dual += 0.5 * beta[t] * (q[t] + F[t]) - p.eps[t] * std::fabs(beta[t]);
    s.gap = shares(p, bias ? 0.5 * (s.top + s.bottom) : 0);
    s.scale = 1;
    if (hinge && s.top > s.bottom && s.top - s.bottom < 1) stretch(1 / (1 - 0.5 * (s.top - s.bottom)));
    const double size = size_of_objective();
    s.done = s.gap <= goal.least || (s.gap <= goal.part * size && (goal.sure == 0 || s.gap <= NO_LESS * size || s.gap <= goal.sure * nearest()));
  }

  // The least f^2 of a point that cannot move.
  double nearest() const {
    const double b = bias ? 0.5 * (s.top + s.bottom) : 0;
    double least = std::numeric_limits<double>::infinity();
    for (int64_t t = 0; t < p.n; t++)
      if (!(p.lo[t] < p.hi[t])) least = std::fmin(least, std::fabs(s.scale * (q[t] - p.r[t] * beta[t] - F[t] + b)));
    return least * least;
  }

  // A longer w, where its gap is smaller: free points that are short of the margin by half of the violation cost C each,
  // and there may be many; at w / (1 - violation / 2) they cost nothing.
  void stretch(double longer) {
    const double b = 0.5 * (s.top + s.bottom);
    double norm = 0, loss = 0, sizes = 0;
    for (int64_t t = 0; t < p.n; t++) {
      const double short_of = 1 - longer * q[t] * (q[t] - F[t] + b);
      norm += beta[t] * (q[t] - F[t]), sizes += std::fabs(beta[t]);
      if (short_of > 0) loss += (p.hi[t] - p.lo[t]) * short_of;
    }
    const double primal = 0.5 * longer * longer * norm + loss, rounding = ROUNDING * (primal + std::fabs(s.dual) + sizes);
    const double gap = std::fmax(primal - s.dual, 0) + rounding;  // a difference of large numbers
    if (gap < s.gap) s.gap = gap, s.scale = longer;
  }

  bool is_free(int64_t t) const { return p.lo[t] < beta[t] && beta[t] < p.hi[t]; }

  // All free points, if there are not too many, and the worst of those that should rise and of those that should sink.
  void choose() {
    const bool fit = s.free + OTHERS / 2 <= LARGEST_BLOCK;
    const int64_t size = fit && s.free + OTHERS / 2 > OTHERS ? s.free + OTHERS / 2 : OTHERS;
    whole = movable <= SMALL_PROBLEM || !fit || double(size) > WORTH_BLOCKS * double(p.n);
    auto &at = block.at;
    at.clear();
    if (whole) {
      for (int64_t t = 0; t < p.n; t++) at.push_back(t);
    } else {
      std::vector<uint8_t> taken(size_t(p.n));
      for (int64_t t = 0; t < p.n; t++) {
        if (is_free(t)) at.push_back(t), taken[size_t(t)] = 1;
        if (p.lo[t] >= p.hi[t]) taken[size_t(t)] = 1;
      }
      const int64_t half = (size - int64_t(at.size())) / 2;
      std::vector<int64_t> chosen(size_t(2 * half + 2));
      int64_t many = choose_largest(p, 1.0, s.bottom, s.top - s.bottom, taken.data(), chosen.data(), 0, half);
      many = choose_largest(p, -1.0, -s.top, s.top - s.bottom, taken.data(), chosen.data(), many, half);
      at.insert(at.end(), chosen.begin(), chosen.begin() + many);
    }
    fill();
  }

  void fill() {
    Block &b = block;
    b.q = int64_t(b.at.size()), b.width = whole ? width : (b.q + CHUNK) / CHUNK * CHUNK;
    if (whole) {
      b.K = K, b.stride = width;
    } else {
      const int64_t most = LARGEST_BLOCK < WORTH_BLOCKS * double(p.n) ? LARGEST_BLOCK : int64_t(WORTH_BLOCKS * double(p.n));
      b.stride = (most + CHUNK) / CHUNK * CHUNK + BESIDE;
      b.copy.resize(size_t((b.stride - BESIDE) * b.stride));
      gather_block(K, width, p.n, b);
      b.K = b.copy.data();
    }
    middle = bias ? 0.5 * (s.top + s.bottom) : 0;
    for (auto *array : {&b.beta, &b.lo, &b.hi, &b.eps, &b.r, &b.F}) array->assign(size_t(b.width), 0.0);
    b.diag.assign(size_t(b.width), 0.0f), b.F32.assign(size_t(b.width), 0.0f);
    for (int64_t i = 0; i < b.q; i++) {
      const int64_t t = b.at[size_t(i)];
      const size_t to = size_t(i);
      b.beta[to] = beta[t], b.lo[to] = p.lo[t], b.hi[to] = p.hi[t], b.eps[to] = p.eps[t], b.r[to] = p.r[t];
      b.F[to] = F[t] - middle;  // near zero where it matters
      b.diag[to] = float(p.r[t]) + b.K[i * b.stride + i];
    }
    if (!bias) b.lo[size_t(b.q)] = -std::numeric_limits<double>::infinity(), b.hi[size_t(b.q)] = -b.lo[size_t(b.q)];
    b.before = b.beta, b.start = b.F, fresh = true;
  }

  // F of the block anew in float64, from what has moved since its start.
  void refresh() {
    Block &b = block;
    std::vector<int64_t> moved;
    std::vector<double> delta;
    b.F = b.start;
    for (int64_t i = 0; i < b.q; i++)
      if (const double d = b.before[size_t(i)] - b.beta[size_t(i)]; d != 0) moved.push_back(i), delta.push_back(d), b.F[size_t(i)] += b.r[size_t(i)] * d;
    loops.single.add_rows(b.K, b.stride, moved.data(), delta.data(), int64_t(moved.size()), b.width, b.F.data());
    fresh = true;
  }

  // Solve for the block, and move; false, where nothing has moved.
  bool descend(double violation, bool slow, bool newton_first, bool again) {
    Block &b = block;
    const double tol = (whole ? ALL_PART : BLOCK_PART) * violation;
    double left = violation;
    for (int cycle = 0; cycle < MOST_CYCLES; cycle++) {
      const bool skip = newton_first && cycle == 0;
      int64_t taken = 0;
      if (!skip) {
        for (int64_t i = 0; i < b.width; i++) b.F32[size_t(i)] = float(b.F[size_t(i)]);
        taken = loops.single.pair_descent({b.width, b.stride, b.K, b.diag.data(), b.F32.data(), b.beta.data(), b.lo.data(), b.hi.data(), b.eps.data()}, tol, newton_first || again ? int64_t(LEAST_BURST * double(b.q)) : burst(), &left);
        s.steps += taken, fresh = false;
        if (left <= tol && !slow) break;
        refresh();
      }
      const double gain = newton.step();
      if (newton_first && block_violation() <= tol) break;
      if (gain > 0) newton.step();  // bounds were met, or float32 left something
      if (newton_first && block_violation() <= tol) break;
      if (!skip && gain <= 0 && (taken == 0 || left <= tol)) break;
      slow = false;
    }
    return move();
  }

  double block_violation() const {
    const Block &b = block;
    const Extremes e = extremes({b.q, b.F.data(), b.beta.data(), b.r.data(), b.eps.data(), b.lo.data(), b.hi.data()});
    return (bias || e.top > 0 ? e.top : 0) - (bias || e.bottom < 0 ? e.bottom : 0);
  }

  int64_t burst() const {
    const Block &b = block;
    double free = 0;
    for (int64_t i = 0; i < b.q; i++) free += b.lo[size_t(i)] < b.beta[size_t(i)] && b.beta[size_t(i)] < b.hi[size_t(i)];
    const double fair = NEWTON_COST * free * free * free / double(b.width), q = double(b.q);
    return int64_t(fair < LEAST_BURST * q ? LEAST_BURST * q : fair > MOST_BURST * q ? MOST_BURST * q : fair);
  }

  bool move() {
    Block &b = block;
    std::vector<int64_t> moved;
    std::vector<double> delta;
    for (int64_t i = 0; i < b.q; i++) {
      const int64_t t = b.at[size_t(i)];
      const double d = beta[t] - b.beta[size_t(i)];
      if (d == 0) continue;
      moved.push_back(t), delta.push_back(d);
      beta[t] = b.beta[size_t(i)], F[t] += p.r[t] * d, s.travel += std::fabs(d);
    }
    if (whole && fresh) {
      for (int64_t t = 0; t < p.n; t++) F[t] = b.F[size_t(t)] + middle;
      return !moved.empty();
    }
    loops.single.add_rows(K, width, moved.data(), delta.data(), int64_t(moved.size()), p.n, F);
    return !moved.empty();
  }
};
