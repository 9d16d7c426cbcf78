# %% [markdown]
# # Planning: whom to ask next, and when to stop
#
# Labels cost money. After the first ones, some tasks are settled and some workers have shown what they can do: the
# next labels are worth most on doubtful tasks, by workers who can tell their classes apart. A notebook as a script:
# run it with `python planning.py [FOLDER]`; the folder gets the pictures.

# %%
import pathlib
import sys

import quorate

folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None

# %% [markdown]
# ## The first labels
#
# A simulated crowd: every worker could answer every task. Two labels per task have been collected so far.

# %%
crowd = quorate.simulate(tasks=300, workers=20, accuracy=(0.4, 0.9), labels_per_task=20, seed=4)
table = crowd.labels.table
answers = {(task, worker): label for task, worker, label in zip(table["task"], table["worker"], table["label"])}
workers = sorted(set(table["worker"]))
rows = []
for number, task in enumerate(dict.fromkeys(table["task"])):
    for step in range(2):
        worker = workers[(2 * number + step) % len(workers)]
        rows.append((task, worker, answers[task, worker]))
result = quorate.aggregate(rows)
print(len(rows), "labels:", quorate.evaluate(result, crowd.truth))

# %% [markdown]
# ## The plan
#
# 150 more labels: which tasks, and by whom? A label with a gain of 0 explores.

# %%
plan = result.plan(150, target=0.1)
print(plan)
print(plan.assignments)
print("labels to an error of 10 %:", plan.labels_to_target)

# %% [markdown]
# ## Collect them, and plan again
#
# Beside the plan, 150 labels at a time from anybody on any task.

# %%
planned, anyhow = list(rows), list(rows)
left = [pair for pair in answers if pair not in {(task, worker) for task, worker, _ in rows}]
for turn in range(4):
    wanted = quorate.aggregate(planned).plan(150).assignments
    planned += [(task, worker, answers[task, worker]) for task, worker in zip(wanted["task"], wanted["worker"])]
    # Every 37th of those that are left: as good as any.
    chosen = [left[(37 * place + turn) % len(left)] for place in range(150)]
    left = [pair for pair in left if pair not in set(chosen)]
    anyhow += [(task, worker, answers[task, worker]) for task, worker in dict.fromkeys(chosen)]
print("as planned:", len(planned), "labels,", quorate.evaluate(quorate.aggregate(planned), crowd.truth))
print("anyhow:    ", len(anyhow), "labels,", quorate.evaluate(quorate.aggregate(anyhow), crowd.truth))

# %% [markdown]
# ## The report
#
# One page with all of it: tasks to review, workers, what to label next.

# %%
if folder is not None:
    folder.mkdir(parents=True, exist_ok=True)
    quorate.aggregate(planned).report(folder / "report.html", title="After four batches", truth=crowd.truth)
