// Vectors by the compiler's own types. BYTES, the size of a register, is given when compiling (see levels.hpp).
//
// A product and a sum are written as one expression, a * b + c, and compiled into one fused operation where the CPU has
// it: the same operations in the same order on every level that has it, so the same bits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <new>
#if BYTES > 16
#include <immintrin.h>
#endif

namespace {

// Memory for the length of a call, all zeros; it begins with a line of the cache, because what lies across two takes twice as
// long to load. (Code of the standard library could reach an old CPU compiled for a new one.)
constexpr std::align_val_t LINE{64};
template <class Real> class Zeros {
 public:
  explicit Zeros(int64_t n) : numbers(new (LINE) Real[size_t(n)]()) {}
  Zeros(const Zeros &) = delete;
  Zeros &operator=(const Zeros &) = delete;
  ~Zeros() { operator delete[](numbers, LINE); }
  Real *at(int64_t i) { return numbers + i; }
  Real &operator[](int64_t i) { return numbers[i]; }

 private:
  Real *numbers;
};
inline int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }

template <class Real> struct Number;
template <> struct Number<float> {
  using whole = int32_t;
  using word = uint32_t;
  static constexpr int mantissa = 23, lowest = -126;  // bits; the least exponent of a normal number
};
template <> struct Number<double> {
  using whole = int64_t;
  using word = uint64_t;
  static constexpr int mantissa = 52, lowest = -1022;
};

template <class Real> constexpr int LANES = BYTES / int(sizeof(Real));
template <class Real> struct Vector {
  typedef Real type __attribute__((vector_size(BYTES)));
  typedef Real anywhere __attribute__((vector_size(BYTES), aligned(sizeof(Real)), may_alias));
  typedef typename Number<Real>::whole whole __attribute__((vector_size(BYTES)));
  typedef typename Number<Real>::word word __attribute__((vector_size(BYTES)));
};
template <class Real> using vec = typename Vector<Real>::type;
template <class Real> using ivec = typename Vector<Real>::whole;
template <class Real> using bits_of = typename Vector<Real>::word;

template <class Real> inline vec<Real> load(const Real *p) { return *reinterpret_cast<const typename Vector<Real>::anywhere *>(p); }
template <class Real> inline void store(Real *p, vec<Real> v) { *reinterpret_cast<typename Vector<Real>::anywhere *>(p) = v; }
template <class Real> inline vec<Real> filled(Real x) { return x - vec<Real>{}; }
// The smaller and the larger of two; where a is not a number, it stays so.
template <class V> inline V smaller(V a, V b) { return b < a ? b : a; }
template <class V> inline V larger(V a, V b) { return b > a ? b : a; }
// Of vectors in one instruction, where compilers take two.
#if BYTES == 64
inline vec<float> smaller(vec<float> a, vec<float> b) { return (vec<float>)_mm512_maskz_min_ps(0xFFFF, (__m512)b, (__m512)a); }
inline vec<float> larger(vec<float> a, vec<float> b) { return (vec<float>)_mm512_maskz_max_ps(0xFFFF, (__m512)b, (__m512)a); }
inline vec<double> smaller(vec<double> a, vec<double> b) { return (vec<double>)_mm512_maskz_min_pd(0xFF, (__m512d)b, (__m512d)a); }
inline vec<double> larger(vec<double> a, vec<double> b) { return (vec<double>)_mm512_maskz_max_pd(0xFF, (__m512d)b, (__m512d)a); }
#elif BYTES == 32
inline vec<float> smaller(vec<float> a, vec<float> b) { return (vec<float>)_mm256_min_ps((__m256)b, (__m256)a); }
inline vec<float> larger(vec<float> a, vec<float> b) { return (vec<float>)_mm256_max_ps((__m256)b, (__m256)a); }
inline vec<double> smaller(vec<double> a, vec<double> b) { return (vec<double>)_mm256_min_pd((__m256d)b, (__m256d)a); }
inline vec<double> larger(vec<double> a, vec<double> b) { return (vec<double>)_mm256_max_pd((__m256d)b, (__m256d)a); }
#endif

// a b + c of single numbers, fused where the CPU can. (Left to the compiler, sums in a loop may be fused or not.)
inline double fused(double a, double b, double c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

inline float fused(float a, float b, float c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}

// The largest power of two that is not above a finite x > 0; else, and for the least numbers, 1.
inline double power_below(double x) {
  union { double number; uint64_t bits; } u = {x};
  u.bits &= 0x7FF0000000000000;
  return u.number >= 0x1p-1000 && u.number <= 0x1p1000 ? u.number : 1.0;
}

// As many numbers as a vector of float64 has, widened. (A list of them becomes one instruction, a converted vector five.)
inline vec<double> load_wide(const double *p) { return load(p); }
#if BYTES == 64
inline vec<double> load_wide(const float *p) { return vec<double>{p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]}; }
#elif BYTES == 32
inline vec<double> load_wide(const float *p) { return vec<double>{p[0], p[1], p[2], p[3]}; }
#else
inline vec<double> load_wide(const float *p) { return vec<double>{p[0], p[1]}; }
#endif

// 2^f on [-1/2, 1/2]: the polynomial of degree 6 with the least largest error that is 1 at 0 (float32), Taylor's of
// degree 13 (float64).
struct Powers32 {
  static constexpr int degree = 6;
  float c[7] = {1.0f, 0.6931471824645996f, 0.24022647738456726f, 0.055503323674201965f, 0.00961843691766262f,
                0.0013398873852565885f, 0.00015353361959569156f};
};
struct Powers64 {
  static constexpr int degree = 13;
  double c[14] = {1.0};
  constexpr Powers64() {
    for (int k = 1; k <= degree; k++) c[k] = c[k - 1] * 0.6931471805599453094 / k;
  }
};
template <class Real> struct PowersOf { using type = Powers64; };
template <> struct PowersOf<float> { using type = Powers32; };
template <class Real> constexpr typename PowersOf<Real>::type POWERS{};

// 2^t for t <= 0, of several vectors at a time: a chain of operations that wait for each other would leave the CPU idle.
// Below the least normal number it is 0.
template <class Real, int N> [[gnu::always_inline]] inline void exp2_of(vec<Real> (&t)[N]) {
  constexpr int bits = Number<Real>::mantissa, degree = PowersOf<Real>::type::degree;
  const vec<Real> magic = filled(Real(bits == 23 ? 0x1.8p23 : 0x1.8p52));  // adding it rounds to a whole number
  const vec<Real> least = magic + Real(Number<Real>::lowest);
  vec<Real> shifted[N], f[N], p[N];
#pragma GCC unroll 8
  for (int c = 0; c < N; c++) {
    shifted[c] = t[c] + magic;
    f[c] = t[c] - (shifted[c] - magic);
    p[c] = filled(Real(POWERS<Real>.c[degree]));
  }
#pragma GCC unroll 16
  for (int m = degree - 1; m >= 0; m--)
#pragma GCC unroll 8
    for (int c = 0; c < N; c++) p[c] = p[c] * f[c] + Real(POWERS<Real>.c[m]);
#pragma GCC unroll 8
  for (int c = 0; c < N; c++) t[c] = (vec<Real>)(shifted[c] < least ? bits_of<Real>{} : (bits_of<Real>)p[c] + ((bits_of<Real>)shifted[c] << bits));
}

// The square root of each lane, correctly rounded.
template <class Real> inline vec<Real> root(vec<Real> x) {
  for (int l = 0; l < LANES<Real>; l++) x[l] = sizeof(Real) == 4 ? Real(__builtin_sqrtf(float(x[l]))) : Real(__builtin_sqrt(double(x[l])));
  return x;
}

}  // namespace
