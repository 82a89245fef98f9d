// main() of `weft`, and of every program that links weft::main.
#include "tools/command_line.h"

int main(int argc, char** argv) { return weft::tools::run_command_line(argc, argv); }
