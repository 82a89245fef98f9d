#include "ir/print.h"
#include <gtest/gtest.h>
TEST(Print, Todo) {}
