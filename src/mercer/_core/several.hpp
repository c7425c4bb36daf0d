// Several problems, each on a part of the points: settled from the beta that is there, then accounted for in float64.
#pragma once
#include <algorithm>
#include <cmath>
#include <memory>

#include "free_step.hpp"
#include "whole.hpp"

// The terms of a part, and what is found: beta, the shares in the gap, and `sums`: steps, b, and those of `account`.
struct Part {
  Points points;
  const double *q;
  double *beta, *share, *sums;
};

// With K beta = scores: b, the middle of what the slopes leave for it (its one end, where no point bounds it on the other
// side), and the certificate's sums.
inline void account_for(const Part &part, const double *scores, bool bias, int64_t steps) {
  const int64_t n = part.points.n;
  std::vector<double> F(n);
  for (int64_t t = 0; t < n; t++) F[t] = part.q[t] - part.points.r[t] * part.beta[t] - scores[t];
  Points p = part.points;
  p.F = F.data(), p.beta = part.beta;
  const Extremes e = extremes(p);
  const double b = !bias ? 0.0 : e.top == -OUT ? e.bottom : e.bottom == OUT ? e.top : 0.5 * (e.top + e.bottom);
  const Account a = account(p, part.q, scores, scores, b, part.share);
  const double found[] = {double(steps), b, a.loss, a.conjugate, a.norm, a.top, a.bottom, a.outside, a.total, a.largest};
  std::copy(found, found + 10, part.sums);
}

inline std::vector<int64_t> support_of(const Part &part) {
  std::vector<int64_t> used;
  for (int64_t t = 0; t < part.points.n; t++)
    if (part.beta[t] != 0) used.push_back(t);
  return used;
}

inline std::vector<double> at(const std::vector<int64_t> &places, const double *values) {
  std::vector<double> out;
  for (const int64_t t : places) out.push_back(values[t]);
  return out;
}

inline int64_t padded(int64_t n) { return (n / CHUNK + 1) * CHUNK; }

// K of n points, padded with zeros, in memory that one part after the other uses: `write` writes the values.
template <class Write> inline const double *in_room(std::vector<double> &room, int64_t n, Write write) {
  const int64_t width = reach<double>(n);
  if (int64_t(room.size()) < width * width) room.resize(size_t(width * width));
  write(room.data(), width);
  for (int64_t t = 0; t < n; t++) std::fill(room.data() + t * width + n, room.data() + (t + 1) * width, 0.0);
  std::fill(room.data() + n * width, room.data() + width * width, 0.0);
  return room.data();
}

// What is wanted: whether there is a bias, the relative gap and the violation to reach, the most steps for each point.
struct Goal {
  bool bias;
  double gap, violation;
  int64_t most;
};

constexpr int64_t BEFORE = 5;        // steps of pairs for each point, before the first Newton steps
constexpr int TURNS = 40, IN_A_ROW = 6;  // of Newton steps and few pairs; Newton steps of a turn, at most
constexpr double WORTH = 30.0;        // a Newton step may take so many n^2 multiplications, of about m^3 for m free ones

// F <- q - r beta - K beta; the dual value
inline double start_from(const LoopsOf<double> &loops, const double *K, int64_t width, const Part &part, double *F) {
  const auto start = support_of(part);
  std::copy(part.q, part.q + part.points.n, F);
  std::vector<double> minus = at(start, part.beta);
  for (double &x : minus) x = -x;
  loops.add_rows(K, width, start.data(), minus.data(), int64_t(start.size()), part.points.n, F);
  double dual = 0;
  for (const int64_t t : start) {
    const double own = part.beta[t];
    F[t] -= part.points.r[t] * own;
    dual += 0.5 * own * (part.q[t] + F[t]) - part.points.eps[t] * (own < 0 ? -own : own);
  }
  return dual;
}

// Newton steps of the free coefficients, where they are few enough to be worth it; whether there were any.
inline bool newton_turn(const Loops &loops, const double *K, int64_t width, const Part &part, const double *F, bool bias) {
  const int64_t n = part.points.n, most = int64_t(std::cbrt(WORTH * double(n) * double(n)));
  Points p = part.points;
  p.beta = part.beta;
  WholeSet<double> set(p, K, width, bias);
  std::copy(F, F + n, set.F.begin());
  if (!bias) set.lo[n] = set.hi[n] = 0;  // free coefficients need no phantom
  const WorkingSet<double> own{width, width, K, set.diag.data(), set.F.data(), set.beta.data(), set.lo.data(), set.hi.data(), set.eps.data()};
  for (int step = 0; step < IN_A_ROW && free_step(loops, loops.precise, own, bias, most).again; step++) continue;
  const bool moved = !std::equal(part.beta, part.beta + n, set.beta.begin());
  std::copy(set.beta.begin(), set.beta.begin() + n, part.beta);
  return moved;
}

// A part whose K is held, padded for `pair_descent`: steps of pairs, and Newton steps between them where they crawl.
inline void settle_whole(const Loops &loops, const double *K, int64_t width, const Part &part, const Goal &goal) {
  const int64_t n = part.points.n, budget = goal.most * n;
  std::vector<double> F(n), scores(n);
  Points p = part.points;
  p.beta = part.beta, p.F = F.data();
  int64_t steps = 0;
  for (int turn = 0; turn < TURNS; turn++) {
    const double dual = start_from(loops.precise, K, width, part, F.data());
    const int64_t most = std::min(budget - steps, turn ? n : BEFORE * n);
    const Settled s = settle(loops.precise, K, width, p, part.beta, F.data(), goal.bias, dual, goal.gap, most, goal.violation);
    steps += s.steps;
    if (s.done || steps >= budget || (!newton_turn(loops, K, width, part, F.data(), goal.bias) && s.steps < most)) break;
  }
  const auto used = support_of(part);
  loops.precise.add_rows(K, width, used.data(), at(used, part.beta).data(), int64_t(used.size()), n, scores.data());
  account_for(part, scores.data(), goal.bias, steps);
}

// A part of a matrix of so many rows: its points are rows of K. All of its rows in order need no copy, if K is padded.
inline void settle_part(const Loops &loops, const double *K, int64_t there, int64_t stride, const int64_t *rows, const Part &part, const Goal &goal, std::vector<double> &room) {
  const int64_t n = part.points.n, width = padded(n);
  bool all = there >= stride && stride >= width && stride <= width + CHUNK && stride % CHUNK == 0;
  for (int64_t t = 0; all && t < n; t++) all = rows[t] == t && K[n * stride + t] == 0;  // room for a phantom, too
  if (all) return settle_whole(loops, K, stride, part, goal);
  const double *block = in_room(room, n, [&](double *out, int64_t wide) { gather(K, stride, rows, rows, n, K, stride, out, wide); });
  settle_whole(loops, block, reach<double>(n), part, goal);
}

constexpr int64_t SET = 128;        // points of a working set
constexpr int64_t MOST_KEPT = 768;  // rows of K; who needs more is better served by larger working sets
constexpr double INNER_SET = 0.1;   // a working set is solved until its violation is this part of that of all points
constexpr int MOST_SETS = 200;

// A part of the points, by working sets; rows of K are computed in float32 when their point enters one, and kept.
template <class Given> class RowsOfPart {
 public:
  RowsOfPart(const Loops &loops, const Given *X, int64_t d, const Tiled &single, const std::vector<int64_t> &index)
      : loops(loops), X(X), d(d), n(int64_t(index.size())), single(single), index(index), columns(X, index, d, single, PANEL), most(n < MOST_KEPT ? n : MOST_KEPT), kept(new float[size_t(most * n)]), slot_of(size_t(n), -1) {}

  // The slots of these points; false, where there are too many.
  bool get(const std::vector<int64_t> &W, std::vector<int64_t> &slots) {
    std::vector<int64_t> missing, places;
    for (const int64_t t : W)
      if (slot_of[t] < 0) missing.push_back(index[t]), places.push_back(slot_of[t] = held++);
    if (held > most) return false;
    if (!missing.empty()) loops.single.fill(PackedPoints<float>(X, missing, d, single, GROUP), columns, single.form, places.data(), kept.get(), n);
    slots.clear();
    for (const int64_t t : W) slots.push_back(slot_of[t]);
    return true;
  }
  const float *values() const { return kept.get(); }

 private:
  const Loops &loops;
  const Given *X;
  const int64_t d, n;
  const Tiled &single;
  const std::vector<int64_t> &index;
  const PackedPoints<float> columns;
  const int64_t most;
  std::unique_ptr<float[]> kept;
  std::vector<int64_t> slot_of;
  int64_t held = 0;
};

// The points that violate most, half of them from the last time; sorted.
inline std::vector<int64_t> working_set(const Points &p, const Extremes &e, std::vector<int64_t> &last) {
  std::vector<uint8_t> taken(p.n);
  if (int64_t(last.size()) > SET / 2) last.erase(last.begin(), last.end() - SET / 2);
  for (const int64_t t : last) taken[t] = 1;
  std::vector<int64_t> chosen(SET - last.size());
  const int64_t half = int64_t(chosen.size()) / 2;
  int64_t size = choose_largest(p, 1.0, e.bottom, e.top - e.bottom, taken.data(), chosen.data(), 0, half);
  size = choose_largest(p, -1.0, -e.top, e.top - e.bottom, taken.data(), chosen.data(), size, half);
  last.insert(last.end(), chosen.begin(), chosen.begin() + size);
  std::vector<int64_t> W = last;
  std::sort(W.begin(), W.end());
  return W;
}

// Few points: K of all of them.
template <class Given> void by_whole(const Loops &loops, const Given *X, int64_t d, const Tiled &precise, const std::vector<int64_t> &index, const Part &part, const Goal &goal, std::vector<double> &room) {
  const PackedPoints<double> rows(X, index, d, precise, GROUP), columns(X, index, d, precise, PANEL / 2);
  const double *K = in_room(room, part.points.n, [&](double *out, int64_t wide) { loops.precise.square(rows, columns, precise.form, out, wide); });
  settle_whole(loops, K, reach<double>(part.points.n), part, goal);
}

// More points: by working sets. Where rows or rounds run out, the part is left as it is.
template <class Given> int64_t by_working_sets(const Loops &loops, const Given *X, int64_t d, const Tiled &single, const std::vector<int64_t> &index, const Part &part, const Goal &goal) {
  const auto [bias, least, violation_wanted, most] = goal;
  const int64_t n = part.points.n;
  std::vector<double> F(part.q, part.q + n);
  Points p = part.points;
  p.beta = part.beta, p.F = F.data();
  RowsOfPart<Given> held(loops, X, d, single, index);
  std::vector<int64_t> last, slots;
  double dual = 0;
  int64_t steps = 0;
  for (int round = 0; round < MOST_SETS && steps < most * n; round++) {
    Extremes e = extremes(p);
    if (!bias) e.top = e.top > 0 ? e.top : 0, e.bottom = e.bottom < 0 ? e.bottom : 0;
    const double middle = bias ? 0.5 * (e.top + e.bottom) : 0, gap = shares(p, middle), primal = dual + gap;
    if (e.top - e.bottom <= violation_wanted && gap <= least * std::max(dual < 0 ? -dual : dual, primal < 0 ? -primal : primal)) break;
    const auto W = working_set(p, e, last);
    const int64_t size = int64_t(W.size()), width = padded(size);
    if (size == 0 || !held.get(W, slots)) break;
    std::vector<float> block(size_t(width * width)), diag(width), slopes(width);
    std::vector<double> beta(width), lo(width), hi(width), eps(width);
    gather(held.values(), n, slots.data(), W.data(), size, held.values(), n, block.data(), width);
    for (int64_t k = 0; k < size; k++) {
      const int64_t t = W[k];
      diag[k] = float(p.r[t]) + block[k * width + k], slopes[k] = float(F[t] - middle);
      beta[k] = p.beta[t], lo[k] = p.lo[t], hi[k] = p.hi[t], eps[k] = p.eps[t];
    }
    if (!bias) lo[size] = -std::numeric_limits<double>::infinity(), hi[size] = -lo[size];
    double violation;
    steps += loops.single.pair_descent({width, width, block.data(), diag.data(), slopes.data(), beta.data(), lo.data(), hi.data(), eps.data()}, INNER_SET * (e.top - e.bottom), most * size, &violation);
    std::vector<int64_t> moved, from;
    std::vector<double> delta;
    for (int64_t k = 0; k < size; k++) {
      const int64_t t = W[k];
      const double old = p.beta[t], now = beta[k];
      if (now == old) continue;
      moved.push_back(t), from.push_back(slots[k]), delta.push_back(old - now);
      // The dual is quadratic: it rises by the mean of its slopes before and after, along what moved.
      dual += 0.5 * (now - old) * F[t] - p.eps[t] * ((now < 0 ? -now : now) - (old < 0 ? -old : old));
      part.beta[t] = now;
      F[t] += p.r[t] * (old - now);
    }
    if (moved.empty()) break;
    loops.single.add_rows(held.values(), n, from.data(), delta.data(), int64_t(from.size()), n, F.data());
    for (size_t k = 0; k < moved.size(); k++) dual += -0.5 * delta[k] * F[moved[k]];
  }
  return steps;
}

// A part of the points; `single` and `precise` are of float32 and of float64.
template <class Given> void settle_points(const Loops &loops, const Given *X, int64_t d, const Tiled &single, const Tiled &precise, const int64_t *rows, const Part &part, const Goal &goal, std::vector<double> &room) {
  const int64_t n = part.points.n;
  const std::vector<int64_t> index(rows, rows + n);
  if (n <= SET) return by_whole(loops, X, d, precise, index, part, goal, room);
  const int64_t steps = by_working_sets(loops, X, d, single, index, part, goal);
  const auto used = support_of(part);
  std::vector<int64_t> own;
  for (const int64_t t : used) own.push_back(rows[t]);
  std::vector<double> scores(n);
  if (!used.empty()) loops.precise.add(PackedPoints<double>(X, own, d, precise, GROUP), PackedPoints<double>(X, index, d, precise, PANEL / 2), precise.form, at(used, part.beta).data(), 1, scores.data(), n);
  account_for(part, scores.data(), goal.bias, steps);
}
