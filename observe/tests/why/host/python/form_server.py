"""Receives forms with Python's http.server, whose accept queue has five places. Storing every 20 forms takes a while.
Cured: 256 places."""

import http.server
import time

import run

waiting = []


class Form(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        waiting.append(self.path)
        self.send_response(200)
        self.send_header("Content-Length", "3")
        self.end_headers()
        self.wfile.write(b"ok\n")
        run.done()
        if len(waiting) >= 20:
            time.sleep(0.15)  # the store answers
            waiting.clear()

    def log_message(self, *_):
        pass


http.server.HTTPServer.request_queue_size = 256 if run.cured else 5
server = http.server.HTTPServer(("127.0.0.1", 0), Form)
server.timeout = 0.1
run.print_line(f"listening {server.server_port}")
run.ready()
while run.going():
    server.handle_request()
run.finish()
