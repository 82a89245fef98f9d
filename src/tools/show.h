// Pictures on the terminal itself, if it is one that shows them. Nothing else is ever opened.
#pragma once

#include <weft/buffer.h>

#include <string>

namespace weft::tools {

/// What the terminal on the standard output understands.
enum class TerminalPictures { None, Kitty, Sixel };
/// Looks at the environment, and asks terminals that it says nothing of. If it is None, `why` is a clause
/// that says why.
TerminalPictures terminal_pictures(std::string& why);

/// Prints a picture of 8 or 16 bits and 1 to 4 lanes, made so small that it fits.
void show_picture(const Buffer& picture, TerminalPictures how);

/// What --show can do: throws weft::Error with the remedy if that is nothing and `is_all`, as nothing else is
/// to come of the work; otherwise warns.
TerminalPictures pictures_or_complaint(bool is_all);

}  // namespace weft::tools
