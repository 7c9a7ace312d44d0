constexpr int Bins = 4;
constexpr int binOf(int Value) { return Value % Bins; }
int countedValues(int N);
