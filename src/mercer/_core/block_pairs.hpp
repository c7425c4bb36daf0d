// Pair descent (see pairs.hpp) where |beta| has no kink (eps = 0), in float32, with as few operations as will do: who is
// best is found by chunks, and the place within the chunk afterwards; the violation is looked at now and then.
#pragma once
#include "pairs.hpp"

namespace {

constexpr int64_t LOOK_EVERY = 16;  // steps

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
  explicit BlockDescent(const WorkingSet<float> &given) : set(given), up(given.n), down(given.n) {
    double size = TINY;
    for (int64_t t = 0; t < set.n; t++) {
      mark(t);
      size = larger(size, double(set.diag[t]));
    }
    scale = float(1.0 / size), least = LEAST_CURVATURE * size;
    for (int64_t t = 0; t < set.n; t++) alike = alike && (double(set.diag[t]) == size || !(set.lo[t] < set.hi[t]));
  }

  int64_t run(double tol, int64_t most, double *violation) {
    int64_t i = 0, j = 0;
    float step = 0;
    for (int64_t number = 0;; number++) {
      float top;
      i = rise(i, j, step, top);
      if (number % LOOK_EVERY == 0 || number == most) {
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

 private:
  static constexpr int L = LANES<float>;
  const WorkingSet<float> &set;
  Zeros<float> up, down;  // what is added to F_t for the gain of a rise, and to -F_t for that of a fall
  float scale;            // 1 / the largest K_ii
  double least;
  bool alike = true;      // all that may move have the same K_ii, as with a Gaussian: one operation less

  void mark(int64_t t) {
    up[t] = set.beta[t] >= set.hi[t] ? -float(FORBIDDEN) : 0;
    down[t] = set.beta[t] <= set.lo[t] ? -float(FORBIDDEN) : 0;
  }

  float fall() {
    vec<float> falls = filled(-4 * float(FORBIDDEN));
    for (int64_t t = 0; t < set.n; t += L) falls = larger(load<float>(down.at(t)) - load(set.F + t), falls);
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
        const vec<float> f = (load(Ki + at) - load(Kj + at)) * -step + load(set.F + at);
        store(set.F + at, f);
        chunk = larger(f + load<float>(up.at(at)), chunk);
      }
      best.see(chunk, float(t));
    }
    int64_t place = best.first(top);
    while (set.F[place] + up[place] != top) place++;
    return place;
  }

  template <bool same> vec<float> gain(const float *Ki, int64_t at, float top, float own) {
    const vec<float> violated = larger(load<float>(down.at(at)) - load(set.F + at) + top, vec<float>{});
    const vec<float> both = same ? filled(own + own) : load(set.diag + at) * scale + own;
    const vec<float> curvature = larger(load(Ki + at) * (-2 * scale) + both, filled(float(LEAST_CURVATURE)));
    return violated * violated * about_inverse(curvature);
  }

  // The j with which i gains most, or -1 where nobody gains; curvatures are in parts of the largest K_ii.
  template <bool same> int64_t partner(int64_t i, float top) {
    const float *Ki = set.K + i * set.stride, own = set.diag[i] * scale;
    BestChunk best(0);
    for (int64_t t = 0; t < set.n; t += CHUNK) {
      vec<float> chunk{};
#pragma GCC unroll 16
      for (int64_t at = t; at < t + CHUNK; at += L) chunk = larger(gain<same>(Ki, at, top, own), chunk);
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
    const double curvature = larger(double(set.diag[i]) + double(set.diag[j]) - 2.0 * double(set.K[i * set.stride + j]), least);
    const double size = smaller((double(set.F[i]) - double(set.F[j])) / curvature, smaller(room_i, room_j));
    rising = size == room_i ? set.hi[i] : rising + size;
    sinking = size == room_j ? set.lo[j] : sinking - size;
    mark(i), mark(j);
    const float step = float(size);
    set.F[i] -= step * (set.diag[i] - set.K[i * set.stride + i]);  // r, where there is one
    set.F[j] += step * (set.diag[j] - set.K[j * set.stride + j]);
    return size;
  }
};

inline int64_t block_descent(const WorkingSet<float> &set, double tol, int64_t most, double *violation) { return BlockDescent(set).run(tol, most, violation); }

}  // namespace
