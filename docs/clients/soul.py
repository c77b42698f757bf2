#!/usr/bin/env python3
"""A client of Soul in one file: Python 3.8 and its standard library.

    from soul import Soul
    nova = Soul("http://127.0.0.1:9010", token=None)
    for text in nova.chat("你好", session="s1"):
        print(text, end="", flush=True)

As a program: soul.py chat TEXT | live [TYPES] | say TEXT | alarms [WHEN TEXT], with
SOUL_URL and SOUL_TOKEN in the environment.
"""
import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

ENDS = ("conversation.completed", "conversation.failed", "user.input.required")
CUT = (http.client.HTTPException, OSError)  # a connection that was lost


class SoulError(Exception):
    """An error of the server; retry_after is in seconds, or None."""

    def __init__(self, status, code, text, retry_after=None):
        super().__init__(f"{status} {code}: {text}")
        self.status, self.code, self.retry_after = status, code, retry_after


class Soul:
    def __init__(self, url, token=None, user=None, retries=10):
        self.url, self.token, self.user = url.rstrip("/"), token, user
        self.retries = retries

    # ---- requests ----

    def open(self, method, path, body=None, query=None, accept=None):
        query = {k: v for k, v in (query or {}).items() if v is not None}
        if self.user is not None:
            query["user_id"] = self.user
        url = self.url + path
        if query:
            url += "?" + urllib.parse.urlencode(query)
        headers = {"Accept": accept or "application/json"}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        if body is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(body).encode()
        q = urllib.request.Request(url, body, headers, method=method)
        try:
            return urllib.request.urlopen(q, timeout=90)
        except urllib.error.HTTPError as e:
            with e:
                raise self.error(e) from None

    @staticmethod
    def error(e):
        wait = e.headers.get("Retry-After")
        try:
            m = json.loads(e.read())
        except ValueError:
            m = {}
        return SoulError(e.code, m.get("code", ""), m.get("error", e.reason),
                         float(wait) if wait else None)

    def request(self, method, path, body=None, query=None):
        with self.open(method, path, body, query) as r:
            return json.load(r)

    def events(self, method, path, body=None, query=None):
        """(id, event) of a stream, until it ends or is cut."""
        with self.open(method, path, body, query, "text/event-stream") as r:
            seq, data = None, []
            for line in r:
                line = line.decode().rstrip("\r\n")
                if line.startswith("id:"):
                    seq = line[3:].strip()
                elif line.startswith("data:"):
                    data.append(line[5:].lstrip(" "))
                elif line == "" and data:
                    yield seq, json.loads("\n".join(data))
                    data = []

    # ---- a conversation ----

    def body_of(self, soul=None):
        """The first body that is bound, to that soul if one is named."""
        for t in self.request("GET", "/v1/terminals")["items"]:
            if soul is None or t.get("soul_id") == soul:
                return t["terminal_id"]
        raise SoulError(409, "no_body", "bind a body first")

    def chat(self, text, session="client", terminal=None, soul=None):
        """Pieces of the reply. A connection that is cut is resumed."""
        body = {"session_id": session, "stream": True,
                "terminal_id": terminal or self.body_of(soul),
                "inputs": [{"type": "keyboard_text", "text": text,
                            "input_id": "py-" + uuid.uuid4().hex}]}
        if self.user is not None:
            body["user_id"] = self.user
        if soul is not None:
            body["soul_id"] = soul
        run, last, message, sent = None, None, None, 0
        for attempt in range(self.retries + 1):
            # Before its first event, the same input is a retry of the turn.
            source = self.events("POST", "/v1/chat", body) if run is None else \
                self.events("GET", "/v1/sessions/%s/events" %
                            urllib.parse.quote(session, safe=""),
                            query={"cursor": last})
            try:
                for seq, e in source:
                    run, last = run or e["run_id"], seq or last
                    if e["run_id"] != run:
                        continue
                    d = e["data"]
                    if d.get("message_id", message) != message:
                        message, sent = d["message_id"], 0
                    piece = d.get("text_delta", "")
                    if e["type"] == "assistant.message.final":
                        piece = d["text"][sent:]
                    sent += len(piece)
                    if piece:
                        yield piece
                    if e["type"] == "conversation.failed":
                        raise SoulError(502, d["error"]["code"],
                                        d["error"].get("message", ""))
                    if e["type"] in ENDS:
                        return
            except CUT:
                pass
            time.sleep(min(0.1 * 2 ** attempt, 5))
        raise SoulError(503, "cut", "the connection is lost again and again")

    # ---- the rest ----

    def live(self, types=None, cursor=None):
        """(position, event) as they happen, without end and without gaps."""
        wait = 0.1
        while True:
            try:
                for seq, e in self.events("GET", "/v1/live", query={
                        "types": types, "cursor": cursor}):
                    cursor, wait = seq or cursor, 0.1
                    yield cursor, e
            except CUT:
                pass
            time.sleep(wait)
            wait = min(2 * wait, 10)

    def say(self, text, terminal=None):
        terminal = terminal or self.body_of()
        return self.request("POST", "/v1/terminals/%s/say" %
                            urllib.parse.quote(terminal, safe=""),
                            {"text": text})

    def alarms(self):
        return self.request("GET", "/v1/alarms")["alarms"]

    def set_alarm(self, when, text=""):
        return self.request("POST", "/v1/alarms",
                            {"when": when, "text": text})["alarm"]

    def cancel_alarm(self, alarm_id):
        self.request("DELETE", "/v1/alarms/" +
                     urllib.parse.quote(alarm_id, safe=""))


def main(command, *args):
    soul = Soul(os.environ.get("SOUL_URL", "http://127.0.0.1:9010"),
                os.environ.get("SOUL_TOKEN"))
    if command == "chat":
        for piece in soul.chat(*args):
            print(piece, end="", flush=True)
        print()
    elif command == "live":
        for position, event in soul.live(*args):
            print(position, json.dumps(event, ensure_ascii=False), flush=True)
    elif command == "say":
        print(soul.say(*args)["push_id"])
    elif command == "alarms" and args:
        print(soul.set_alarm(*args)["alarm_id"])
    elif command == "alarms":
        for a in soul.alarms():
            print(a["alarm_id"], a.get("next_at", "-"), a.get("text", ""))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(*(sys.argv[1:] or [""]))
