#!/usr/bin/env bash
# A spreadsheet: a row for each item, a column for each person, semicolons between the cells, NA for no answer.
set -euo pipefail
quorate=${QUORATE:-quorate}
cd "$(mktemp -d)"

cat > sheet.csv <<'CSV'
item;Ann;Bob;Cem;Dia
photo-1;cat;cat;dog;cat
photo-2;dog;dog;dog;NA
photo-3;cat;dog;dog;dog
photo-4;NA;cat;cat;cat
photo-5;dog;dog;cat;dog
photo-6;cat;cat;dog;NA
CSV

"$quorate" aggregate sheet.csv --wide --missing NA -o labels.csv
cat labels.csv

# Without Cem, whose answers often differ.
"$quorate" aggregate sheet.csv --wide --missing NA --drop-workers Cem -o without-cem.csv
cat without-cem.csv
