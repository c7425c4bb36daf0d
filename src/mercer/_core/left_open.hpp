// What the gap and rounding leave open of an answer; see reference/left_open.py. Plain, one point after the other, the same on
// every machine.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

constexpr double UNIT = 0.5 * std::numeric_limits<double>::epsilon(), LAST = 4.0, SAFE = 1.01;
constexpr double SAME_LEVEL = 1e-12;  // of the sum of all weights

// A cell: weights C_i, which are 0 where a point is left out, and root(K_ii) of n points.
struct Judged {
  int64_t n;
  const double *y, *weights, *lo, *hi, *beta, *scores, *root;
  double gap, b, scale;
  bool twice;
};

struct Open {
  double radius, least = 0, most = 0, b = 0, lost;
};

// Where the slope of sum C_i max(0, 1 - y_i (s_i + b)) is 0: it grows by C_i at y_i - s_i, from minus the weight of y > 0.
inline void best_biases(const Judged &p, double &low, double &high) {
  struct Step {
    double at, C;
  };
  std::vector<Step> steps;
  double up = 0, all = 0, least = std::numeric_limits<double>::infinity(), most = 0;
  int64_t rises = 0;
  for (int64_t t = 0; t < p.n; t++) {
    const double C = p.weights[t];
    if (!(C > 0)) continue;
    steps.push_back({p.y[t] - p.scale * p.scores[t], C});
    least = std::fmin(least, C), most = std::fmax(most, C), all += C;
    if (p.y[t] > 0) up += C, rises++;
  }
  const int64_t last = int64_t(steps.size()) - 1;
  low = high = 0;
  if (last < 0) return;
  const auto earlier = [](const Step &a, const Step &b) { return a.at < b.at; };
  if (least == most) {  // by counting
    const auto middle = steps.begin() + std::min(rises, last);
    std::nth_element(steps.begin(), middle, steps.end(), earlier);
    high = middle->at;
    low = rises == 0 || rises > last ? high : std::max_element(steps.begin(), middle, earlier)->at;
    return;
  }
  std::stable_sort(steps.begin(), steps.end(), earlier);
  double total = 0;
  int64_t before = 0, after = 0;
  for (const Step &step : steps) {
    total += step.C;
    before += total < up - SAME_LEVEL * all, after += total <= up + SAME_LEVEL * all;
  }
  low = steps[size_t(std::min(before, last))].at, high = steps[size_t(std::min(after, last))].at;
}

inline Open left_open(const Judged &p, bool bias) {
  const double plain = SAFE * UNIT * (double(p.n) + LAST);
  double size = 0, hidden = 0, widest = 0, worst = 0;
  for (int64_t t = 0; t < p.n; t++) size += std::fabs(p.beta[t]) * p.root[t];
  const double lost = p.scale * (p.twice ? plain * plain : plain) * size;
  for (int64_t t = 0; t < p.n; t++) {
    if (!(p.weights[t] > 0)) continue;
    const double score = p.scale * p.scores[t], error = lost * p.root[t] + LAST * UNIT * (std::fabs(score) + 1 + std::fabs(p.b));
    const bool free = p.lo[t] < p.beta[t] && p.beta[t] < p.hi[t] && p.beta[t] != 0;
    if (free || std::fabs(1 - p.y[t] * (score + p.scale * p.b)) <= 2 * error) hidden += p.weights[t] * error;
    widest = std::fmax(widest, p.root[t]), worst = std::fmax(worst, error);
  }
  Open open;
  open.lost = lost, open.radius = std::sqrt(2 * (std::fmax(p.gap, 0) + hidden));
  if (bias) {
    best_biases(p, open.least, open.most);
    open.b = 0.5 * (open.least + open.most);
    open.least -= open.radius * widest + worst, open.most += open.radius * widest + worst;
  }
  return open;
}
