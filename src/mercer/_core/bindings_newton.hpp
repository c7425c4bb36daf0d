// What Python sees of the loops of Newton's method (proximal.hpp).
#pragma once
#include <nanobind/nanobind.h>
#include "loops.hpp"

void define_newton(nanobind::module_ &functions, const Loops &loops);
