// Printed pipelines, compiled as a user would compile them. They are kept as they are printed, not as they
// would be formatted.
#include "tests/fuzz/reproducers.inc"
