// The part of the bindings for loops over points one at a time.
#pragma once
#include <nanobind/nanobind.h>
#include "features.hpp"

void define_features(nanobind::module_ &m, const FeatureLoops &loops);
