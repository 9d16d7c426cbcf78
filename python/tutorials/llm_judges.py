# %% [markdown]
# # LLM judges: which verdicts can be trusted?
#
# Several language models (or several prompts) judge the same answers. Judges have biases, and some err together:
# models of one family share their mistakes, so that five judges can be worth two. A notebook as a script: run it
# with `python llm_judges.py`.

# %%
import random

import quorate

# %% [markdown]
# ## Verdicts
#
# 400 answers are judged "good" or "bad" by six judges; `large-b` repeats most verdicts of `large-a`, and `lenient`
# calls most answers good.

# %%
draw = random.Random(5)
truth = {f"answer-{number}": draw.choice(["good", "bad"]) for number in range(400)}
accuracy = {"large-a": 0.85, "medium": 0.78, "small-1": 0.7, "small-2": 0.68}
verdicts = []
for answer, verdict in truth.items():
    other = "bad" if verdict == "good" else "good"
    given = {judge: verdict if draw.random() < right else other for judge, right in accuracy.items()}
    given["large-b"] = given["large-a"] if draw.random() < 0.95 else other
    given["lenient"] = "good" if draw.random() < 0.9 else verdict
    verdicts += [(answer, judge, said) for judge, said in given.items()]

# %% [markdown]
# ## Do the judges judge independently?

# %%
inspection = quorate.inspect(verdicts)
for finding in inspection.findings:
    print(f"{finding.severity}: {finding.sentence}\n    {finding.advice}")

# %% [markdown]
# ## How does each judge err?
#
# A row for each verdict, a column for each truth: `lenient` says "good" whatever the truth is.

# %%
result = quorate.aggregate(verdicts, "dawid-skene")
model = result.model
assert model is not None
for judge in model.workers:
    print(judge, model.classes, [[round(cell, 2) for cell in row] for row in model.confusion(judge)])

# %% [markdown]
# ## One vote of two copies
#
# Leave out one of two judges who err together, and compare.

# %%
independent = [row for row in verdicts if row[1] != "large-b"]
for name, rows in [("all judges", verdicts), ("without the copy", independent)]:
    print(f"{name:18} {quorate.evaluate(quorate.aggregate(rows), truth)}")

# %% [markdown]
# ## Which answers should a person judge?

# %%
print(quorate.aggregate(independent).review(5))
