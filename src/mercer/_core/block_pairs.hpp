// Pair descent (see pairs.hpp) where |beta| has no kink (eps = 0), in float32, with as few operations as will do: who is
// best is found by chunks, and the place within the chunk afterwards; the violation is looked at now and then. Where it
// has kinks, as of an epsilon-insensitive loss, the general one.
#pragma once
#include "pairs.hpp"

namespace {

constexpr int64_t MEASURE_EVERY = 16;  // steps
constexpr int64_t AHEAD = 256;      // numbers of a row of K that are asked for before their turn: it may be far away, in many pages

// Of chunks: the largest value of each lane, and the first chunk that has it.
struct BestChunk {
  vec<float> value, at;
  explicit BestChunk(float least) : value(filled(least)), at(vec<float>{}) {}
  void see(vec<float> x, float chunk) {
    at = x > value ? filled(chunk) : at;
    value = larger(x, value);
  }
  // The first chunk of the largest of all.
  int64_t first(float &top) const {
    top = largest<float>(value);
    return int64_t(smallest<float>(value == filled(top) ? at : filled(float(FORBIDDEN))));
  }
};

class BlockDescent {
 public:
  explicit BlockDescent(const WorkingSet<float> &given) : set(given), F(given.n), diag(given.n), up(given.n), down(given.n) {
    double size = TINY;
    for (int64_t t = 0; t < set.n; t++) {
      F[t] = set.F[t], diag[t] = set.diag[t], mark(t);
      size = larger(size, double(set.diag[t]));
    }
    scale = float(1.0 / size), least = LEAST_CURVATURE * size;
    for (int64_t t = 0; t < set.n; t++) alike = alike && (double(set.diag[t]) == size || !(set.lo[t] < set.hi[t]));
  }

  int64_t run(double tol, int64_t most, double *violation) {
    const int64_t taken = descend(tol, most, violation);
    for (int64_t t = 0; t < set.n; t++) set.F[t] = F[t];
    return taken;
  }

 private:
  static constexpr int L = LANES<float>;
  const WorkingSet<float> &set;
  Zeros<float> F, diag;   // copies that are well placed
  Zeros<float> up, down;  // what is added to F_t for the gain of a rise, and to -F_t for that of a fall
  float scale;            // 1 / the largest K_ii
  double least;
  bool alike = true;      // all that may move have the same K_ii, as with a Gaussian: one operation less

  int64_t descend(double tol, int64_t most, double *violation) {
    int64_t i = 0, j = 0;
    float step = 0;
    for (int64_t number = 0;; number++) {
      float top;
      i = rise(i, j, step, top);
      if (number % MEASURE_EVERY == 0 || number == most) {
        *violation = double(top) + double(fall());
        if (*violation <= tol || number == most) return number;
      }
      j = alike ? partner<true>(i, top) : partner<false>(i, top);
      if (j < 0) {
        *violation = double(top) + double(fall());
        return number;
      }
      step = float(move(i, j));
    }
  }

  void mark(int64_t t) {
    up[t] = set.beta[t] >= set.hi[t] ? -float(FORBIDDEN) : 0;
    down[t] = set.beta[t] <= set.lo[t] ? -float(FORBIDDEN) : 0;
  }

  float fall() {
    vec<float> falls = filled(-4 * float(FORBIDDEN));
    for (int64_t t = 0; t < set.n; t += L) falls = larger(load<float>(down.at(t)) - load<float>(F.at(t)), falls);
    return largest<float>(falls);
  }

  // F -= step (K_i - K_j); who gains most by rising, and how much (top)
  int64_t rise(int64_t i, int64_t j, float step, float &top) {
    const float *Ki = set.K + i * set.stride, *Kj = set.K + j * set.stride;
    BestChunk best(-4 * float(FORBIDDEN));
    for (int64_t t = 0; t < set.n; t += CHUNK) {
      vec<float> chunk = filled(-4 * float(FORBIDDEN));
#pragma GCC unroll 16
      for (int64_t at = t; at < t + CHUNK; at += L) {
        __builtin_prefetch(Kj + at + AHEAD);
        const vec<float> f = (load(Ki + at) - load(Kj + at)) * -step + load<float>(F.at(at));
        store(F.at(at), f);
        chunk = larger(f + load<float>(up.at(at)), chunk);
      }
      best.see(chunk, float(t));
    }
    int64_t place = best.first(top);
    while (F[place] + up[place] != top) place++;
    return place;
  }

  template <bool same> vec<float> gain(const float *Ki, int64_t at, float top, float own) {
    const vec<float> violated = larger(load<float>(down.at(at)) - load<float>(F.at(at)) + top, vec<float>{});
    const vec<float> both = same ? filled(own + own) : load<float>(diag.at(at)) * scale + own;
    const vec<float> curvature = larger(load(Ki + at) * (-2 * scale) + both, filled(float(LEAST_CURVATURE)));
    return violated * violated * about_inverse(curvature);
  }

  // The j with which i gains most, or -1 where nobody gains; curvatures are in parts of the largest K_ii.
  template <bool same> int64_t partner(int64_t i, float top) {
    const float *Ki = set.K + i * set.stride, own = diag[i] * scale;
    BestChunk best(0);
    for (int64_t t = 0; t < set.n; t += CHUNK) {
      vec<float> chunk{};
#pragma GCC unroll 16
      for (int64_t at = t; at < t + CHUNK; at += L) {
        __builtin_prefetch(Ki + at + AHEAD);
        chunk = larger(gain<same>(Ki, at, top, own), chunk);
      }
      best.see(chunk, float(t));
    }
    float most;
    const int64_t chunk = best.first(most);
    if (!(most > 0)) return -1;
    for (int64_t at = chunk; at < chunk + CHUNK; at += L) {
      const vec<float> gains = gain<same>(Ki, at, top, own);
      for (int l = 0; l < L; l++)
        if (gains[l] == most) return at + l;
    }
    return -1;
  }

  // The step of the pair, no further than a bound. A bound that is met is met exactly.
  double move(int64_t i, int64_t j) {
    double &rising = set.beta[i], &sinking = set.beta[j];
    const double room_i = set.hi[i] - rising, room_j = sinking - set.lo[j];
    const double curvature = larger(double(diag[i]) + double(diag[j]) - 2.0 * double(set.K[i * set.stride + j]), least);
    const double size = smaller((double(F[i]) - double(F[j])) / curvature, smaller(room_i, room_j));
    rising = size == room_i ? set.hi[i] : rising + size;
    sinking = size == room_j ? set.lo[j] : sinking - size;
    mark(i), mark(j);
    const float step = float(size);
    F[i] -= step * (diag[i] - set.K[i * set.stride + i]);  // r, where there is one
    F[j] += step * (diag[j] - set.K[j * set.stride + j]);
    return size;
  }
};

template <> int64_t pair_descent<float>(const WorkingSet<float> &set, double tol, int64_t most, double *violation) {
  for (int64_t t = 0; t < set.n; t++)
    if (set.eps[t] != 0) return PairDescent<float>(set).run(tol, most, violation);
  return BlockDescent(set).run(tol, most, violation);
}

}  // namespace
