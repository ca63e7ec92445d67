// What the rest of the program tells the products about its own threads.

#include <cstdint>

#include "job.h"

extern "C" int64_t hess_busy_elsewhere(int64_t change) { return hess::busy_elsewhere += change; }
