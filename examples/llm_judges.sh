#!/usr/bin/env bash
# Five language models judge answers; null is a judgement that could not be read. Keys are found by their names. model-e is a
# small variation of model-d, and people have checked the first fifty answers.
set -euo pipefail
quorate=${QUORATE:-quorate}
cd "$(mktemp -d)"

state=7
# Sets `hit` to 1 in so many of a hundred cases; the same ones on every machine.
chance() {
  state=$(((state * 1103515245 + 12345) % 2147483648))
  hit=$((state / 65536 % 100 < $1))
}
words=(fail pass)

echo 'task,label' > checked.csv
for question in $(seq 1 240); do
  chance 60 && truth=$hit
  [ "$question" -le 50 ] && echo "q$question,${words[truth]}" >> checked.csv
  chance 30 && shared=$((truth ^ hit))
  for judge in model-a model-b model-c model-d model-e; do
    case $judge in
      model-a) chance 10 && said=$((truth ^ hit)) ;;
      # Passes a third of what should fail.
      model-b) chance $((truth ? 5 : 33)) && said=$((truth ^ hit)) ;;
      model-c) chance 15 && said=$((truth ^ hit)) ;;
      *) chance 3 && said=$((shared ^ hit)) ;;
    esac
    rating="\"${words[said]}\""
    # model-c fails now and then.
    chance 12 && [ "$judge" = model-c ] && [ "$hit" = 1 ] && rating=null
    echo "{\"question\": \"q$question\", \"judge\": \"$judge\", \"rating\": $rating}"
  done
done > judgements.jsonl

"$quorate" judges judgements.jsonl -o verdicts.csv
"$quorate" judges judgements.jsonl --gold checked.csv --fail-below 0.4 -o verdicts.csv
head -4 verdicts.csv
