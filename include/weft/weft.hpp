// All of Weft.
#pragma once

#include <weft/application.h>
#include <weft/buffer.h>
#include <weft/error.h>
#include <weft/evolve.h>
#include <weft/expr.h>
#include <weft/pipeline.h>
#include <weft/pyramid.h>
#include <weft/reduce.h>
#include <weft/resample.h>
#include <weft/stage.h>
#include <weft/types.h>
#include <weft/value_range.h>
#include <weft/window.h>
