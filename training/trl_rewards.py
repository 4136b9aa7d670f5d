"""Reward functions for TRL (GRPO), over `sluicegate train --serve-reward PORT`.

    trainer = GRPOTrainer(..., reward_funcs=[safety, tools, format], reward_weights=[1, 1, 1])

The data set needs the column `ground_truth`, which `--export DIR --engine trl` writes.
"""
import json
import os
import urllib.request

ADDRESS = os.environ.get("SLUICEGATE_REWARD", "http://127.0.0.1:8788")


def _ask(completions, ground_truth):
    texts = [c if isinstance(c, str) else c[-1]["content"] for c in completions]
    body = json.dumps({"completions": texts, "ground_truth": ground_truth}).encode()
    request = urllib.request.Request(ADDRESS + "/rewards", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=180) as answer:
        return json.load(answer)


def safety(completions, ground_truth, **_):
    return _ask(completions, ground_truth)["safety"]


def tools(completions, ground_truth, **_):
    return _ask(completions, ground_truth)["tools"]


def format(completions, ground_truth, **_):
    return _ask(completions, ground_truth)["format"]
