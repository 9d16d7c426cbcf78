#!/usr/bin/env bash
# From a table of answers to labels: aggregate, look at what is doubtful, compare with the truth.
set -euo pipefail
quorate=${QUORATE:-quorate}
cd "$(mktemp -d)"

"$quorate" simulate -o crowd --tasks 300 --workers 30 --labels-per-task 5 --accuracy 0.5,0.9 --spammers 20%

# labels.csv: task, label, confidence. review.csv: the most doubtful tasks and why. workers.csv: a row for each worker.
"$quorate" aggregate crowd/labels.csv -o labels.csv --review review.csv --workers workers.csv
head -3 labels.csv review.csv workers.csv

# The truth is known here, so the labels can be checked.
"$quorate" evaluate labels.csv crowd/truth.csv
