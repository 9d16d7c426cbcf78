# %% [markdown]
# # Which model is best? Rank the models of a judge log
#
# People and language models compare the answers of two models to a prompt: left, right, or a tie. Judges differ: some
# prefer whatever stands on the left, some answer at random, and models of one strength swap places by chance. A notebook
# as a script: run it with `python rank_models.py [FOLDER]`; the folder gets the view of a result as a page.

# %%
import math
import pathlib
import random
import sys

import quorate

folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None

# %% [markdown]
# ## The log
#
# Six models answer 400 prompts. Every prompt goes to one of five judges, who sees two of the answers in both orders. In
# a real log the truth is not known; here it shows what the methods make of the log. Judge `careless` tosses a coin,
# `first-is-best` leans to the left side, `hurried` too and sees little of the difference.

# %%
draw = random.Random(11)
truth = {"amber": 1.2, "birch": 0.9, "cedar": 0.3, "dune": 0.0, "elm": -0.6, "fern": -1.8}
# How well a judge tells models apart, and the lead of the left side.
judges = {"expert": (2.0, 0.0), "usual": (1.0, 0.1), "first-is-best": (1.0, 2.0), "hurried": (0.4, 1.2), "careless": (0.0, 0.0)}
log = []


def noise() -> float:
    share = draw.random()
    return math.log(share / (1 - share))


for prompt in range(400):
    pair = draw.sample(list(truth), 2)
    judge = draw.choice(list(judges))
    sharpness, lead = judges[judge]
    taste = noise()  # what the first answer of this prompt has over the second, in the judge's eyes
    for sign, (left, right) in ((1, pair), (-1, pair[::-1])):
        added = noise() if judge == "careless" else sign * taste
        seen = sharpness * (truth[left] - truth[right]) + lead + added
        winner = "tie" if abs(seen) < 0.5 else "left" if seen > 0 else "right"
        log.append(
            {"prompt": prompt, "judge": judge, "model_a": left, "model_b": right, "winner": winner,
             "category": "code" if prompt % 4 == 0 else "text"}
        )
print(len(log), "comparisons, for example", log[0])

# %% [markdown]
# ## The leaderboard
#
# Scores are log odds with intervals; `rank_low` and `rank_high` say which places the comparisons leave a model. Both orders
# of one pair by one judge count as one comparison.

# %%
result = quorate.rank(log)
board = result.leaderboard
for row in zip(board["rank"], board["item"], board["score"], board["low"], board["high"], board["rank_low"], board["rank_high"]):
    print("{}. {:6} {:6.2f} ({:5.2f} to {:5.2f}), places {} to {}".format(*row))
for finding in result.findings:
    print(finding)
if folder is not None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ranking.html").write_text(result._repr_html_(), encoding="utf-8")

# %% [markdown]
# ## The judges
#
# A discrimination of 1 is usual and 0 is chance; `left_lead` is by how much the left side leads between equal models.

# %%
for judge, discrimination, lead, same, verdict in zip(
    *(result.judges[column] for column in ("judge", "discrimination", "left_lead", "self_agreement", "verdict"))
):
    print(f"{judge:14} discrimination {discrimination:5.2f}, left side {100 * lead:+4.0f} points, same answer when swapped "
          f"{100 * same:3.0f} %  {verdict}")

# %% [markdown]
# ## Does the method matter?
#
# The other methods take every judge alike. How far from the truth is the share of prompts on which one model beats another?

# %%
for method in quorate.methods.list_rankers():
    if method == "plackett-luce":
        continue  # for rankings of several items
    own = quorate.rank(log, method)
    pairs = [(a, b) for a in truth for b in truth if truth[a] > truth[b]]
    off = [abs(own.win_probability[a][b] - 1 / (1 + math.exp(truth[b] - truth[a]))) for a, b in pairs]
    print(f"{method:14} off by {100 * sum(off) / len(off):4.1f} points: {', '.join(own.items)}")

# %% [markdown]
# ## May the new model ship?
#
# The chance that one model is better than another, for a gate (`quorate rank --require 'amber > birch'` on the command
# line), and the share of prompts on which it would win.

# %%
print(f"amber is better than birch: {result.better('amber', 'birch'):.2f}")
print(f"amber is better than fern: {result.better('amber', 'fern'):.2f}, and wins {result.win_probability['amber']['fern']:.0%}")

# %% [markdown]
# ## What to compare next
#
# The comparisons that tell most about what is open, by the judges who see most.

# %%
print(result.next_pairs(5))

# %% [markdown]
# ## A leaderboard for each category

# %%
for category, own in quorate.rank(log, by="category").items():
    print(f"{category}: {', '.join(own.items)}")
