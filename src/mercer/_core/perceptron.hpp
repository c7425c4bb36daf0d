// Perceptrons, over points in the order in which they are seen; `made` notes the mistakes. A mistake is a score on the
// wrong side, or 0. Machines that are not active stay as they are.
#pragma once
#include "feature_rows.hpp"

namespace {
namespace features {

// On a mistake at x_i, w += eta y_i x_i and b += eta y_i bias, for these rows of X one after the other.
inline void learn(const AnyRows &any, const int64_t *index, double *W, double *b, double eta, double bias, const Learners &at) {
  with_rows(any, [&](auto rows) {
    for (int64_t p = 0; p < at.shown; p++)
      for (int64_t c = 0; c < at.machines; c++) {
        if (!at.active[c]) continue;
        double *w = W + c * any.width;
        const double y = at.Y[c * at.points + index[p]], score = rows.dot(index[p], w) + b[c];
        if (!(y * score <= 0.0)) continue;
        at.made[c * at.shown + p] = true, at.scores[c * at.shown + p] = score;
        rows.add(index[p], eta * y, w);
        b[c] = fused(eta * y, bias, b[c]);
      }
  });
}

// part += y (row + bias)
template <class Real> inline void add_shifted(const Real *__restrict row, double bias, double y, double *__restrict part, int64_t n) {
  for (int64_t j = 0; j < n; j++) part[j] = fused(y, double(row[j]) + bias, part[j]);
}

// On a mistake at point i of a block, F_j += y_i (K_ij + bias) for all points j of the block. Ends at a mistake on a fresh
// point that there is no room for: it is noted, but F is not changed. Where it ended.
inline int64_t learn_block(const AnyRows &K, double bias, double *F, bool *fresh, int64_t start, int64_t *room, const Learners &at) {
  const int64_t n = at.points;
  for (int64_t i = start; i < n; i++) {
    bool wrong = false;
    for (int64_t c = 0; c < at.machines; c++) {
      const double score = F[c * n + i];
      at.scores[c * n + i] = score;
      at.made[c * n + i] = at.active[c] && at.Y[c * n + i] * score <= 0.0;
      wrong = wrong || at.made[c * n + i];
    }
    if (!wrong) continue;
    if (fresh[i]) {
      if (*room == 0) return i;
      *room -= 1, fresh[i] = false;
    }
    for (int64_t c = 0; c < at.machines; c++) {
      if (!at.made[c * n + i]) continue;
      const double y = at.Y[c * n + i];
      if (K.single)
        add_shifted(static_cast<const float *>(K.value) + i * n, bias, y, F + c * n, n);
      else
        add_shifted(static_cast<const double *>(K.value) + i * n, bias, y, F + c * n, n);
    }
  }
  return n;
}

// out_i <- sum_t votes_t sign(f_t(x_i)), where f_t = sum over s <= t of signs_s (k(x_points_s, .) + bias)
inline void cast_votes(const AnyRows &K, double bias, const int64_t *points, const double *signs, const double *votes, int64_t count, double *out, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    const double *row = static_cast<const double *>(K.value) + i * K.width;
    double score = 0.0, total = 0.0;
    for (int64_t t = 0; t < count; t++) {
      score = fused(signs[t], row[points[t]] + bias, score);
      if (score > 0.0) total += votes[t];
      if (score < 0.0) total -= votes[t];
    }
    out[i] = total;
  }
}

}  // namespace features
}  // namespace
