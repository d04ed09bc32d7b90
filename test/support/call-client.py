"""Calls methods of the Python client as a test tells it: a line of JSON in, a line of JSON out."""

import itertools
import json
import os
import sys

from scripdesk_client import PagedList, Scripdesk, ScripdeskError

heads = []
desk = Scripdesk(
    os.environ["SCRIPDESK_URL"],
    os.environ.get("SCRIPDESK_KEY"),
    retry_delay_ms=1,
    on_answer=lambda answer: heads.append(answer),
)


def take(answer, count):
    """What is kept of an answer: a page, or the first of what has no end."""
    if isinstance(answer, PagedList):
        return answer.page() if count is None else list(itertools.islice(answer, count))
    if isinstance(answer, (dict, list, str)):
        return answer
    if isinstance(answer, bytes):
        return {"bytes": len(answer), "begins": answer[:5].decode("latin-1")}
    return list(itertools.islice(answer, count or 1))


for line in sys.stdin:
    call = json.loads(line)
    heads.clear()
    try:
        method = getattr(desk, call["method"])
        answer = method(*call["given"], **call.get("options", {}))
        result = {"answer": take(answer, call.get("count"))}
    except ScripdeskError as error:
        result = {"error": dict(vars(error), text=str(error))}
    except (TypeError, ValueError) as error:
        result = {"refused": str(error)}
    result["heads"] = [[head.operation, head.status, head.attempt] for head in heads]
    print(json.dumps(result), flush=True)
