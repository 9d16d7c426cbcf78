#!/usr/bin/env bash
# What is known helps: true labels of some tasks, and a model of what the same workers did before.
set -euo pipefail
quorate=${QUORATE:-quorate}
cd "$(mktemp -d)"

"$quorate" simulate -o crowd --tasks 400 --workers 30 --labels-per-task 4 --accuracy 0.4,0.9

# The first 40 tasks of the truth are known beforehand.
head -41 crowd/truth.csv > gold.csv
"$quorate" aggregate crowd/labels.csv -m dawid-skene --gold gold.csv --model model.json -o labels.csv
"$quorate" evaluate labels.csv crowd/truth.csv --except gold.csv

# Later labels of the same workers start from what the model knows about them.
"$quorate" aggregate crowd/labels.csv -m dawid-skene --worker-prior model.json -o later.csv
