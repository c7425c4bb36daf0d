// Newton steps with a proximal term: what their loops over all points take and give. The loops are in proximal_loops.hpp.
#pragma once
#include <cstdint>

// The dual terms, each n numbers; centre and sigma.
struct Proximal {
  int64_t n;
  const double *q, *r, *eps, *lo, *hi, *centre;
  double sigma;
};

// How a sum over all points bends along a line.
struct Bends {
  double slope, curvature;
};

struct Proxied {
  double total, conjugate, distance, reach;
};

// A step of conjugate gradients: how far it goes, how much of the direction before was in its own; and what the products of
// H, and of its preconditioner, are measured from.
struct CarriedStep {
  double part, turn, centre, near_centre;
};

// out += sum_k weight_k x x' over these sparse rows, on and above the diagonal (d x d); ones += sum weight_k x. Columns of
// a row seldom fall: then all of its squares are above the diagonal.
template <class Index, class Given>
inline void add_sparse_squares(const Index *begin, const Index *column, const Given *value, const int64_t *rows, int64_t count, const double *weight, double *out, int64_t d, double *ones) {
  for (int64_t k = 0; k < count; k++) {
    const Index first = begin[rows[k]], last = begin[rows[k] + 1];
    bool rising = true;
    for (Index e = first + 1; e < last; e++) rising &= column[e - 1] <= column[e];
    for (Index e = first; e < last; e++) {
      const double a = weight[k] * double(value[e]);
      const int64_t i = column[e];
      double *row = out + i * d;
      ones[i] += a;
      if (rising)
        for (Index g = e; g < last; g++) row[column[g]] += a * double(value[g]);
      else
        for (Index g = e; g < last; g++) (i <= column[g] ? row[column[g]] : out[column[g] * d + i]) += a * double(value[g]);
    }
  }
}
