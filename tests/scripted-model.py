"""A scripted model of Anthropic's Messages API on loopback: writes app.py in its first turn, and then only says something.
Prints its port, and writes each request to the file that is named.

  tests/scripted-model.py PROJECT REQUESTS
"""

import http.server
import json
import sys

PROJECT, REQUESTS = sys.argv[1:]
PIECE = {"text": "text_delta", "tool_use": "input_json_delta"}


def events(block: dict, delta: dict, reason: str) -> list:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": [], "usage": usage}
    return [
        {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": {"type": PIECE[block["type"]], **delta}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]


class Model(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with open(REQUESTS, "a") as requests:
            print(json.dumps(asked.get("messages")), file=requests)
        if asked.get("tools") and "tool_result" not in json.dumps(asked["messages"]):
            written = {"file_path": f"{PROJECT}/app.py", "content": "print(1)\n"}
            block = {"type": "tool_use", "id": "toolu_1", "name": "Write", "input": {}}
            told = events(block, {"partial_json": json.dumps(written)}, "tool_use")
        else:
            told = events({"type": "text", "text": ""}, {"text": "It is written."}, "end_turn")
        body = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in told).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
    print(server.server_port, flush=True)
    server.serve_forever()
