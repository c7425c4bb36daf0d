// All loops, compiled once for each level: LEVEL (its name), TABLE (that of its table) and BYTES (the size of a register) are given when compiling.
#include "block_pairs.hpp"
#include "logistic.hpp"
#include "newton.hpp"
#include "pairs.hpp"
#include "perceptron.hpp"
#include "proximal_loops.hpp"
#include "rows.hpp"
#include "squares.hpp"
#include "stochastic.hpp"
#include "sums.hpp"
#include "symmetric.hpp"
#include "tile_sums.hpp"
#include "votes.hpp"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)
template <class Real> constexpr LoopsOf<Real> OF = {fill<Real>, square<Real>, add<Real>, add_both<Real>, finish_rows<Real>, add_rows<Real>, mirror<Real>, pair_descent<Real>, factor<Real>, substitute<Real>};
constexpr FeatureLoops FEATURES = {
    features::within, features::dots, features::combine, features::weighted, features::squares, features::descend, features::descend_passes, features::descend_kernel, features::in_play, features::shuffle, features::draw,
    features::draws, features::draws_kernel, features::losses_and_conjugates, features::approach, features::learn, features::learn_block, features::cast_votes,
};
extern const Loops JOIN(loops_, TABLE);
const Loops JOIN(loops_, TABLE) = {TEXT(LEVEL), OF<float>, OF<double>, vote, sum_panel, proximal::point, proximal::slope, proximal::carry, logistic::evaluate_all, logistic::bends, logistic::entropies, add_dense_squares<float>, add_dense_squares<double>, add_dense_squares<double>, add_symmetric, FEATURES};
