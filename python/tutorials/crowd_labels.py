# %% [markdown]
# # Crowd labels: from first look to trusted labels
#
# A notebook as a script: open it in an editor that knows `# %%` cells, or run it (`python crowd_labels.py`). The
# crowd is simulated, so that the truth is known at the end; with labels of your own only the first cell changes.

# %%
import os
import sys

import quorate

folder = sys.argv[1] if len(sys.argv) > 1 else "crowd-labels-pictures"
os.makedirs(folder, exist_ok=True)


def show(name: str, html: str) -> None:
    """Keeps a picture that a notebook would show."""
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(f"<!doctype html><meta charset='utf-8'><body>{html}")


# %% [markdown]
# ## The labels
#
# Any table of who answered what on which task will do: `quorate.read("labels.csv")`, a frame of pandas or polars,
# rows of (task, worker, label).

# %%
crowd = quorate.simulate(
    tasks=600, workers=20, classes=3, accuracy=(0.5, 0.9), labels_per_task=6, spammers=3, adversaries=1, seed=11
)
labels = crowd.labels
print(labels)

# %% [markdown]
# ## First look: what can these labels tell?
#
# No truth is needed: workers are compared with what the others say.

# %%
inspection = quorate.inspect(labels)
print(inspection.agreement)
for finding in inspection.findings:
    print(f"{finding.severity}: {finding.sentence}\n    {finding.advice}")

# %% [markdown]
# ## The labels of all tasks
#
# The default method needs no settings. The result shows itself in a notebook: how far to trust the labels, which
# tasks to look at first, and how the workers do.

# %%
result = quorate.aggregate(labels)
print(result)
show("result.html", result._repr_html_())

# %% [markdown]
# ## Which tasks should a person look at?

# %%
print(result.review(5))

# %% [markdown]
# ## Where does the model overrule the majority, and who tipped it?

# %%
print(result.changes.head(5))

# %% [markdown]
# ## Add what you know
#
# A few tasks with a known answer fix their labels and teach the method about the workers.

# %%
truth = dict(zip(crowd.truth["task"], crowd.truth["label"]))
known = {task: truth[task] for task in list(truth)[:60]}
with_gold = quorate.aggregate(labels, gold=known)
print(with_gold)

# %% [markdown]
# ## Was it worth it?
#
# Here the truth is known. The tasks of gold are left out: they are right by construction.

# %%
for name, found in [
    ("majority vote", quorate.aggregate(labels, "majority-vote")),
    ("default", result),
    ("with gold", with_gold),
]:
    print(f"{name:14} {quorate.evaluate(found, truth, except_tasks=list(known))}")

# %% [markdown]
# ## Keep the model for the next batch
#
# What was learnt about the workers carries over: a worker who is known needs fewer labels.

# %%
path = os.path.join(folder, "model.json")
quorate.aggregate(labels, "dawid-skene").save_model(path)
next_batch = quorate.simulate(tasks=100, workers=20, classes=3, accuracy=(0.5, 0.9), labels_per_task=2, seed=12)
print(quorate.aggregate(next_batch.labels, "dawid-skene", knowledge={"worker_prior": path}).notes)
