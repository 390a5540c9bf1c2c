"""A scripted model on loopback that speaks the APIs of Anthropic, OpenAI (Responses), and Google: writes app.py in its first turn,
and then only says something. Prints its port, and writes each request to the file that is named.

  tests/scripted-model.py PROJECT REQUESTS
"""

import http.server
import json
import sys

PROJECT, REQUESTS = sys.argv[1:]
PIECE = {"text": "text_delta", "tool_use": "input_json_delta"}
WRITTEN = {"file_path": f"{PROJECT}/app.py", "content": "print(1)\n"}
SAID = "It is written."


def anthropic(writes: bool) -> list:
    block, delta = {"type": "text", "text": ""}, {"text": SAID}
    if writes:
        block, delta = {"type": "tool_use", "id": "toolu_1", "name": "Write", "input": {}}, {"partial_json": json.dumps(WRITTEN)}
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": [], "usage": usage}
    end = {"stop_reason": "tool_use" if writes else "end_turn", "stop_sequence": None}
    return [
        {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": {"type": PIECE[block["type"]], **delta}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": usage},
        {"type": "message_stop"},
    ]


def openai(writes: bool) -> list:
    item = {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": SAID, "annotations": []}]}
    if writes:
        patch = "*** Begin Patch\n*** Add File: app.py\n+print(1)\n*** End Patch\n"
        item = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "apply_patch", "input": patch}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return [
        {"type": "response.created", "response": {"id": "resp_1"}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "resp_1", "output": [item], "usage": usage}},
    ]


def google(writes: bool) -> list:
    part = {"functionCall": {"name": "write_file", "args": WRITTEN}} if writes else {"text": SAID}
    candidate = {"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return [{"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}]


# What an API has its conversation in, and what shows there that the file was written.
APIS = {"messages": (anthropic, "tool_result"), "input": (openai, "custom_tool_call_output"), "contents": (google, "functionResponse")}


class Model(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        field = next(name for name in APIS if name in asked)
        speak, written = APIS[field]
        with open(REQUESTS, "a") as requests:
            print(json.dumps(asked[field]), file=requests)
        told = speak(bool(asked.get("tools")) and written not in json.dumps(asked[field]))
        lines = ((f"event: {one['type']}\n" if "type" in one else "") + f"data: {json.dumps(one)}\n\n" for one in told)
        body = "".join(lines).encode()
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
