"""
Answers requests, one JSON a line, about the problem file given: {"run": name} runs a contender once, {"result": name}
also gives its numbers, {"threads": n} sets torch's threads. The first line written says which contenders there are.
"""

import json
import logging
import sys
import warnings
from importlib.metadata import PackageNotFoundError, version

import libraries
import plain_torch
import torch
from problem import Problem

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)


def version_of(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def main() -> None:
    problem = Problem(sys.argv[1])
    every = {**plain_torch.contenders(problem), **libraries.contenders(problem)}
    here = {name: run for name, run in every.items() if callable(run)}
    missing = {name: why for name, why in every.items() if not callable(why)}
    versions = {package: version_of(package) for package in ("torch", "pyDVL", "dattri")}
    print(json.dumps({"contenders": list(here), "missing": missing, "versions": versions}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        if "threads" in request:
            torch.set_num_threads(request["threads"])
            answer: dict[str, object] = {"threads": torch.get_num_threads()}
        elif "run" in request:
            here[request["run"]]()
            answer = {}
        else:
            answer = {"values": here[request["result"]]().tolist()}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
