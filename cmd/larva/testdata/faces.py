"""The Python face of the table: one call a line on stdin, one answer a line on
stdout. {"operation", "params", "env"} gives {"data"} or {"error"}."""

import json
import os
import sys

from larva.shell import python_api


def call(operation, params):
    if operation == "export":
        if params == {"all": True}:
            return python_api.export_all()
        return python_api.export_ids(**params)
    value = getattr(python_api, operation)(**params)
    if operation == "clear":
        return {"cleared": True, "count": value}
    return value


for line in sys.stdin:
    asked = json.loads(line)
    os.environ.update(asked["env"])
    try:
        answer = {"data": call(asked["operation"], asked["params"])}
    except python_api.LarvaApiError as e:
        answer = {"error": e.error}
    print(json.dumps(answer), flush=True)
