"""A false larva mcp that echoes arguments, and misbehaves where it is told to.

FAKE_DIR/log gets a line for each start, call and cancelled call. FAKE is a
comma-separated list of:

  die:TOOL       end on this call; once:TOOL only the first one
  hang:TOOL      never answer this call
  pair           answer calls two by two, the second first
  flood          write a megabyte to stderr before each answer
  ask            ask the client first, and answer once it has
  garbage        write what is no JSON
  mute           do not answer initialize
  stubborn       outlive the end of stdin and SIGTERM
  deaf           stop reading after initialize
  stop           stop as by SIGSTOP on the first call of this process
  hush           close stdout on a call, and live on
"""

import json
import os
import signal
import sys
import time

WAYS = [w for w in os.environ.get("FAKE", "").split(",") if w]
DIR = os.environ["FAKE_DIR"]
held = []


def note(*words):
    with open(os.path.join(DIR, "log"), "a") as f:
        f.write(" ".join(str(w) for w in words) + "\n")


def send(message):
    sys.stdout.write(json.dumps(dict(message, jsonrpc="2.0")) + "\n")
    sys.stdout.flush()


def first(mark):
    """Whether this has not happened before, in any process."""
    try:
        os.close(os.open(os.path.join(DIR, mark), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def answer(message):
    arguments = message["params"]["arguments"]
    send({"id": message["id"], "result": {"structuredContent": {"pid": os.getpid(), "arguments": arguments}}})


def call(message):
    tool = message["params"]["name"][len("larva_") :]
    note("call", tool)
    if "die:" + tool in WAYS or ("once:" + tool in WAYS and first("died")):
        sys.stderr.write("larva: the sky is falling\n")
        sys.stderr.flush()
        os._exit(3)
    if "hang:" + tool in WAYS:
        return
    if "stop" in WAYS and first("stopped"):
        os.kill(os.getpid(), signal.SIGSTOP)
    if "hush" in WAYS and first("hushed"):
        os.close(1)
        return
    if "flood" in WAYS:
        sys.stderr.write("x" * (1 << 20))
        sys.stderr.flush()
    if "garbage" in WAYS:
        print("Starting server...", flush=True)
    if "ask" in WAYS:
        send({"id": 1, "method": "ping"})
        send({"id": "r", "method": "roots/list", "params": {}})
        send({"method": "notifications/message", "params": {}})
        got = [json.loads(sys.stdin.readline()) for _ in range(2)]
        note("answers", got[0].get("result"), got[1]["error"]["code"])
    if "pair" in WAYS:
        held.append(message)
        if len(held) < 2:
            return
        answer(held.pop())
        message = held.pop()
    answer(message)


def main():
    note("start", *sys.argv[1:])
    if "stubborn" in WAYS:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for line in iter(sys.stdin.readline, ""):
        message = json.loads(line)
        method = message.get("method")
        if method == "initialize":
            note("protocol", message["params"]["protocolVersion"])
            if "mute" not in WAYS:
                send({"id": message["id"], "result": {"protocolVersion": "2025-11-25", "capabilities": {}}})
        elif method == "notifications/initialized":
            if "deaf" in WAYS:
                time.sleep(60)
        elif method == "notifications/cancelled":
            note("cancelled")
        elif method == "ping":
            send({"id": message["id"], "result": {}})
        elif method == "tools/call":
            call(message)
    note("end")
    while "stubborn" in WAYS:
        time.sleep(60)


main()
