// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Needleman-Wunsch table of two sequences in square tiles, a launch for each
// diagonal of tiles. A block has its tile in shared memory, with the row above
// and the column to the left, and goes through it by diagonals. The planted
// variant also stores that row and that column, of which each has an end that
// another tile of the launch loads and stores.
//

#include "Suite.h"

constexpr int Tile = 64, Match = 1, Mismatch = -1, Gap = -1;

__global__ void fillBorders(int Width, int *Table) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < Width)
    Table[I] = Table[size_t(I) * Width] = I * Gap;
}

__global__ void fillTiles(int Diagonal, int FirstRow, int Width,
                          const char *Rows, const char *Columns, int *Table) {
  __shared__ int Own[Tile + 1][Tile + 1];
  const int TileRow = FirstRow + blockIdx.x, TileColumn = Diagonal - TileRow;
  const int Row = threadIdx.x + 1;
  int *Corner = Table + size_t(TileRow) * Tile * Width + TileColumn * Tile;
  Own[0][Row] = Corner[Row];                 // RACE
  Own[Row][0] = Corner[size_t(Row) * Width]; // RACE
  if (Row == 1)
    Own[0][0] = Corner[0];
  const char Letter = Rows[TileRow * Tile + Row - 1];
  for (int D = 2; D <= 2 * Tile; ++D) {
    __syncthreads();
    const int Column = D - Row;
    if (Column < 1 || Column > Tile)
      continue;
    const bool Same = Letter == Columns[TileColumn * Tile + Column - 1];
    Own[Row][Column] =
        max(Own[Row - 1][Column - 1] + (Same ? Match : Mismatch),
            max(Own[Row - 1][Column], Own[Row][Column - 1]) + Gap);
  }
  __syncthreads();
  constexpr int First = VARIANT(1, 0);
  for (int R = First; R <= Tile; ++R)
    for (int C = First + threadIdx.x; C <= Tile; C += Tile)
      Corner[size_t(R) * Width + C] = Own[R][C]; // RACE
}

/// The last row of the table.
std::vector<int> lastRow(const std::vector<char> &Rows,
                         const std::vector<char> &Columns) {
  std::vector<int> Row(Columns.size() + 1);
  for (size_t C = 0; C < Row.size(); ++C)
    Row[C] = int(C) * Gap;
  for (const char Letter : Rows) {
    int Before = Row[0]; // Above and to the left.
    Row[0] += Gap;
    for (size_t C = 1; C < Row.size(); ++C) {
      const int Pair = Before + (Letter == Columns[C - 1] ? Match : Mismatch);
      Before = Row[C];
      Row[C] = std::max(Pair, std::max(Row[C], Row[C - 1]) + Gap);
    }
  }
  return Row;
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int Tiles = Small ? 3 : 128, N = Tiles * Tile, Width = N + 1;
  std::vector<char> RowLetters(N), ColumnLetters(N);
  for (int I = 0; I < N; ++I) {
    RowLetters[I] = "ACGT"[draw() % 4];
    ColumnLetters[I] = "ACGT"[draw() % 4];
  }
  DeviceArray<char> Rows(RowLetters), Columns(ColumnLetters);
  DeviceArray<int> Table(size_t(Width) * Width);
  fillBorders<<<(Width + 255) / 256, 256>>>(Width, Table);
  for (int Diagonal = 0; Diagonal < 2 * Tiles - 1; ++Diagonal) {
    const int FirstRow = std::max(0, Diagonal - Tiles + 1);
    const int LastRow = std::min(Diagonal, Tiles - 1);
    fillTiles<<<LastRow - FirstRow + 1, Tile>>>(Diagonal, FirstRow, Width, Rows,
                                                Columns, Table);
  }
  std::vector<int> Got(Width);
  CHECK(cudaMemcpy(Got.data(), Table + size_t(N) * Width, Width * sizeof(int),
                   cudaMemcpyDeviceToHost));
  return finish(Got == lastRow(RowLetters, ColumnLetters));
}
