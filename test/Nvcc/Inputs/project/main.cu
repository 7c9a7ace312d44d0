#include "shift.h"

int main() { return runShift() == cudaSuccess ? 0 : 1; }
