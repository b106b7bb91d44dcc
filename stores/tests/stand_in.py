"""A stand-in for S3 and for a web server on loopback, which fails on command.

It keeps objects in memory, checks signatures loosely (a key must be there, and be the expected one), and speaks what a
client needs: GET by ranges with If-Match, HEAD, PUT with If-None-Match, copies, lists, multipart uploads, DELETE. A fault
is a function that sees each request before it is answered; `Faults` has the ones that stores show.
"""
import email.utils
import hashlib
import http.server
import re
import socket
import struct
import threading
import time
import urllib.parse
from xml.sax.saxutils import escape

KEY, SECRET = "stand-in-key", "stand-in-secret-c7f1"


class Object:
    def __init__(self, data, tag=None):
        self.data = data
        self.tag = tag or '"%s"' % hashlib.md5(data).hexdigest()
        self.time = time.time()


class Store:
    """Buckets, uploads, and all requests."""

    def __init__(self):
        self.lock = threading.RLock()
        self.objects = {}      # (bucket, key) -> Object
        self.uploads = {}      # id -> (bucket, key, {number: bytes}, begun)
        self.buckets = set()
        self.log = []          # (method, path, query, headers)
        self.fault = None
        self.delay_s = 0.0
        self.bytes_s = None    # bytes a second of each answer
        self.link_bytes_s = None  # bytes a second of all answers together
        self.link_free = 0.0
        self.max_keys = 1000
        self.conditional = True

    def put(self, bucket, key, data, tag=None):
        with self.lock:
            self.buckets.add(bucket)
            self.objects[bucket, key] = Object(data, tag)

    def send(self, count):
        """Waits until the link has sent `count` bytes."""
        with self.lock:
            now = time.monotonic()
            self.link_free = max(self.link_free, now) + count / self.link_bytes_s
            wait = self.link_free - now
        time.sleep(wait)

    def keys(self, bucket, prefix=""):
        with self.lock:
            return sorted(k for b, k in self.objects if b == bucket and k.startswith(prefix))

    def get(self, bucket, key):
        with self.lock:
            return self.objects[bucket, key].data


class Answer(Exception):
    """An answer in place of the usual one."""

    def __init__(self, status, code="", message="", headers=(), body=None):
        super().__init__(code)
        self.status, self.headers = status, dict(headers)
        xml = "<Error><Code>%s</Code><Message>%s</Message></Error>" % (code, message)
        self.body = xml.encode() if body is None else body


class Reset(Exception):
    """The connection is reset; `after`: bytes of the body that go out first."""

    def __init__(self, after=0):
        super().__init__()
        self.after = after


def unframed(body):
    """Returns the data of a body that Amazon's client sends in signed pieces: a line with the size, data, end of line."""
    data = b""
    while body:
        line, _, body = body.partition(b"\r\n")
        count = int(line.split(b";")[0], 16)
        if count == 0:
            break  # Checksums follow.
        data += body[:count]
        body = body[count + 2:]
    return data


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16
    store = None
    is_s3 = True

    def log_message(self, *_):
        pass

    def serve(self):
        store = self.store
        parts = urllib.parse.urlsplit(self.path)
        path = urllib.parse.unquote(parts.path).lstrip("/")
        query = dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else b""
        if "aws-chunked" in self.headers.get("Content-Encoding", ""):
            body = unframed(body)
        with store.lock:
            store.log.append((self.command, path, query, dict(self.headers)))
        if store.delay_s:
            time.sleep(store.delay_s)
        self.cut = None
        try:
            if store.fault:
                store.fault(self, path, query)
            if self.is_s3:
                self.authorize()
                bucket, _, key = path.partition("/")
                self.s3(bucket, key, query, body)
            else:
                self.file(path)
        except Answer as answer:
            self.answer(answer.status, answer.body, answer.headers)
        except Reset:
            self.reset()

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = serve

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.wfile = open("/dev/null", "wb")
        self.connection.close()

    def authorize(self):
        sent = self.headers.get("Authorization", "")
        if sent.startswith("Bearer") and getattr(self.store, "takes_bearers", False):
            return
        if sent and "Credential=%s/" % KEY not in sent:
            raise Answer(403, "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist")
        if not sent and getattr(self.store, "private", True):
            raise Answer(403, "AccessDenied", "Access Denied")

    def answer(self, status, body=b"", headers=()):
        headers = dict(headers)
        self.send_response(status)
        headers.setdefault("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        cut = self.cut
        if cut is not None:
            body = body[:cut]
        rate = self.store.bytes_s
        view = memoryview(body)
        step = 1 << 16 if not rate else max(1, int(rate / 50))
        for start in range(0, len(body), step):
            if self.store.link_bytes_s:
                self.store.send(len(view[start:start + step]))
            self.wfile.write(view[start:start + step])
            if rate:
                self.wfile.flush()
                time.sleep(len(view[start:start + step]) / rate)
        self.wfile.flush()
        if cut is not None:
            self.reset()

    def content(self, item):
        """Answers with an object, or with a range of it."""
        wanted = self.headers.get("If-Match")
        if wanted and wanted != item.tag:
            raise Answer(412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
        headers = {"ETag": item.tag, "Last-Modified": email.utils.formatdate(item.time, usegmt=True),
                   "Accept-Ranges": "bytes"}
        data, span = item.data, re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        if self.command == "HEAD":
            self.answer(200, b"", {**headers, "Content-Length": str(len(data))})
        elif span:
            start = int(span[1])
            end = min(int(span[2]) + 1 if span[2] else len(data), len(data))
            if start >= len(data):
                raise Answer(416, "InvalidRange", "The requested range is not satisfiable",
                             {"Content-Range": "bytes */%d" % len(data)})
            headers["Content-Range"] = "bytes %d-%d/%d" % (start, end - 1, len(data))
            self.answer(206, data[start:end], headers)
        else:
            self.answer(200, data, headers)

    def file(self, path):
        store = self.store
        with store.lock:
            item = store.objects.get(("web", path))
        if item is None:
            raise Answer(404, body=b"no such file")
        self.content(item)

    def s3(self, bucket, key, query, body):
        store, method = self.store, self.command
        if bucket not in store.buckets:
            raise Answer(404, "NoSuchBucket", "The specified bucket does not exist")
        if method == "GET" and not key and "uploads" in query:
            return self.list_uploads(bucket, query)
        if method == "GET" and not key:
            return self.list_objects(bucket, query)
        if method == "POST" and "uploads" in query:
            with store.lock:
                number = "upload-%d" % (len(store.uploads) + len(store.log))
                store.uploads[number] = (bucket, key, {}, time.time())
            return self.answer(200, ("<InitiateMultipartUploadResult><Bucket>%s</Bucket><Key>%s</Key><UploadId>%s"
                                     "</UploadId></InitiateMultipartUploadResult>" % (bucket, escape(key), number)).encode())
        if "uploadId" in query:
            return self.upload(bucket, key, query, body)
        with store.lock:
            item = store.objects.get((bucket, key))
            if method in ("GET", "HEAD") and item is None:
                raise Answer(404, "NoSuchKey", "The specified key does not exist.")
            if method == "PUT":
                if self.headers.get("If-None-Match") == "*" or self.headers.get("x-goog-if-generation-match") == "0":
                    if not store.conditional:
                        raise Answer(501, "NotImplemented", "A header you provided implies functionality")
                    if item is not None:
                        raise Answer(412, "PreconditionFailed", "At least one of the pre-conditions did not hold")
                source = self.headers.get("x-amz-copy-source")
                if source:
                    return self.copy(urllib.parse.unquote(source).lstrip("/"), bucket, key)
                store.put(bucket, key, body)
                return self.answer(200, b"", {"ETag": store.objects[bucket, key].tag})
            if method == "DELETE":
                store.objects.pop((bucket, key), None)
                return self.answer(204)
        self.content(item)

    def copy(self, source, bucket, key):
        item = self.store.objects.get(tuple(source.split("/", 1)))
        if item is None:
            raise Answer(404, "NoSuchKey", "The specified key does not exist.")
        self.store.put(bucket, key, item.data)
        self.answer(200, ("<CopyObjectResult><ETag>%s</ETag><LastModified>%s</LastModified></CopyObjectResult>" % (
            escape(item.tag), time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()))).encode())

    def upload(self, bucket, key, query, body):
        store, number = self.store, query["uploadId"]
        with store.lock:
            if number not in store.uploads or store.uploads[number][:2] != (bucket, key):
                raise Answer(404, "NoSuchUpload", "The specified upload does not exist")
            parts = store.uploads[number][2]
            if self.command == "PUT":
                parts[int(query["partNumber"])] = body
                return self.answer(200, b"", {"ETag": '"%s"' % hashlib.md5(body).hexdigest()})
            if self.command == "DELETE":
                del store.uploads[number]
                return self.answer(204)
            named = [int(n) for n in re.findall(rb"<PartNumber>(\d+)</PartNumber>", body)]
            if sorted(named) != sorted(parts):
                raise Answer(400, "InvalidPart", "One or more of the specified parts could not be found")
            smallest = getattr(store, "part_bytes_min", 5 << 20)
            if any(len(parts[n]) < smallest for n in named[:-1]):
                raise Answer(400, "EntityTooSmall", "Your proposed upload is smaller than the minimum allowed size")
            store.put(bucket, key, b"".join(parts[n] for n in named), '"%s-%d"' % (number, len(named)))
            del store.uploads[number]
        self.answer(200, ("<CompleteMultipartUploadResult><ETag>%s</ETag></CompleteMultipartUploadResult>"
                          % escape(store.objects[bucket, key].tag)).encode())

    def list_uploads(self, bucket, query):
        stamp = lambda t: time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(t))
        with self.store.lock:
            found = [(k, n, t) for n, (b, k, _, t) in self.store.uploads.items()
                     if b == bucket and k.startswith(query.get("prefix", ""))]
        rows = "".join("<Upload><Key>%s</Key><UploadId>%s</UploadId><Initiated>%s</Initiated></Upload>"
                       % (escape(k), n, stamp(t)) for k, n, t in found)
        self.answer(200, ("<ListMultipartUploadsResult>%s</ListMultipartUploadsResult>" % rows).encode())

    def list_objects(self, bucket, query):
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter")
        after = query.get("continuation-token") or query.get("start-after") or ""
        rows, prefixes, count, more = [], [], 0, ""
        for key in self.store.keys(bucket, prefix):
            if after and (key <= after or (delimiter and after.endswith("/") and key.startswith(after))):
                continue
            if count >= self.store.max_keys:
                more = last
                break
            rest = key[len(prefix):]
            if delimiter and delimiter in rest:
                last = prefix + rest.split(delimiter)[0] + delimiter
                if last not in prefixes:
                    prefixes.append(last)
                    count += 1
                continue
            item, last = self.store.objects[bucket, key], key
            count += 1
            stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(item.time))
            rows.append("<Contents><Key>%s</Key><LastModified>%s</LastModified><ETag>%s</ETag><Size>%d</Size></Contents>"
                        % (escape(key), stamp, escape(item.tag), len(item.data)))
        token = "<NextContinuationToken>%s</NextContinuationToken>" % escape(more) if more else ""
        self.answer(200, ("<ListBucketResult><IsTruncated>%s</IsTruncated>%s%s%s</ListBucketResult>" % (
            "true" if more else "false", token, "".join(rows),
            "".join("<CommonPrefixes><Prefix>%s</Prefix></CommonPrefixes>" % escape(p) for p in prefixes))).encode())


class Server:
    """Running stand-in; `address` is its URL."""

    handler = Handler

    def __init__(self, is_s3=True):
        self.store = Store()
        handler = type("Bound", (self.handler,), {"store": self.store, "is_s3": is_s3})
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.http.daemon_threads = True
        self.http.request_queue_size = 256
        self.address = "http://127.0.0.1:%d" % self.http.server_port
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()


class Faults:
    """Faults for `Store.fault`. Each strikes requests that `matches`, the first `times`."""

    def __init__(self, act, times=1, matches=lambda handler, path, query: True, skip=0):
        self.act, self.times, self.matches, self.skip = act, times, matches, skip
        self.struck, self.lock = 0, threading.Lock()

    def __call__(self, handler, path, query):
        with self.lock:
            if not self.matches(handler, path, query):
                return
            if self.skip > 0:
                self.skip -= 1
                return
            if self.struck >= self.times:
                return
            self.struck += 1
        self.act(handler, path, query)


def reads(handler, path, query):
    return handler.command == "GET" and "Range" in handler.headers


def raises(error):
    def act(*_):
        raise error()
    return act


def cut_at(n):
    """Sends n bytes of the body, then resets the connection."""
    def act(handler, *_):
        handler.cut = n
    return act
