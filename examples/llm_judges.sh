#!/usr/bin/env bash
# Four language models judge answers; null is a judgement that could not be read. Keys are found by their names.
set -euo pipefail
quorate=${QUORATE:-quorate}
cd "$(mktemp -d)"

for question in $(seq 1 40); do
  verdict=$([ $((question % 3)) -eq 0 ] && echo fail || echo pass)
  other=$([ "$verdict" = pass ] && echo fail || echo pass)
  for judge in model-a model-b model-c model-d; do
    rating="\"$verdict\""
    # model-d says pass to nearly everything, model-c slips on every seventh question and skips every ninth.
    [ "$judge" = model-d ] && [ $((question % 10)) -ne 0 ] && rating='"pass"'
    [ "$judge" = model-c ] && [ $((question % 7)) -eq 0 ] && rating="\"$other\""
    [ "$judge" = model-c ] && [ $((question % 9)) -eq 0 ] && rating=null
    echo "{\"question\": \"q$question\", \"judge\": \"$judge\", \"rating\": $rating}"
  done
done > judgements.jsonl

"$quorate" aggregate judgements.jsonl -o verdicts.csv --workers judges.csv --review 5
head -4 verdicts.csv
cat judges.csv
