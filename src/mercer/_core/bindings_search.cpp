// What Python sees of the loops for tuning. The rules are those of bindings.cpp.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>
#include <algorithm>
#include "blocks.hpp"

namespace nb = nanobind;
using namespace nb::literals;

template <class T, int N> using In = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
using Own = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

static void require(bool fits, const char *what) {
  if (!fits) throw nb::value_error(what);
}

void define_search(nb::module_ &m, const Loops &loops) {
  m.def("settle_by_blocks", [&loops](In<float, 2> K, In<double, 1> q, In<double, 1> r, In<double, 1> eps, In<double, 1> lo, In<double, 1> hi, Own beta, Own F, bool bias, double goal, double least, int64_t most) {
    const int64_t n = int64_t(beta.shape(0)), width = int64_t(K.shape(0));
    require(width > n && width % CHUNK == 0 && int64_t(K.shape(1)) == width && width < int64_t(1) << 24, "settle_by_blocks: K must be square, and padded to whole chunks with room for one more point");
    for (const auto *array : {&q, &r, &eps, &lo, &hi}) require(int64_t(array->shape(0)) == n, "settle_by_blocks: all arrays must be of one length");
    require(int64_t(F.shape(0)) == n, "settle_by_blocks: all arrays must be of one length");
    SettledByBlocks s;
    {
      nb::gil_scoped_release release;
      const Points p{n, F.data(), beta.data(), r.data(), eps.data(), lo.data(), hi.data()};
      s = ByBlocks(loops, K.data(), width, q.data(), p, beta.data(), F.data(), bias).run(goal, least, most);
    }
    return std::make_tuple(s.done, s.steps, s.newton, s.rounds, s.free, s.dual, s.gap, s.top, s.bottom, s.travel);
  }, "K"_a.noconvert(), "q"_a.noconvert(), "r"_a.noconvert(), "eps"_a.noconvert(), "lo"_a.noconvert(), "hi"_a.noconvert(), "beta"_a.noconvert(), "F"_a.noconvert(), "bias"_a, "goal"_a, "least"_a, "most"_a);
}
