#ifndef PROJECT_H
#define PROJECT_H
#include <vector>
void scale(std::vector<float> &Data, float Factor);
void runTwice(std::vector<float> &Data);
#endif
