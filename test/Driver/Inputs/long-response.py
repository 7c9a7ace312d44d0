# More than any command line may hold.
print("-fsanitize=cuda-race")
for i in range(40000):
    print(f'"-DA_LONG_NAME_THAT_FILLS_THE_COMMAND_LINE_{i}=a \\"quoted\\" word"')
print("-DLAST=39999")
