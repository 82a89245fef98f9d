// The whole text of an error, place included.
#pragma once

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <string>

/// Runs the statement, which has to stand on the line of the macro, and compares the whole message; `HERE` in
/// the expected text is this file and line.
#define EXPECT_ERROR(statement, expected) \
  expect_error([&] { statement; }, expected, std::string(__FILE__) + ":" + std::to_string(__LINE__))

/// Likewise where the mistake is found later than it was made: `here` is THIS_LINE() or NEXT_LINE() at the
/// mistake.
#define EXPECT_ERROR_AT(here, statement, expected) expect_error([&] { statement; }, expected, here)
#define THIS_LINE() (std::string(__FILE__) + ":" + std::to_string(__LINE__))
#define NEXT_LINE() (std::string(__FILE__) + ":" + std::to_string(__LINE__ + 1))

template <class F>
void expect_error(F statement, std::string expected, const std::string& here) {
  if (const auto at = expected.find("HERE"); at != std::string::npos) expected.replace(at, 4, here);
  try {
    statement();
    ADD_FAILURE_AT(__FILE__, __LINE__) << "no error, instead of\n" << expected;
  } catch (const weft::Error& e) {
    EXPECT_EQ(std::string(e.what()), expected);
  } catch (const std::exception& e) {
    ADD_FAILURE() << "not a weft::Error: " << e.what();
  }
}
