"""Reward for verl, over `sluicegate train --serve-reward PORT`.

    custom_reward_function.path=training/verl_reward.py custom_reward_function.name=compute_score

`score` is the sum of the three rewards; the others are logged. With `reward_model.use_reward_loop=True` the engine awaits
the coroutine, so that samples do not wait for each other.
"""
import asyncio
import json
import os
import urllib.request

ADDRESS = os.environ.get("SLUICEGATE_REWARD", "http://127.0.0.1:8788")


def _ask(solution_str, ground_truth):
    truth = {"safety": ground_truth["safety"], "filtered_tools": list(ground_truth["filtered_tools"])}
    body = json.dumps({"solution_str": solution_str, "ground_truth": truth}).encode()
    request = urllib.request.Request(ADDRESS + "/compute_score", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=180) as answer:
        return json.load(answer)


async def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    rewards = await asyncio.to_thread(_ask, solution_str, ground_truth)
    return {name: rewards[name] for name in ("score", "safety", "tools", "format")}
